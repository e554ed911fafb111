package example

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// compareExample is the example of the compare gate.
func compareExample(t *testing.T) Example {
	t.Helper()
	e, err := Find("compare")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCompareIsTheLesson: the passes of each case are those that the lesson lists, 24 and 29 of 40 in all.
func TestCompareIsTheLesson(t *testing.T) {
	passes := map[string][]int{"old": make([]int, 8), "new": make([]int, 8)}
	lines := strings.Split(strings.TrimSpace(compareExample(t).Files[0].Text), "\n")
	if len(lines) != 81 || lines[0] != "version,case,trial,passed" {
		t.Fatalf("%d lines, the first %q", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		cells := strings.Split(line, ",")
		if cells[3] == "1" {
			passes[cells[0]][cells[1][len("case-")]-'1']++
		}
	}
	want := map[string][]int{"old": {5, 4, 2, 4, 0, 3, 5, 1}, "new": {5, 5, 3, 4, 1, 4, 5, 2}}
	if diff := cmp.Diff(want, passes); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
}

func TestComparePolicy(t *testing.T) {
	var got any
	if err := yaml.Unmarshal([]byte(compareExample(t).Files[1].Text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"baseline": "old", "candidate": "new", "plan": map[string]any{"cases": 8, "trials": 5}, "confidence": 0.95,
		"rules": []any{
			map[string]any{"id": "new-is-better", "metric": "sign_test"},
			map[string]any{"id": "not-much-worse", "metric": "pass_rate_difference", "minimum": -0.05},
			map[string]any{"id": "can-be-relied-on", "metric": "pass_all_k", "k": 5, "minimum": 0.5},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestCompareWorkflow(t *testing.T) {
	var got struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(compareExample(t).Files[2].Text), &got); err != nil {
		t.Fatal(err)
	}
	steps := got.Jobs["compare"].Steps
	if got.Permissions["contents"] != "read" || len(got.Permissions) != 1 || len(steps) != 2 || !strings.HasPrefix(steps[0].Uses, "actions/checkout@") {
		t.Fatalf("permissions %v, steps %v", got.Permissions, steps)
	}
	// The names of the files beside the workflow.
	if diff := cmp.Diff(map[string]any{"gate": "compare", "policy": "policy.yaml", "decisions": "trials.csv"}, steps[1].With); diff != "" {
		t.Errorf("inputs of the action (-want +got):\n%s", diff)
	}
}

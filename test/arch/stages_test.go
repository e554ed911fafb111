package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestStages: what .ci/run does when it is asked for nothing in particular runs on GitHub for every change too, and what a workflow
// asks of it is there.
func TestStages(t *testing.T) {
	run := text(t, ".ci/run")
	_, list, found := strings.Cut(run, "|| stages=(")
	if !found {
		t.Fatal(".ci/run has no list of stages")
	}
	list, _, _ = strings.Cut(list, ")")
	usual, there := strings.Fields(list), functions(run)
	if len(usual) < 10 || len(there) <= len(usual) {
		t.Fatalf("the stages are %q, the functions %q", usual, there)
	}
	asked := map[string][]string{"ci.yml": asksFor(t, "ci.yml"), "nightly.yml": asksFor(t, "nightly.yml")}
	for name, stages := range asked {
		for _, stage := range stages {
			if !slices.Contains(there, stage) {
				t.Errorf("%s runs the stage %s, which .ci/run does not have", name, stage)
			}
		}
	}
	for _, stage := range usual {
		if !slices.Contains(asked["ci.yml"], stage) {
			t.Errorf("ci.yml does not run the stage %s: a release would be made without it", stage)
		}
	}
}

// functions are the names of the functions of a shell script.
func functions(script string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^([a-z_0-9]+)\(\) \{`).FindAllStringSubmatch(script, -1) {
		names = append(names, m[1])
	}
	return names
}

// asksFor lists the stages that a workflow runs, by name in a step or from the job's matrix.
func asksFor(t *testing.T, workflow string) (stages []string) {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Stage []string `yaml:"stage"`
				} `yaml:"matrix"`
			} `yaml:"strategy"`
			Steps []struct {
				Run string `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(text(t, ".github/workflows/"+workflow)), &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			switch names, found := strings.CutPrefix(step.Run, "bash .ci/run "); {
			case found && names == `"$STAGE"`:
				stages = append(stages, job.Strategy.Matrix.Stage...)
			case found:
				stages = append(stages, strings.Fields(names)...)
			}
		}
	}
	if len(stages) < 5 {
		t.Fatalf("%s runs only the stages %q", workflow, stages)
	}
	return stages
}

// TestPromisesCanBeLookedUp: the tests, packages and stages that docs/trust.md names are there.
func TestPromisesCanBeLookedUp(t *testing.T) {
	trust, there := text(t, "docs/trust.md"), functions(text(t, ".ci/run"))
	tests := map[string]bool{}
	for _, folder := range []string{"engine", "internal", "summary", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := os.ReadFile(name)
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(source, -1) {
				tests[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	looked := 0
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(trust, -1) {
		if looked++; !tests[m[1]] {
			t.Errorf("docs/trust.md names %s, and there is no such test", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`((?:engine|internal|summary|test)/[\\w/.]+)`").FindAllStringSubmatch(trust, -1) {
		looked++
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("docs/trust.md names %s: %v", m[1], err)
		}
	}
	for _, m := range regexp.MustCompile("[Ss]tages? `(\\w+)`").FindAllStringSubmatch(trust, -1) {
		if looked++; !slices.Contains(there, m[1]) {
			t.Errorf("docs/trust.md names the stage %s, which .ci/run does not have", m[1])
		}
	}
	if looked < 15 {
		t.Errorf("only %d names were found in docs/trust.md", looked)
	}
}

// text is a file of the repository.
func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

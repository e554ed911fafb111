package fairness

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// TestOracle decides every study of testdata/oracle as the command line does and compares the report, key by key, with what an
// independent program found in the same files. Its README says which keys there are and how exactly each has to agree.
func TestOracle(t *testing.T) {
	folders, err := filepath.Glob("testdata/oracle/[0-9]*")
	if err != nil || len(folders) != 102 { // as the README says
		t.Fatalf("%d studies (%v), want 102", len(folders), err)
	}
	compared := 0
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			c := &comparison{t: t}
			c.study(folder)
			compared += c.compared
		})
	}
	// A rule of two groups alone has 8 numbers, and the studies have 102 × 3 rules or more.
	if !t.Failed() && compared < 102*3*8 {
		t.Errorf("%d values were compared, want thousands", compared)
	}
}

// comparison counts what was compared.
type comparison struct {
	t        *testing.T
	compared int
}

// study runs one folder.
func (c *comparison) study(folder string) {
	c.t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			c.t.Fatal(err)
		}
		return text
	}
	diags := &diag.List{}
	q := compile(run{verb: gate.Decide, declaration: string(read("fairness.yaml"))}, diags)
	in := q.Inputs()[0]
	files := in.Read(in.Paths, rows.Options{FS: os.DirFS(folder)}, diags)
	if err := diags.Err(); err != nil {
		c.t.Fatal(err)
	}
	answer, err := q.Answer(gate.Context{Today: "2026-11-29"})
	if err != nil {
		c.t.Fatal(err)
	}
	out := report.New("1.0.0")
	out.Gates = []report.Gate{answer.Gate}
	out.Decide()
	text, err := out.JSON()
	if err != nil {
		c.t.Fatal(err)
	}
	var got, want object
	for of, text := range map[*object][]byte{&got: text, &want: read("expected.json")} {
		if err := json.Unmarshal(text, of); err != nil {
			c.t.Fatal(err)
		}
	}
	the := got["gates"].([]any)[0].(map[string]any)

	c.equal("", object{"verdict": got["verdict"], "exit_status": got["exit_status"], "rows": float64(files[0].Rows)}, want, 0, "rules", "measures", "expected_calibration_error")
	rules := objects(the["rules"])
	wanted := objects(want["rules"])
	if len(rules) != len(wanted) || len(rules) == 0 {
		c.t.Fatalf("%d rules, want %d", len(rules), len(wanted))
	}
	for i := range rules {
		d, err := q.judge(&q.rules[i])
		if err != nil {
			c.t.Fatal(err)
		}
		c.rule(rules[i], wanted[i], d)
	}

	// Measures stand in the same order; those of calibration are a list of their own there.
	var plain, calibrations []object
	for _, m := range objects(the["measures"]) {
		switch {
		case m["metric"] != calibrationError:
			plain = append(plain, m)
		case m["labels"] != nil: // of the whole file it is not there
			m["expected_if_calibrated"] = m["expected_under_calibration"]
			calibrations = append(calibrations, m)
		}
	}
	c.list("measures", plain, want, "measures", 0)
	c.list("calibration", calibrations, want, "expected_calibration_error", 1e-12)
}

// object is a JSON object.
type object = map[string]any

// objects is a list of objects; nil for none.
func objects(list any) []object {
	var out []object
	if list, ok := list.([]any); ok {
		for _, x := range list {
			out = append(out, x.(object))
		}
	}
	return out
}

// list compares a list of measures with those under key, where the study has them.
func (c *comparison) list(where string, got []object, study object, key string, within float64) {
	c.t.Helper()
	if study[key] == nil {
		return
	}
	want := objects(study[key])
	if len(got) != len(want) {
		c.t.Errorf("%s: %d, want %d", where, len(got), len(want))
		return
	}
	for i := range want {
		c.equal(fmt.Sprintf("%s %v %v", where, want[i]["metric"], want[i]["labels"]), got[i], want[i], within)
	}
}

// rule compares a rule, its groups and its pairs. d is the same rule's decision, for what the report does not have as numbers.
func (c *comparison) rule(got, want object, d *decision) {
	c.t.Helper()
	where := fmt.Sprint("rule ", want["id"])
	within := 0.0 // of ends
	if d.contest.gaps != nil {
		within = 1e-8
	}
	if labels, ok := got["labels"].(object); ok {
		delete(labels, "where")
	}
	got["left_out_of"] = float64(d.cases)
	c.equal(where, got, want, within, "with_left_out", "cells", "pairs")
	c.reason(where, got)

	worst := object{"survives": d.worst.verdict == d.verdict, "verdict": d.worst.verdict.String(), "interval": object{"lower": d.worst.interval.Lower, "upper": d.worst.interval.Upper}}
	switch at, has := want["with_left_out"].(object); {
	case has:
		c.equal(where+" with left out", worst, at, within)
		c.equal(where+" with left out", object{"verdict": got["verdict_with_left_out"]}, object{"verdict": at["verdict"]}, 0)
	case got["verdict_with_left_out"] != nil:
		c.t.Errorf("%s: with left out %v, want none", where, got["verdict_with_left_out"])
	}

	cells, wantCells := objects(got["cells"]), objects(want["cells"])
	if len(cells) != len(wantCells) {
		c.t.Errorf("%s: %d cells, want %d", where, len(cells), len(wantCells))
		return
	}
	for i, cell := range cells {
		cell["recorded"] = float64(d.contest.sides[i].recorded.N)
		c.equal(fmt.Sprint(where, ", ", wantCells[i]["labels"]), cell, wantCells[i], 0)
	}
	pairs, wantPairs := objects(got["pairs"]), objects(want["pairs"])
	if len(pairs) != min(len(wantPairs), mostPairs) {
		c.t.Errorf("%s: %d pairs, want %d", where, len(pairs), len(wantPairs))
	}
	for _, pair := range pairs {
		i := slices.IndexFunc(wantPairs, func(w object) bool { return fmt.Sprint(w["groups"]) == fmt.Sprint(pair["groups"]) })
		if i < 0 {
			c.t.Errorf("%s: a pair %v that is not there", where, pair["groups"])
			continue
		}
		c.equal(fmt.Sprint(where, ", ", pair["groups"]), pair, wantPairs[i], within)
	}
}

// reason checks that the counts of the cases left out are those of the sentence.
func (c *comparison) reason(where string, got object) {
	c.t.Helper()
	n := 0.0
	for _, l := range objects(got["left_out"]) {
		n += l["count"].(float64)
	}
	if of := fmt.Sprintf("%v of %v case", n, got["left_out_of"]); n > 0 && !strings.HasPrefix(got["reason"].(string), of) {
		c.t.Errorf("%s: the reason %q does not begin with %q", where, got["reason"], of)
	}
}

// equal compares the keys of want but those of others: null and [] there are no key in a report. Ends of intervals, and in
// lists of calibration all numbers, agree within a distance; everything else is the same.
func (c *comparison) equal(where string, got, want object, within float64, others ...string) {
	c.t.Helper()
	for key, w := range want {
		if slices.Contains(others, key) {
			continue
		}
		g, has := got[key]
		if list, isList := w.([]any); w == nil || isList && len(list) == 0 {
			c.compared++
			if has && g != nil && fmt.Sprint(g) != "[]" && !isEmptyObject(g) {
				c.t.Errorf("%s, %s: %v, want none", where, key, g)
			}
			continue
		}
		c.value(path.Join(where, key), g, w, within)
	}
}

func isEmptyObject(x any) bool {
	o, ok := x.(object)
	return ok && len(o) == 0
}

// value compares one value.
func (c *comparison) value(where string, got, want any, within float64) {
	c.t.Helper()
	switch want := want.(type) {
	case object:
		if len(want) == 0 && got == nil { // labels of the whole file
			return
		}
		g, ok := got.(object)
		if !ok {
			c.t.Errorf("%s: %v, want %v", where, got, want)
			return
		}
		c.equal(where, g, want, within)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			c.t.Errorf("%s: %v, want %v", where, got, want)
			return
		}
		for i := range want {
			c.value(fmt.Sprintf("%s[%d]", where, i), g[i], want[i], within)
		}
	case float64:
		c.compared++
		g, ok := got.(float64)
		if !ok || g != want && (!tolerant(where) || !(math.Abs(g-want) <= within)) {
			c.t.Errorf("%s: %v, want %v (within %v)", where, got, want, within)
		}
	default:
		c.compared++
		if got != want {
			c.t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

// tolerant reports whether a number need not be the same to the last bit, where a distance is allowed at all: ends of intervals,
// and what is measured of calibration. Counts always are.
func tolerant(where string) bool {
	return slices.Contains([]string{"lower", "upper", "expected_if_calibrated"}, path.Base(where)) || strings.HasPrefix(where, "calibration") && path.Base(where) == "estimate"
}

package compare

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// sliced is a policy whose rules slice by a column.
const sliced = "baseline: old\ncandidate: new\nrules: [{id: s, metric: sign_test}, {id: d, metric: pass_rate_difference, minimum: 0, where: {level: hard}}]"

// tallying compiles a policy for a verb; tallies take the place of files but for the verb tally.
func tallying(verb gate.Verb, text string, diags *diag.List) *question {
	p := policy.Load(policy.Parse("policy.yaml", []byte(text), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
	source := gate.Source{Verb: verb, Section: &p.Sections[0], Settings: p.Sections[0].Settings, NoFiles: true, Tallies: verb != gate.Tally}
	if verb == gate.Tally {
		source.Files = []string{"t"}
	}
	return Gate{}.Compile(source, diags).(*question)
}

// FuzzPart: whatever a tally holds, a part or the result of a query, there are problems of one line each, or an answer.
func FuzzPart(f *testing.F) {
	for _, file := range []string{"version,case,passed,level\nold,a,1,hard\nold,a,0,\nnew,a,1,hard\nnew,b,,easy\n", "version,case,score,level\nold,a,1,hard\nold,a,0.5,\nnew,a,1e-20,hard\n"} {
		diags := &diag.List{}
		q := tallying(gate.Tally, sliced, diags)
		in := q.Inputs()[0]
		rows.Read(in.Paths, rows.Options{Columns: in.Columns, FS: fstest.MapFS{"t": &fstest.MapFile{Data: []byte(file)}}}, func(row rows.Row) { in.Add(row, diags) }, diags)
		counted := q.Counted(diags)
		p := gate.TallyPart{Gate: "compare", Counting: q.Counting(), Inputs: []gate.PartInput{{Path: "t", SHA256: strings.Repeat("0", 64), Bytes: 1, Rows: counted.Rows}}, Counted: counted}
		text, err := p.JSON(report.Tool{Name: "oloproof", Version: "1"})
		if err != nil || diags.Len() > 0 {
			f.Fatal(err, diags.Err())
		}
		f.Add(text)
	}
	f.Add([]byte("tally,section,counting,source,total_rows,n,result,rows_with_trial,distinct_trials,version,case_id,result_text,scores,score_sum,score_least,score_most,where_1\n" +
		"oloproof-tally/1 compare,,d,t,3,2,score,0,0,old,a,,1,0.5,0.5,0.5,hard\noloproof-tally/1 compare,,d,t,3,1,score,0,0,new,a,1e-20,0,,,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		diags := &diag.List{}
		q := tallying(gate.Decide, sliced, diags)
		if gate.IsPart(data) {
			p := gate.ReadPart("p", data, diags)
			if p == nil || q.Counting().Differences(p.Counting) != "" {
				return
			}
			q.AddPart(p, diags)
		} else {
			r := gate.NewResult("p")
			rows.Read([]string{"p"}, rows.Options{Columns: q.ResultColumns(), FS: fstest.MapFS{"p": &fstest.MapFile{Data: data}}}, func(row rows.Row) { q.AddResult(r, row, diags) }, diags)
			r.End(diags)
		}
		if diags.Len() == 0 {
			q.CheckRows(diags)
		}
		if items, _ := diags.Sorted(); len(items) > 0 {
			for _, d := range items {
				if strings.ContainsAny(d.Message, "\n\r\x1b") {
					t.Fatalf("a problem takes several lines: %q", d.Message)
				}
			}
			return
		}
		if _, err := q.Answer(gate.Context{Today: "2026-11-29"}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTooManyTrials: of a case in a version a tally can have so many trials and no more, in one row of a result or in several.
func TestTooManyTrials(t *testing.T) {
	diags := &diag.List{}
	q := tallying(gate.Decide, "rules: [{id: s, metric: sign_test}]", diags)
	for range 2 {
		c := &cell{rows: mostCounted/2 + 1}
		q.tally.addCell("v", "a", c, nil, diag.Pos{File: "p", Line: 3}, diags)
	}
	want := `p:3: with these, case "a" of version "v" has 10000002 trials; at most 10000000 are allowed`
	if err := diags.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

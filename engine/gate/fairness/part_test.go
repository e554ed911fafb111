package fairness

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// FuzzPart: whatever a tally holds, a part or the result of a query, there are problems of one line each, or an answer.
func FuzzPart(f *testing.F) {
	ask := run{verb: gate.Tally, declaration: every, names: []string{"c"}, files: map[string]string{"c": everyHeader + "1,0,1,0.25,p,female,20,north\n2,1,,,q,x,,\n"}}
	diags := &diag.List{}
	q := compile(ask, diags)
	in := q.Inputs()[0]
	rows.Read(in.Paths, rows.Options{Columns: in.Columns, FS: fstest.MapFS{"c": &fstest.MapFile{Data: []byte(ask.files["c"])}}}, func(row rows.Row) { in.Add(row, diags) }, diags)
	p := gate.TallyPart{Gate: "fairness", Counting: q.Counting(), Inputs: []gate.PartInput{{Path: "c", SHA256: strings.Repeat("0", 64), Bytes: 1, Rows: 2}}, Counted: q.Counted(diags)}
	text, err := p.JSON(report.Tool{Name: "oloproof", Version: "1"})
	if err != nil || diags.Len() > 0 {
		f.Fatal(err, diags.Err())
	}
	f.Add(text)
	var header []string
	for _, c := range q.ResultColumns() {
		header = append(header, c.Name)
	}
	f.Add([]byte(strings.Join(header, ",") + "\noloproof-tally/1 fairness,,d,t,2,1,2,2,2,2,0,1,0,0.25,,,female,0,,north\noloproof-tally/1 fairness,,d,t,2,1,2,2,2,2,1,,,,1e-20,,x,,5e1,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		diags := &diag.List{}
		q := compile(run{verb: gate.Decide, declaration: every, names: []string{"c"}}, diags)
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

package gate

import (
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/rows"
)

// ReadAs is an input without files that is read as a policy's settings say: by the files' names of columns, and with its
// texts for what is not recorded.
func ReadAs(s policy.Settings) Input {
	in := Input{Rename: map[string]string{}}
	for _, p := range s.Columns {
		in.Rename[p.Key.Value] = p.Value.Value
	}
	for _, m := range s.MissingValues {
		in.MissingValues = append(in.MissingValues, m.Value)
	}
	return in
}

// CheckColumns reports names under a policy's `columns` that a gate does not read, and two that would be read from one
// column. known are the columns that it reads, those of rules' `where` included; own lists the gate's own for the message.
func CheckColumns(gate, own string, known []rows.Column, renamed []policy.Pair, diags *diag.List) {
	for _, p := range renamed {
		if !slices.ContainsFunc(known, func(c rows.Column) bool { return c.Name == p.Key.Value }) {
			diags.Addf(p.Key.Pos, "columns: %s reads no column %s; its columns are %s and those of a rule's `where`", gate, diag.Quote(p.Key.Value), own)
		}
	}
	distinctColumns(known, renamed, diags)
}

// distinctColumns reports columns that a policy's `columns` would have read from one column of the files: two things
// that are compared would then be equal everywhere.
func distinctColumns(columns []rows.Column, renamed []policy.Pair, diags *diag.List) {
	in := func(c rows.Column) string { // the column's name in the files
		for _, p := range renamed {
			if p.Key.Value == c.Name {
				return p.Value.Value
			}
		}
		return c.Name
	}
	for i, c := range columns {
		for _, d := range columns[:i] {
			if c.Name == d.Name || in(c) != in(d) {
				continue
			}
			for _, p := range renamed {
				if p.Key.Value == c.Name || p.Key.Value == d.Name {
					diags.Addf(p.Value.Pos, "columns: %s and %s would both be read from the column %s; each needs its own", d.Name, c.Name, diag.Quote(in(c)))
					break
				}
			}
		}
	}
}

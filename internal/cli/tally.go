package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// tallyCommand is `tally`, with a command for each gate whose rows can be counted in one place and decided in another.
func (a *app) tallyCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "tally", Short: "Count rows in one place, to be decided in another", Args: noCommand,
		Long: `Count the rows of some files and write what was counted, and nothing of single rows, to a file: a tally. Tallies of a
study's files, each counted where the files are, are decided together with --tally, as if the rows had been read:
every split of the files gives the same report but for its inputs.`,
		Example: tallyExample("fairness"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, g := range kinds.All() {
		if gateTexts[g.Name()].tallied {
			parent.AddCommand(a.tallyOf(g))
		}
	}
	return parent
}

// tallyExample is an example that can be pasted: it counts the gate's example, and decides what was counted.
func tallyExample(name string) string {
	text := gateTexts[name]
	subject, decided := "study/"+text.example, "study/"+text.example
	if text.declaration == "" {
		subject += " --policy study/policy.yaml"
		decided = "--policy study/policy.yaml"
	}
	return fmt.Sprintf("  oloproof init --example %s study\n  oloproof tally %s %s -o part.json\n  oloproof %s gate %s --tally part.json", name, name, subject, name, decided)
}

// tallyOf is `tally` of one gate.
func (a *app) tallyOf(g gate.Gate) *cobra.Command {
	text := gateTexts[g.Name()]
	req := request{verb: gate.Tally, gate: g, declared: text.declaration != ""}
	var output, delimiter string
	use, beside := "FILE…", &req.policy
	if req.declared {
		use, beside = text.declaration+" [FILE…]", &req.beside
	}
	cmd := &cobra.Command{
		Use: g.Name() + " " + use + " -o TALLY", Short: "Count rows of " + g.Name() + ", to be decided by `" + g.Name() + " gate --tally`", Example: tallyExample(g.Name()),
		Long: "Count the rows of some of a study's files, to be decided elsewhere, together with the tallies of the others.\n\n" + talliedText[g.Name()],
		RunE: func(_ *cobra.Command, args []string) error {
			var wrong, absent error
			if output == "" {
				absent = usagef("-o is missing; name the file that the tally goes to, such as -o part.json")
			}
			given := req.take(args, "oloproof tally "+g.Name())
			req.delimiter, wrong = parseDelimiter(delimiter)
			if err := errors.Join(given, absent, wrong); err != nil {
				return err
			}
			return a.count(req, output)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "the `FILE` that the tally goes to")
	req.countingFlags(cmd, beside)
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	text.flags(cmd, &req)
	return cmd
}

// talliedText says for each gate what a tally of it holds.
var talliedText = map[string]string{
	"fairness": `A tally of fairness holds how many cases there are for each label, prediction, group of every declared attribute, value
of the columns that rules slice by (where), and bin of probabilities. Ids, and people where a unit is declared, are
checked within the tally alone.`,
	"compare": `A tally of compare holds, for each version and case, how many trials there are, how many are recorded, and how many
passed or what their scores add up to. The policy says which columns are read and which of them rules slice by (where).
Trials that come twice are looked for within the tally alone.`,
}

// countingFlags adds the flags that say what is counted.
func (req *request) countingFlags(cmd *cobra.Command, beside *string) {
	what := "the policy `FILE` (YAML) that the tally is to be decided by"
	if req.declared {
		what = "a policy `FILE` (YAML) whose settings and rules are added to the declaration's"
	}
	cmd.Flags().StringVar(beside, "policy", "", what)
	cmd.Flags().StringVar(&req.section, "section", "", "of several sections of the gate, the `NAME` of the one that is meant")
}

// counter compiles the one question whose rows are to be counted; nil where it cannot be, which is reported.
func (a *app) counter(req request, diags *diag.List) (*part, gate.Counter) {
	p, beside := a.loadPolicies(req, diags)
	if p != nil && req.section != "" {
		p.Sections = slices.DeleteFunc(slices.Clone(p.Sections), func(s policy.Section) bool { return s.Key == req.gate.Section() && s.Name.Value != req.section })
		if len(p.Of(req.gate.Section())) == 0 {
			diags.Addf(p.Document.Pos(), "the policy has no section %s with the name %s", req.gate.Section(), diag.Quote(req.section))
			return nil, nil
		}
	}
	if p != nil && len(p.Of(req.gate.Section())) > 1 {
		diags.Addf(p.Document.Pos(), "the policy has several sections %s, and a tally is of one: name it with --section", req.gate.Section())
		return nil, nil
	}
	parts := compile(req, p, beside, nil, diags)
	if len(parts) != 1 {
		return nil, nil // which is reported
	}
	c, ok := parts[0].question.(gate.Counter)
	if !ok { // not reached: of the gates that are counted all do
		diags.Add(diag.Diagnostic{Message: req.gate.Name() + " is not counted in parts"})
		return nil, nil
	}
	return &parts[0], c
}

// count carries out `tally`.
func (a *app) count(req request, output string) error {
	place, err := prepare(output)
	if err != nil {
		return usagef("-o: %w", err)
	}
	if isFile(a.stdout.Writer, place) {
		return usagef("-o: standard output goes to %s already; give the tally a path of its own", output)
	}
	diags := &diag.List{}
	part, text, notes := a.counted(req, diags)
	if diags.Len() == 0 && a.wasRead(place) {
		diags.Addf(diag.Pos{File: output}, "the run read this file, and a tally does not take its place")
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	if err := writeWhole(place, text); err != nil {
		return fmt.Errorf("cannot write %s: %s", output, reason(err))
	}
	for _, note := range notes {
		a.tell(a.Stderr, "oloproof: note: "+note.Position.String()+": "+note.Message)
	}
	a.tell(a.Stdout, fmt.Sprintf("Counted %s in %s: %s", countOf(part.Rows, "row"), countOf(len(part.Cells), "cell"), output))
	return nil
}

// counted reads the rows of a request and returns their tally, as it is written too, and what is to be known of the files. What is wrong
// goes to diags.
func (a *app) counted(req request, diags *diag.List) (*gate.TallyPart, []byte, []report.InputFinding) {
	counting, counter := a.counter(req, diags)
	if counting == nil {
		return nil, nil, nil
	}
	out := report.New(a.Version)
	meter, stop := a.progress([]part{*counting}, false)
	a.read(req, counting, out, false, meter, diags)
	stop()
	if diags.Len() > 0 {
		return nil, nil, nil
	}
	tally := &gate.TallyPart{Gate: counting.gate.Name(), Name: counting.name, Counting: counter.Counting(), Counted: counter.Counted(diags)}
	var notes []report.InputFinding
	for i, in := range out.Inputs {
		file := gate.PartInput{Path: in.Path, SHA256: in.SHA256, Bytes: in.Bytes, Rows: in.Rows}
		if counting.contents[i] != in.SHA256 {
			file.Content = counting.contents[i]
		}
		tally.Inputs = append(tally.Inputs, file)
		notes = append(notes, in.Findings...)
	}
	text, err := tally.JSON(out.Tool)
	if err != nil {
		diags.Add(diag.Diagnostic{Message: err.Error() + "; this is a fault in oloproof"})
	}
	return tally, text, notes
}

// tally is a tally that was read, but for its cells.
type tally struct {
	file    report.Input
	part    *gate.TallyPart // as `oloproof tally` writes one; else nil
	result  *gate.Result    // of a query
	claimed bool            // a section takes it
}

// loadTallies reads the tallies of a request; ok is false where there is a problem with one, which goes to diags.
func (a *app) loadTallies(req request, diags *diag.List) (list []*tally, ok bool) {
	if len(req.tallies) == 0 {
		return nil, true
	}
	problems := diags.Len()
	for _, whole := range rows.ReadWhole(req.tallies, rows.Options{FS: req.fs}, gate.MostPart, diags) {
		a.opened = append(a.opened, whole.Path)
		t := &tally{file: report.Input{Path: whole.Path, SHA256: whole.SHA256, Bytes: whole.Bytes, Role: "tally"}}
		before := diags.Len()
		if gate.IsPart(whole.Data) {
			if t.part = gate.ReadPart(whole.Path, whole.Data, diags); t.part != nil {
				t.file.Rows = t.part.Rows
			}
		} else {
			t.result = readResult(whole.Path, req.fs, diags)
			t.file.Rows = t.result.Rows
		}
		if diags.Len() == before {
			list = append(list, t)
		}
	}
	return list, diags.Len() == problems
}

// readResult reads what the result of a query says of itself.
func readResult(path string, fsys fs.FS, diags *diag.List) *gate.Result {
	r := gate.NewResult(path)
	columns := gate.ResultColumns()
	for i := range columns {
		columns[i].Required = false
	}
	none, before := false, diags.Len()
	rows.Read([]string{path}, rows.Options{Columns: columns, FS: fsys}, func(row rows.Row) {
		if _, recorded := row.Text(0); !recorded {
			none = true
		}
		if !none {
			r.Add(row, diags)
		}
	}, diags)
	switch {
	case none:
		diags.Addf(diag.Pos{File: path}, "it is no tally: neither one that `oloproof tally` writes, nor the result of a query of `oloproof sql`, with its header")
	case diags.Len() == before:
		r.End(diags)
	}
	return r
}

// of says which gate and which section a tally is of.
func (t *tally) of() (gate, name string) {
	if t.result != nil {
		return t.result.Gate, t.result.Name
	}
	return t.part.Gate, t.part.Name
}

// sources are what was counted: a digest, or a table's name, of each, and how a person calls it.
func (t *tally) sources() map[string]string {
	if t.result != nil {
		return map[string]string{"table " + t.result.Source: "the table " + diag.Quote(t.result.Source)}
	}
	list := map[string]string{}
	for _, in := range t.part.Inputs {
		list[in.Digest()] = diag.Quote(in.Path)
	}
	return list
}

// talliesOf are the tallies of a section, by its gate and its name.
func talliesOf(list []*tally, g gate.Gate, name string) []*tally {
	var own []*tally
	for _, t := range list {
		if of, section := t.of(); of == g.Name() && section == name {
			t.claimed = true
			own = append(own, t)
		}
	}
	return own
}

// claim reports tallies that belong to no section of the run.
func claim(list []*tally, parts []part, diags *diag.List) {
	for _, t := range list {
		if t.claimed {
			continue
		}
		var sections []string
		for _, p := range parts {
			sections = append(sections, sectionText(p.gate.Name(), p.name))
		}
		has := "and there is no such section"
		if len(sections) > 0 {
			has = "and what is decided is " + strings.Join(sections, ", ")
		}
		diags.Addf(diag.Pos{File: t.file.Path}, "the tally is of %s, %s", sectionText(t.of()), has)
	}
}

// sectionText names a section in a message.
func sectionText(gate, name string) string {
	if name == "" {
		return diag.Printable(gate)
	}
	return diag.Printable(gate) + " " + diag.Quote(name)
}

// absorb reads the tallies of a question in place of its files.
func (p *part) absorb(out *report.Report, fsys fs.FS, several bool, diags *diag.List) {
	counter := p.question.(gate.Counter) // the question of a gate that has tallies
	counting := counter.Counting()
	counted := map[string]string{} // by what was counted: the tally that has it first, and as what
	total := 0
	for _, t := range p.tallies {
		whole := diag.Pos{File: t.file.Path}
		switch {
		case t.result != nil && t.result.Counting != counting.Digest():
			diags.Addf(whole, "it was counted in another way than the policy says: columns, groups, bins or missing_values are others; run the query that `oloproof sql` prints now")
			continue
		case t.result != nil:
		case counting.Differences(t.part.Counting) != "":
			diags.Addf(whole, "it was counted in another way than the policy says: %s; count the rows again", counting.Differences(t.part.Counting))
			continue
		}
		sources := t.sources()
		for _, key := range slices.Sorted(maps.Keys(sources)) {
			if first, again := counted[key]; again {
				diags.Addf(whole, "the rows of %s are counted twice: here, and as %s", sources[key], first)
			}
			counted[key] = sources[key] + " in " + diag.Printable(t.file.Path)
		}
		if total += t.file.Rows; total > gate.MostRows {
			diags.Addf(whole, "with it there are %d rows; at most %d are allowed", total, gate.MostRows)
			return
		}
		if t.result == nil {
			counter.AddPart(t.part, diags)
		} else {
			r := gate.NewResult(t.file.Path)
			rows.Read([]string{t.file.Path}, rows.Options{Columns: counter.ResultColumns(), FS: fsys}, func(row rows.Row) { counter.AddResult(r, row, diags) }, diags)
		}
		file := t.file
		if several {
			file.Gate, file.Name = p.gate.Name(), p.name
		}
		if t.part != nil && t.part.Assumed {
			file.Findings = append(file.Findings, report.InputFinding{Code: "ids_not_checked", Position: whole, Message: gate.IDsAssumed})
		} else if len(p.tallies) > 1 {
			file.Findings = append(file.Findings, report.InputFinding{Code: "ids_checked_within_part", Position: whole,
				Message: "Within this tally alone, rows were checked for coming twice (" + strings.Join(identifying(counting), ", ") + "): one that is also in another tally counts twice."})
		}
		p.inputs = append(p.inputs, len(out.Inputs))
		out.Inputs = append(out.Inputs, file)
	}
}

// identifying lists the columns by which a row that comes twice is known.
func identifying(c gate.Counting) []string {
	var list []string
	for _, column := range c.Columns {
		if slices.Contains([]string{"id", "unit", "trial"}, column.Role) {
			list = append(list, diag.Printable(column.Name))
		}
	}
	return list
}

// Package gate is the contract between the gates and what runs them, and what they share: the choice of
// interval, the verdict of a rule and what would decide it. It imports no gate.
package gate

import (
	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Verb is what is asked of a gate.
type Verb string

// The verbs: Check says what the files can answer, Report gives every measure and decides nothing,
// Decide decides a policy. Tally counts rows that are decided elsewhere: such a question is a Counter, and is not answered.
const (
	Check  Verb = "check"
	Report Verb = "report"
	Decide Verb = "gate"
	Tally  Verb = "tally"
)

// Gate is one kind of question. A gate is stateless.
type Gate interface {
	// Name is the gate's name on the command line and in reports, such as "human-ai".
	Name() string
	// Section is its key in a release file, such as "human_ai".
	Section() string
	// Compile turns a policy's section and the command line into a question. It reports everything that
	// is wrong with them to diags, and returns a question all the same, so that the files can be checked
	// in the same run.
	Compile(source Source, diags *diag.List) Question
}

// Source is where a question comes from.
type Source struct {
	Verb     Verb
	Section  *policy.Section // nil without a policy
	Beside   *policy.Section // what --policy says beside a gate's own declaration, which is then Section; else nil
	Settings policy.Settings // the section's, merged with those of --policy beside it
	Files    []string        // decision files named on the command line, relative to the working directory
	NoFiles  bool            // the policy need not name files: it is only checked, or tallies take their place
	Tallies  bool            // tallies take the place of the files that the policy names
	Flags    Flags
}

// Flags are the command line's settings that gates read; each gate reports those it has no use for.
type Flags struct {
	Design          string // human-ai: crossed or before_after
	Assignment      string // human-ai: the path of an assignment, relative to the working directory
	Baseline        string // compare: a version, or a file where no decision file is named
	Candidate       string // compare: likewise
	Draw            string // anchoring: the path of a draw of blind items, relative to the working directory
	AssumeUniqueIDs bool   // fairness, compare: no row comes twice, which is then not looked at
	ShowUnits       bool   // names of reviewers, annotators and units may be shown
}

// Question is what one gate asks of one study: the files to read, and the answer once they are read. It is
// used once: read every input, then call Answer.
type Question interface {
	// Inputs lists what has to be read, in order.
	Inputs() []Input
	// Rules are the rules that will be decided, in the policy's order; empty but for Decide.
	Rules() []policy.Rule
	// Prospects says, without data, what is known of the rules beforehand: thresholds that cannot be on the
	// wrong side, rules that can never pass or fail at the planned number of units.
	Prospects() []diag.Diagnostic
	// Share makes each rule a member of its family, if it has one. It is called at most once, after Compile and before any other
	// method but Rules.
	Share(families policy.Families)
	// Judge measures a rule of Rules, by its place, and compares it, with its error divided by so many parts; 1 is the rule by
	// itself. The other rules of its family, its waiver and its review are left out, and so is what would decide it, which takes longer
	// than all the rest. It must not be called where Answer must not.
	Judge(rule, parts int) (report.Rule, error)
	// Units is what the interval of a rule of Rules, by its place, rests on. It must not be called where Answer must not.
	Units(rule int) (Units, error)
	// Doubt says why a rule, by its place, is for a person whatever its interval says: earlier looks at its data have broken what the
	// interval rests on. It is called before Judge and Answer, if at all.
	Doubt(rule int, why string)
	// Answer evaluates what was read. It must not be called where reading had errors;
	// an error of its own is a fault of ours, never of the input.
	Answer(context Context) (Answer, error)
}

// IDsAssumed is what a report says where rows were not looked at for coming twice.
const IDsAssumed = "No row of the files comes twice: that was assumed (--assume-unique-ids), and not looked at. A row that is there twice counts twice."

// RowsChecker is a question that can tell only from all rows together that some are wrong, or that they cannot
// answer its rules: a version that is not in the files, say.
type RowsChecker interface {
	// CheckRows reports such problems to diags. It is called once, when every input of the question was read
	// without one, and before Answer.
	CheckRows(diags *diag.List)
}

// Input is a set of files of one kind, read as one.
type Input struct {
	Role          string   // "" for the decisions themselves
	Paths         []string // as given
	Base          string   // the folder that Paths are relative to: "" is the working directory, else the policy's folder
	Columns       []rows.Column
	Rename        map[string]string
	MissingValues []string
	Add           func(rows.Row, *diag.List)
	// Once are texts that no two rows may share.
	Once []rows.Once
	// Count, where it is set, is Add for all rows together: what rows.Count is to do with each column, and what takes its outcome. Where it has
	// none, the rows are read and given to Add.
	Count func() (uses []rows.Use, take func(*rows.Cube))
	// Share, where it is set, is Add on all cores. Each core calls begin once, for a function that counts rows in a tally of its own and returns
	// false where it cannot; end then adds the tallies to what was counted, or returns false, and adds nothing, where they do not go together. In
	// both cases the rows are read and given to Add, which says why.
	Share func() (begin func() func(rows.Row) bool, end func() bool)
}

// Read reads the rows of the input from paths, on all cores where they can be counted so, and tells diags what is wrong with them. Of
// opts the input sets all that depends on it.
func (in *Input) Read(paths []string, opts rows.Options, diags *diag.List) []rows.Input {
	opts.Columns, opts.Rename, opts.MissingValues, opts.Once = in.Columns, in.Rename, in.MissingValues, in.Once
	if in.Count != nil {
		uses, take := in.Count()
		if cube, inputs, ok := rows.Count(paths, opts, uses); ok {
			take(cube)
			return inputs
		}
	}
	if in.Share != nil {
		begin, end := in.Share()
		if inputs, ok := rows.Share(paths, opts, begin); ok && end() {
			return inputs
		}
	}
	return rows.Read(paths, opts, func(r rows.Row) { in.Add(r, diags) }, diags)
}

// Context is what an answer depends on beside the rows.
type Context struct {
	Today  string // YYYY-MM-DD, for waivers
	Digest string // of all inputs of the run, for reviews
	// Held are the rules, by id, that FAIL by themselves and not within their family (Holm): in how many parts their error would
	// have to be divided, and they be FAIL.
	Held map[string]int
}

// Answer is a gate's part of the report, and the places in files of its findings, which stand under the
// report's inputs because they depend on how rows lie in files.
type Answer struct {
	Gate    report.Gate
	Located []Located
}

// Located is one place of a finding.
type Located struct {
	Code string
	Pos  diag.Pos
}

package audit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Study is the rows of one study: for each input of a question, in its order, its rows, each with a text for each column of
// the input, in their order; "" is a value that is not recorded.
type Study [][][]string

// Clone returns a study whose rows can be changed without changing s. Texts that stay the same are shared.
func (s Study) Clone() Study {
	out := make(Study, len(s))
	for i, input := range s {
		out[i] = make([][]string, len(input))
		width := 0
		for _, row := range input {
			width += len(row)
		}
		texts := make([]string, 0, width) // one piece of memory for all rows
		for j, row := range input {
			texts = append(texts, row...)
			out[i][j] = texts[len(texts)-len(row) : len(texts) : len(texts)]
		}
	}
	return out
}

// Setup makes the questions of a run anew, none of their rows read yet, and the families of their rules. It is called once a
// study; what it makes is used by one goroutine, and it must be safe to call from several.
type Setup func() ([]gate.Question, policy.Families, error)

// Policy returns the Setup of one gate's question about a policy without sections, given as the text of a policy file, for studies
// that are drawn: the question has the decisions as its one input, and the assignment or the draw of flags as another. It must
// be a policy that can be used; what is wrong with it is the error.
func Policy(g gate.Gate, text string, flags gate.Flags) (Setup, error) {
	setup := func() ([]gate.Question, policy.Families, error) {
		diags := &diag.List{}
		p := policy.Load(policy.Parse("policy.yaml", []byte(text), diags), []policy.SectionSpec{{Key: g.Section(), Gate: g.Name()}}, g.Section(), "devel")
		if p == nil || len(p.Sections) != 1 {
			return nil, nil, errors.Join(diags.Err(), fmt.Errorf("the policy has no section for %s", g.Name()))
		}
		s := &p.Sections[0]
		q := g.Compile(gate.Source{Verb: gate.Decide, Section: s, Settings: s.Settings, Files: []string{"study.csv"}, Flags: flags}, diags)
		policy.CheckRules(p.Document.Pos(), diags, q.Rules())
		families := policy.NewFamilies(diags, q.Rules())
		q.Share(families)
		return []gate.Question{q}, families, diags.Err()
	}
	_, _, err := setup()
	return setup, err
}

// Columns returns the names of the columns of each input of a question, in the order in which a Study has their texts.
func Columns(q gate.Question) [][]string {
	var list [][]string
	for _, in := range q.Inputs() {
		var names []string
		for _, c := range in.Columns {
			names = append(names, c.Name)
		}
		list = append(list, names)
	}
	return list
}

// Ask hands each study to the question in its place and returns what every rule comes to, by question and rule, as the run
// itself would before its waivers: within their families, without what would decide them. Rows that a question refuses are an error, with
// the first problems.
func (setup Setup) Ask(studies ...Study) ([][]report.Rule, error) {
	questions, families, err := setup.open(studies)
	if err != nil {
		return nil, err
	}
	held, err := gate.HoldBack(families, questions)
	if err != nil {
		return nil, err
	}
	all := make([][]report.Rule, len(questions))
	for i, q := range questions {
		if all[i], err = gate.JudgeAll(q, held); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// AskSome is Ask of some rules of the question in place at, in their order. The other questions are not asked, and their
// studies are read only where a family steps its FAILs down, which may depend on them.
func (setup Setup) AskSome(studies []Study, at int, rules []int) ([]report.Rule, error) {
	questions, _, err := setup()
	if err != nil {
		return nil, err
	}
	stepsDown := slices.ContainsFunc(questions[at].Rules(), func(r policy.Rule) bool {
		return r.Family != nil && r.Family.Adjust == policy.AdjustHolm && r.Family.Rules > 1
	})
	if stepsDown {
		all, err := setup.Ask(studies...)
		if err != nil {
			return nil, err
		}
		list := make([]report.Rule, len(rules))
		for i, rule := range rules {
			list[i] = all[at][rule]
		}
		return list, nil
	}
	// None steps down: each rule comes to what it comes to by itself.
	if err := Read(questions[at], studies[at]); err != nil {
		return nil, err
	}
	list := make([]report.Rule, len(rules))
	for i, rule := range rules {
		if list[i], err = questions[at].Judge(rule, 1); err != nil {
			return nil, fmt.Errorf("rule %d: %w", rule+1, err)
		}
	}
	return list, nil
}

// open makes the questions and hands each its study.
func (setup Setup) open(studies []Study) ([]gate.Question, policy.Families, error) {
	questions, families, err := setup()
	if err != nil {
		return nil, nil, err
	}
	if len(questions) != len(studies) {
		return nil, nil, fmt.Errorf("%d studies for %d questions", len(studies), len(questions))
	}
	for i, q := range questions {
		if err := Read(q, studies[i]); err != nil {
			return nil, nil, err
		}
	}
	return questions, families, nil
}

// Read hands a study's rows to a question that has none yet. Rows that it refuses are the error, with the first problems.
func Read(q gate.Question, s Study) error {
	inputs := q.Inputs()
	if len(inputs) != len(s) {
		return fmt.Errorf("a study with %d inputs for a question with %d", len(s), len(inputs))
	}
	diags := &diag.List{}
	for i, in := range inputs {
		missing := slices.Clone(in.MissingValues)
		for line, row := range s[i] {
			if len(missing) > 0 && slices.ContainsFunc(row, func(text string) bool { return slices.Contains(missing, text) }) {
				row = slices.Clone(row)
				for c := range row {
					if slices.Contains(missing, row[c]) {
						row[c] = ""
					}
				}
			}
			in.Add(rows.Made(row, line+1), diags)
		}
	}
	if checker, ok := q.(gate.RowsChecker); ok && diags.Len() == 0 {
		checker.CheckRows(diags)
	}
	return diags.Err()
}

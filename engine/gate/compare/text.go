package compare

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// data is the counts of what was read, for the report.
func (o *overview) data() report.Data {
	t := o.t
	all := 0
	for _, cells := range t.versions {
		for _, c := range cells {
			all += c.rows
		}
	}
	list := report.Data{{Name: "rows", Count: all}, {Name: "versions", Count: len(t.versions)}}
	if !o.paired() {
		var sum trials
		rows := 0
		for _, name := range o.others {
			c := counted(t.version(name, o.plan))
			sum.n, sum.missing = sum.n+c.n, sum.missing+c.missing
			for _, x := range t.versions[name] {
				rows += x.rows
			}
		}
		return append(list,
			report.Count{Name: "cases", Count: len(t.cases)},
			report.Count{Name: "trials", Count: sum.n},
			report.Count{Name: "missing_trials", Count: sum.missing},
			report.Count{Name: "absent_trials", Count: sum.n - rows},
		)
	}
	var n, rows, missing, only [2]int
	for i := range o.pairs {
		for role, a := range o.pairs[i].sides {
			n[role], rows[role], missing[role] = n[role]+a.n, rows[role]+a.rows, missing[role]+a.missing()
			if a.rows == 0 {
				only[1-role]++
			}
		}
	}
	compared := rows[baseline] + rows[candidate]
	return append(list,
		report.Count{Name: "cases", Count: len(o.pairs)},
		report.Count{Name: "trials", Count: n[baseline] + n[candidate]},
		report.Count{Name: "trials_baseline", Count: n[baseline]},
		report.Count{Name: "trials_candidate", Count: n[candidate]},
		report.Count{Name: "missing_trials", Count: missing[baseline] + missing[candidate]},
		report.Count{Name: "absent_trials", Count: n[baseline] + n[candidate] - compared},
		report.Count{Name: "cases_in_both_versions", Count: len(o.pairs) - only[baseline] - only[candidate]},
		report.Count{Name: "cases_baseline_only", Count: only[baseline]},
		report.Count{Name: "cases_candidate_only", Count: only[candidate]},
		report.Count{Name: "other_rows", Count: all - compared},
	)
}

// summary is one sentence on the data.
func (o *overview) summary() string {
	d := o.data()
	cases := gate.Plural(d.Of("cases"), "case", "cases")
	missing := fmt.Sprintf("%d missing", d.Of("missing_trials"))
	if absent := d.Of("absent_trials"); absent > 0 {
		missing += fmt.Sprintf(" (%d of them without a row)", absent)
	}
	if !o.paired() {
		return fmt.Sprintf("%s: %s, %s, %s, %s.", gate.Plural(len(o.others), "version", "versions"), gate.Quoted(o.others), cases,
			gate.Plural(d.Of("trials"), "trial", "trials"), missing)
	}
	c := trials{}
	for i := range o.pairs {
		if n := o.pairs[i].n(); i == 0 {
			c.least, c.most = n, n
		} else {
			c.least, c.most = min(c.least, n), max(c.most, n)
		}
	}
	each := gate.Plural(c.most, "trial", "trials") + " each"
	if c.least < c.most {
		each = fmt.Sprintf("%d to %d trials each", c.least, c.most)
	}
	what := "Comparison of the candidate with the baseline"
	if o.names != roles {
		what = fmt.Sprintf("Comparison of %s (candidate) with %s (baseline)", diag.Quote(o.names[candidate]), diag.Quote(o.names[baseline]))
	}
	return fmt.Sprintf("%s: %s, %s, %s.", what, cases, each, missing)
}

// assumptions are what the answer rests on and the files cannot show.
func (q *question) assumptions() []string {
	list := []string{"Each trial was run anew, independently of the others: none is a cached answer, and none saw another."}
	const before = "The numbers of cases and of trials were fixed before the first result was seen"
	switch {
	case q.plan == (plan{}):
		list = append(list, before+"; no plan shows that they were.")
	case q.seen.broken != "":
		list = append(list, before+", although the plan was not kept.")
	default:
		list = append(list, before+", as planned, and the run was not repeated.")
	}
	if q.source.Flags.AssumeUniqueIDs {
		list = append(list, gate.IDsAssumed)
	}
	if q.fixed {
		return append(list, "The cases are a fixed list: the trials are the chance, and nothing is said of other cases.")
	}
	return append(list, "The cases stand for those that matter, as if drawn from them at random and independently.")
}

// limits are what trials cannot tell (the source document's own).
func limits() []string {
	return []string{
		"Rerunning until it passes makes anything pass: each rerun is a new chance to be lucky, and no interval adds up over reruns.",
		"A case that passed at least once (pass_at_k) shows what the agent can do, not that it can be relied on: pass_all_k is about that.",
		"The sign test counts which way cases moved, not how far; pass_rate_difference is about how far.",
		"What counts as passed is taken as right; a check that passes wrong answers is not seen here.",
	}
}

//go:build linux

package limits

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMany: a hundred thousand different names of everything that can have a name. They are decided, or are an error that names the limit.
func TestMany(t *testing.T) {
	n := size(100_000, 20_000, 1_000)
	of := func(gate string) study {
		list := studies()
		return list[slices.IndexFunc(list, func(s study) bool { return s.gate == gate })]
	}
	names := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	const per = 11 << 10 // bytes of memory for each name, at most
	for _, c := range []struct {
		gate, what string
		row        func(i int) string // nil: the study's
		policy     string             // "" for the study's
		want       string
	}{
		{gate: "human-ai", what: "reviewers and cases"},
		{gate: "human-ai", what: "reviewers of one case, by person", row: func(i int) string { return fmt.Sprintf("c,r%d,with,yes,yes,no", i) },
			policy: "rules: [{id: a, metric: accuracy_with, minimum: 0.5, per: person}, {id: b, metric: over_reliance, maximum: 0.5, per: person}]\n"},
		{gate: "human-ai", what: "labels", row: func(i int) string { return fmt.Sprintf("c%d,r%d,with,l%d,l%d,l%d", i, i%50, i, i, i) }},
		{gate: "anchoring", what: "items and annotators"},
		{gate: "anchoring", what: "labels", row: func(i int) string { return fmt.Sprintf("i%d,a%d,l%d,l%d,blind", i, i%5, i, i) }},
		{gate: "anchoring", what: "annotators of one item", row: func(i int) string { return fmt.Sprintf("i,a%d,yes,l%d,blind", i, i) }},
		{gate: "compare", what: "cases"},
		{gate: "compare", what: "versions", row: func(i int) string { return fmt.Sprintf("v%d,c,1,1", i) }, want: "old"},
		{gate: "compare", what: "trials of one case", row: func(i int) string { return fmt.Sprintf("%s,c,t%d,1", []string{"old", "new"}[i%2], i) }},
		{gate: "fairness", what: "groups that are not declared", row: func(i int) string { return fmt.Sprintf("p%d,1,0,g%d", i, i) }},
		{gate: "fairness", what: "declared groups", want: map[bool]string{true: "at most 10000 are allowed"}[n > 10_000], row: func(i int) string { return fmt.Sprintf("p%d,1,0,g%d", i, i) },
			policy: "fairness:\n  cases: rows.csv\n  id: id\n  label: label\n  prediction: prediction\n  attributes: {sex: [" + names("g%d,", n) + "]}\n  rules: [{id: a, rate: selection, attribute: sex, max_group_gap: 0.5}]\n"},
		{gate: "fairness", what: "labels", row: func(i int) string { return fmt.Sprintf("p%d,l%d,0,f", i, i) }, want: "label"},
	} {
		if !long && c.gate != "compare" {
			continue
		}
		s := of(c.gate)
		if c.row != nil {
			s.row = c.row
		}
		if c.policy != "" {
			s.policy = c.policy
		}
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(n))
		o := s.decide(t, dir, "rows.csv", nil)
		what := fmt.Sprintf("%s, %d %s", c.gate, n, c.what)
		o.check(t, what, c.want, filepath.Join(dir, "report.json"), 100+n*per>>20)
		o.measured(fmt.Sprintf("%s: %s", c.gate, c.what), fmt.Sprintf("%d", n))
		// In every other format too, from the report alone.
		if info, err := os.Stat(filepath.Join(dir, "report.json")); o.Status != 2 && err == nil {
			args := []string{"render", "report.json"}
			for _, f := range []string{"markdown", "html", "junit", "sarif", "codequality", "openmetrics", "dotenv"} {
				args = append(args, "--format", f+":out."+f)
			}
			want := ""
			if info.Size() > 64<<20 {
				want = "64 MiB"
			}
			call{dir: dir, args: args}.do(t).check(t, what+", rendered", want, "", 300+n*per>>20)
		}
	}
}

// TestManyRules: as many rules as a policy of a megabyte holds.
func TestManyRules(t *testing.T) {
	onlyLong(t)
	for _, s := range studies() {
		rule := map[string]string{
			"human-ai":  "{id: r%d, metric: accuracy_with, minimum: 0.5}",
			"anchoring": "{id: r%d, metric: blind_agreement, minimum: 0.5}",
			"compare":   "{id: r%d, metric: pass_rate_difference, minimum: -0.5}",
			"fairness":  "{id: r%d, rate: selection, attribute: sex, max_group_gap: 0.5}",
		}[s.gate]
		head := s.policy[:strings.Index(s.policy, "rules:")]
		var rules []string
		n := len(head)
		for i := 0; len(rules) < size(1<<20, 2000, 0); i++ {
			r := fmt.Sprintf(rule, i)
			if n += len(r) + 1; n > 1<<20-100 {
				break
			}
			rules = append(rules, r)
		}
		s.policy = head + "rules: [" + strings.Join(rules, ",") + "]\n"
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(100))
		o := s.decide(t, dir, "rows.csv", nil)
		o.check(t, fmt.Sprintf("%s, %d rules", s.gate, len(rules)), "", filepath.Join(dir, "report.json"), 600)
		o.measured(s.gate+": rules", fmt.Sprint(len(rules)))
	}
}

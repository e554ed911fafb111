package summary

import "github.com/oloproof/oloproof/engine/report"

// Lines are a gate's rules and findings in plain sentences, each as long as a line that is shown beside its place in the
// policy: of a rule why it came out as it did, its numbers with the interval and the threshold, and what would decide it.
// They are in the words of a comment, in the gate's order, and tell no count that its MinShown hides. They are not escaped.
func Lines(g *report.Gate) (rules, findings []string) {
	hides := newHiding(g)
	g = hides.gate(g)
	for i := range g.Rules {
		rule := &g.Rules[i]
		text := gateText(rule.Reason)
		if !hides.rule(rule) {
			text += numbersLine(rule)
		}
		if rule.Needs != nil {
			text += " What would decide it: " + sentence(gateText(needs(rule.Needs)))
		}
		if rule.TippingPoint != nil {
			text += " " + gateText(tipping(rule.TippingPoint))
		}
		rules = append(rules, text)
	}
	for _, f := range g.Findings {
		findings = append(findings, gateText(f.Message))
	}
	return rules, findings
}

// Sentence is a sentence of a gate, or on a policy, as a comment has it: cut where it is long, ended, and with the thousands
// of its counts set apart. It is not escaped.
func Sentence(text string) string { return gateText(text) }

// numbersLine says what was measured, what the rule asks for, and the interval that decides between them. It is empty where
// there is no interval: an estimate alone would look like an answer.
func numbersLine(rule *report.Rule) string {
	n := ruleNumbers(rule)
	between := n.Range()
	if between == "" {
		return ""
	}
	between = "interval " + between
	if n.Estimate != "" {
		between = n.Estimate + ", " + between
	}
	return " Measured: " + between + "; must be " + MustBe(rule.Threshold) + "."
}

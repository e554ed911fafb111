package summary

import (
	"encoding/json"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// replaceTexts returns a copy of r with s in the place of every text that may come from data.
func replaceTexts(r *report.Report, s string) *report.Report {
	doc, err := json.Marshal(r)
	if err != nil {
		panic(err) // only in tests: the reports were read from JSON
	}
	c := new(report.Report)
	if err := json.Unmarshal(doc, c); err != nil {
		panic(err)
	}
	measure := func(m *report.Measure) {
		m.MeasuredIn = s
		m.Metric, m.UnitName, m.Conditions, m.Caution, m.Method = s, s, s, s, interval.Method(s)
		m.IntervalsBeside = []report.IntervalBeside{{Method: s, Assumes: s}}
		m.Moved = []report.Moved{{Case: s, Candidate: 1, Missing: 2}}
		m.Labels = map[string]string{"attribute": s, "group": s, s: s}
		m.LeftOut = []report.LeftOut{{Reason: s, Count: 7}}
		if m.Interval != nil {
			m.Interval.Method = interval.Method(s)
		}
	}
	texts := []string{s, s + "2"}
	for i := range c.Errors {
		c.Errors[i].File, c.Errors[i].Message = s, s
	}
	if c.Policy != nil {
		c.Policy.Path, c.Policy.SHA256 = s, s
	}
	c.Tool.Version = s
	if c.Baseline != nil {
		c.Baseline.Path, c.Baseline.SHA256 = s, s
	}
	if c.PolicyBase != nil {
		c.PolicyBase.Path, c.PolicyBase.SHA256 = s, s
	}
	for i := range c.RemovedRules {
		gone := &c.RemovedRules[i]
		gone.Gate, gone.Name, gone.ID = s, s, s
	}
	for i := range c.PolicyChanges {
		c.PolicyChanges[i].Message, c.PolicyChanges[i].Position.File = s, s
	}
	for i := range c.Inputs {
		in := &c.Inputs[i]
		in.Path, in.SHA256, in.Role, in.Gate = s, s, s, s
		for k := range in.Findings {
			f := &in.Findings[k]
			f.Code, f.Position.File = s, s
			if k%2 == 0 {
				f.Message = s
			}
		}
	}
	for i := range c.Gates {
		g := &c.Gates[i]
		g.Gate, g.Name, g.Design, g.Summary = s, s, s, s
		g.Assumptions, g.Limits = texts, texts
		g.Settings = map[string]string{"model": s, "guideline": s, "valid_until": s, "unit": s}
		for k := range g.Data {
			g.Data[k].Name = s
		}
		for k := range g.Measures {
			measure(&g.Measures[k])
		}
		for k := range g.Findings {
			g.Findings[k].Code, g.Findings[k].Message, g.Findings[k].Severity = s, s, report.Severity(s)
		}
		for k := range g.Rules {
			rule := &g.Rules[k]
			measure(&rule.Measure)
			rule.ID, rule.Reason, rule.Assumptions, rule.Position.File = s, s, texts, s
			if rule.Before != nil && rule.Before.Interval != nil {
				rule.Before.Interval.Method = interval.Method(s)
			}
			rule.Needs = &report.Needs{What: s, AtLeast: k}
			rule.Waived = &report.Waived{Until: s, Owner: s, Reason: s, Verdict: report.Fail}
			rule.Reviewed = &report.Reviewed{By: s, On: s, Digest: s, Reason: s, Valid: k%2 == 0}
			for j := range rule.Cells {
				measure(&rule.Cells[j].Measure)
				rule.Cells[j].Reason = s + s
			}
			for j := range rule.Pairs {
				rule.Pairs[j].Groups = [2]string{s, s}
			}
		}
	}
	return c
}

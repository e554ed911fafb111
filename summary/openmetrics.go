package summary

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// OpenMetrics writes the report in the text format OpenMetrics 1.0, all of it gauges, so that what reads the older text format of
// Prometheus reads it too. There are no timestamps: the same report gives the same bytes, and who scrapes or pushes it knows the time.
//
// For the run: oloproof_build_info, oloproof_exit_status, oloproof_problems, oloproof_rules by verdict, and oloproof_verdict, which is 1
// for the verdict that it came to, NO_VERDICT included, and 0 for the others. For each rule, with the labels gate, section (where it
// has a name), rule and metric: its estimate, lower and upper bound, confidence, threshold or p-value, and likewise its verdict. A
// number that does not exist has no sample; a side that is not bounded is -Inf or +Inf. What a gate's MinShown hides is left out.
func OpenMetrics(w io.Writer, r *report.Report, opts Options) error {
	failOn := opts.FailOn
	if failOn == nil {
		failOn = report.DefaultFailOn()
	}
	rules := tell(r)
	m := &metrics{}
	m.family("build_info", "The program that decided, by its version; always 1.")
	m.sample([][2]string{{"version", clip(r.Tool.Version, nameMax)}}, 1)
	m.family("exit_status", "The exit status of the run: 0 PASS or nothing to decide, 1 FAIL, 2 nothing could be decided, 3 INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW; 0 also where fail-on leaves the verdict out.")
	m.sample(nil, float64(r.Status(failOn)))
	m.family("problems", "How many problems kept the run from deciding.")
	m.sample(nil, float64(len(r.Errors)+r.MoreErrors))
	m.family("verdict", "1 for the verdict that the run came to, 0 for the others.")
	m.verdicts(nil, r.Verdict, true)
	if r.Counts != nil {
		m.family("rules", "How many counting rules came to each verdict.")
		for _, v := range report.Verdicts {
			m.sample([][2]string{{"verdict", v.String()}}, float64(r.Counts.Of(v)))
		}
	}
	if len(rules) == 0 {
		return m.write(w)
	}
	m.family("rule_verdict", "1 for the verdict that the rule came to, 0 for the others.")
	for _, t := range rules {
		m.verdicts(t.labels(), t.Verdict, false)
	}
	m.family("rule_counts", "1 for a rule that counts in the verdict of the run, 0 for an advisory one.")
	for _, t := range rules {
		counts := 1.0
		if t.Advisory {
			counts = 0
		}
		m.sample(t.labels(), counts)
	}
	for _, f := range []struct {
		name, help string
		of         func(*report.Rule) *float64
	}{
		{"rule_estimate", "What the rule measured. Compare the bounds with the threshold, not this.", func(r *report.Rule) *float64 {
			if r.Interval == nil { // an estimate without an interval would look like an answer
				return nil
			}
			return finite(r.Estimate)
		}},
		{"rule_lower", "The lower end of the rule's interval.", func(r *report.Rule) *float64 { return endOf(r.Interval, math.Inf(-1)) }},
		{"rule_upper", "The upper end of the rule's interval.", func(r *report.Rule) *float64 { return endOf(r.Interval, math.Inf(1)) }},
		{"rule_confidence", "The confidence of the rule's interval.", func(r *report.Rule) *float64 {
			if r.Interval == nil {
				return nil
			}
			return finite(&r.Interval.Confidence)
		}},
		{"rule_p_value", "The p-value of a rule that is a sign test.", func(r *report.Rule) *float64 { return finite(r.PValue) }},
	} {
		began := false
		for _, t := range rules {
			x := f.of(t.Rule)
			if x == nil || t.hides.rule(t.Rule) {
				continue
			}
			if !began {
				m.family(f.name, f.help)
				began = true
			}
			m.sample(t.labels(), *x)
		}
	}
	began := false
	for _, t := range rules {
		if x := bound(t.Rule); x != nil && finite(x) != nil {
			if !began {
				m.family("rule_threshold", "What the rule's interval is compared with, and how: its kind.")
				began = true
			}
			kind := string(t.Threshold.Kind)
			if t.Threshold.Side != "" {
				kind += "_" + string(t.Threshold.Side)
			}
			m.sample(append(t.labels(), [2]string{"kind", clip(kind, nameMax)}), *x)
		}
	}
	return m.write(w)
}

// endOf is an end of an interval, the infinite one where the side is not bounded; nil where there is no interval.
func endOf(iv *report.Interval, infinite float64) *float64 {
	if iv == nil {
		return nil
	}
	end := iv.Upper
	if infinite < 0 {
		end = iv.Lower
	}
	if end == nil {
		return &infinite
	}
	return finite(end)
}

// labels are what tells a rule's samples from others'. They hold nothing that changes from run to run.
func (t toldRule) labels() [][2]string {
	labels := [][2]string{{"gate", clip(t.gate.Gate, nameMax)}}
	if t.gate.Name != "" {
		labels = append(labels, [2]string{"section", clip(t.gate.Name, nameMax)})
	}
	return append(labels, [2]string{"rule", t.name}, [2]string{"metric", clip(t.Metric, nameMax)})
}

// metrics collects families and their samples.
type metrics struct {
	out  strings.Builder
	name string // of the family
}

// family begins a family of gauges. Its help is our own text.
func (m *metrics) family(name, help string) {
	m.name = "oloproof_" + name
	m.out.WriteString("# HELP " + m.name + " " + help + "\n# TYPE " + m.name + " gauge\n")
}

// sample writes a sample of the family.
func (m *metrics) sample(labels [][2]string, value float64) {
	m.out.WriteString(m.name)
	for i, l := range labels {
		sign := ","
		if i == 0 {
			sign = "{"
		}
		m.out.WriteString(sign + l[0] + `="` + EscapeLabel(l[1]) + `"`)
	}
	if len(labels) > 0 {
		m.out.WriteByte('}')
	}
	text := strconv.FormatFloat(value, 'g', -1, 64)
	m.out.WriteString(" " + text + "\n")
}

// verdicts writes a sample for each verdict, 1 for the one that it is.
func (m *metrics) verdicts(labels [][2]string, is report.Verdict, none bool) {
	all := report.Verdicts
	if none || is == report.NoVerdict {
		all = append([]report.Verdict{report.NoVerdict}, all...)
	}
	for _, v := range all {
		value := 0.0
		if v == is {
			value = 1
		}
		m.sample(append(labels[:len(labels):len(labels)], [2]string{"verdict", v.String()}), value)
	}
}

// write ends the text, as OpenMetrics wants it ended.
func (m *metrics) write(w io.Writer) error {
	m.out.WriteString("# EOF\n")
	_, err := io.WriteString(w, m.out.String())
	return err
}

package compare

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// TestTippingPointsAgainstAllFillings fills the missing trials of small studies in every way: a tipping point is on the safe side of all of
// them, and exact where a case is passed or not as a whole. thresholds are tried over the whole scale, as a minimum and as a maximum.
func TestTippingPointsAgainstAllFillings(t *testing.T) {
	old := []string{"110", "000", "010", "111", "000", "010", "000", "001"}
	next := []string{"1?1", "11?", "?00", "111", "??0", "111", "110", "010"} // of pass_at_k two cases depend on what is missing, of pass_all_k two others
	both := []string{"1?0", "000", "010", "000", "000", "010"}
	fewer := []string{"?11", "111", "11?", "101", "111", "0?1"}
	ones := []string{"1", "1", "?", "1", "1", "0", "1", "?", "1", "1", "?", "1"}
	zeros := strings.Split(strings.Repeat("0", 12), "")
	for _, test := range []struct {
		rule      string
		old, next []string
		low       float64 // of the scale
		exact     bool
		fixed     bool // of a fixed list of cases too
	}{
		{"metric: pass_at_k, k: 3", old, next, 0, true, false},
		{"metric: pass_all_k, k: 3", old, next, 0, true, true},
		{"metric: pass_at_k, k: 2", old, next, 0, false, false},
		{"metric: rate", old, next, 0, false, true},
		{"metric: rate", zeros, ones, 0, true, false},
		{"metric: pass_rate_difference", both, fewer, -1, false, true},
		{"metric: pass_rate_difference, confidence: 0.5", zeros, ones, -1, false, false},
	} {
		for _, list := range []string{"", "case_list: fixed\n"} {
			if list != "" && !test.fixed {
				continue
			}
			ruled := func(threshold string) string {
				return list + "confidence: 0.6\nrules: [{id: r, " + test.rule + ", " + threshold + "}]"
			}
			older, newer := written("old", test.old...), written("new", test.next...)
			// The missing trials in order: those of the old version first.
			body := older + newer
			inOld, missing := strings.Count(older, ",\n"), strings.Count(body, ",\n")
			if missing == 0 || missing > 6 {
				t.Fatalf("%d trials are missing", missing)
			}
			filled := make([]report.Interval, 1<<missing) // bit i: the missing trial i passed
			for set := range filled {
				text := body
				for i := range missing {
					text = strings.Replace(text, ",\n", fmt.Sprintf(",%d\n", set>>i&1), 1)
				}
				filled[set] = *ruleOf(t, decide(t, ruled("minimum: 0.5"), text)).Interval
			}
			tips, exact := 0, 0
			for _, kind := range []report.Kind{report.Minimum, report.Maximum} {
				for step := 1; step < 20; step += 2 {
					at := test.low + (1-test.low)*float64(step)/20
					threshold := report.Threshold{Kind: kind, Value: at}
					firstNot, failFrom := missing+1, missing+1
					for set, iv := range filled {
						good := bits.OnesCount(uint(set)>>inOld) + inOld - bits.OnesCount(uint(set)&(1<<inOld-1))
						if !strings.Contains(test.rule, "difference") { // of the candidate alone
							good = bits.OnesCount(uint(set) >> inOld)
						}
						bad := missing - good
						if kind == report.Maximum {
							bad = good
						}
						v := threshold.Compare(*iv.Lower, *iv.Upper)
						if v != report.Pass {
							firstNot = min(firstNot, bad)
						}
						if v == report.Fail {
							failFrom = min(failFrom, bad)
						}
					}
					rule := ruleOf(t, decide(t, ruled(fmt.Sprintf("%s: %v", kind, at)), body))
					tip := rule.TippingPoint
					name := fmt.Sprintf("%s%s, %s %v", list, test.rule, kind, at)
					if tip == nil {
						if !(firstNot > missing || failFrom == 0 || firstNot == 0 && failFrom > missing) && test.exact {
							t.Errorf("%s: none; passes up to %d, fails from %d of %d", name, firstNot-1, failFrom, missing)
						}
						continue
					}
					tips++
					upTo, from := -1, missing+1
					if tip.PassUpTo != nil {
						upTo = *tip.PassUpTo
					}
					if tip.FailFrom != nil {
						from = *tip.FailFrom
					}
					same := upTo == firstNot-1 && from == failFrom
					if same {
						exact++
					}
					// What the difference rests on is the trials of both versions, and a rate on those of the candidate.
					trials := strings.Count(newer, "\n")
					if strings.Contains(test.rule, "difference") {
						trials += strings.Count(older, "\n")
						if *rule.Missing != missing {
							t.Errorf("%s: %d missing, want %d", name, *rule.Missing, missing)
						}
					}
					if want := fmt.Sprintf("%d trials", trials); tip.Of != want {
						t.Errorf("%s: of %s, want %s", name, tip.Of, want)
					}
					if tip.Missing != missing || upTo >= firstNot || from > failFrom || (test.exact || tip.Alike) && !same {
						t.Errorf("%s: %d missing, up to %d, from %d (alike %t); tried: %d, up to %d, from %d", name, tip.Missing, upTo, from, tip.Alike, missing, firstNot-1, failFrom)
					}
				}
			}
			if tips < 2 || 3*exact < tips {
				t.Errorf("%s%s: %d tipping points, %d exact", list, test.rule, tips, exact)
			}
		}
	}
}

// TestTippingPointOfTheSignTest: what is said of the numbers of missing trials against the candidate, against trying every set of them.
func TestTippingPointOfTheSignTest(t *testing.T) {
	for _, x := range []table{
		{{"00", "00", "00", "01", "01"}, {"1?", "11", "1?", "??", "11"}},   // better or uncertain
		{{"0", "0", "1", "1"}, {"1", "1", "?", "?"}},                       // uncertain whatever they are
		{{"00", "00", "00", "11"}, {"??", "??", "1?", "11"}},               // better, uncertain
		{{"1?", "1?", "1", "1"}, {"??", "0?", "0", "0"}},                   // uncertain or worse
		{{"01", "01", "01"}, {"??", "??", "??"}},                           // all three
		{{"0?", "?1", "0", "111"}, {"1?", "??", "?", "111"}},               // equal ones that join, of both versions
		{{"000", "000", "000", "1", "1"}, {"11?", "1??", "111", "?", "1"}}, // one far from the middle
		{{"00", "11", "11", "11", "11"}, {"11", "1?", "1?", "1?", "1?"}},   // equal ones alone
		{{"0", "0", "0", "0", "000000"}, {"?", "?", "?", "?", "1?????"}},   // some that can be equal, and not worse
	} {
		const confidence = 0.6
		missing, _ := x.missing()
		inOld := len(strings.Join(x[0], ""))
		someNotBetter, someWorse := len(missing)+1, len(missing)+1
		for set := range 1 << len(missing) { // bit i: the missing trial i came out against the candidate
			flat := []byte(x.flat())
			for i, p := range missing {
				flat[p] = '1'
				if (set>>i&1 == 1) == (p >= inOld) {
					flat[p] = '0'
				}
			}
			d, _ := x.with(string(flat)).plain(confidence)
			against := bits.OnesCount(uint(set))
			if d != better {
				someNotBetter = min(someNotBetter, against)
			}
			if d == worse {
				someWorse = min(someWorse, against)
			}
		}
		v := x.view("0.6")
		got, err := v.signed().verdict().tip()
		if err != nil {
			t.Fatal(err)
		}
		want, err := gate.Tip(len(missing), false, fmt.Sprintf("%d trials", len(x.flat())), v.against(),
			func(bad int) (bool, error) { return bad < someNotBetter, nil }, func(bad int) (bool, error) { return bad >= someWorse, nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v, not better from %d on, worse from %d on (-want +got):\n%s", x, someNotBetter, someWorse, diff)
		}
	}
}

package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// TestExceeds: exactly the share is allowed, in the decimal as it is written, and one more is not. 0.1 and 0.3 are not float64s.
func TestExceeds(t *testing.T) {
	for _, test := range []struct {
		share          string
		allowed, total int
	}{{"0.1", 1, 10}, {"0.3", 3, 10}, {"0.07", 7, 100}, {"0", 0, 10}, {"1", 10, 10}, {"0.333", 0, 3}, {"1e-1", 10, 100}} {
		share := policy.Number{Text: test.share}
		if Exceeds(test.allowed, test.total, share) || !Exceeds(test.allowed+1, test.total, share) {
			t.Errorf("%s of %d does not allow %d, or allows one more", test.share, test.total, test.allowed)
		}
	}
	if share := (policy.Number{Value: 0.5}); Exceeds(5, 10, share) || !Exceeds(6, 10, share) { // a default, which is not written
		t.Error("without a text, the value 0.5 is not a half")
	}
}

// TestFewerLeftOut: so many fewer are just enough, for every number that is left out and too many.
func TestFewerLeftOut(t *testing.T) {
	share := policy.Number{Text: "0.1"}
	for total := 1; total <= 45; total++ {
		for left := 1; left <= total; left++ {
			if !Exceeds(left, total, share) {
				continue
			}
			needs := FewerLeftOut(left, total, share, "of them to be counted")
			if rest := left - needs.AtLeast; Exceeds(rest, total, share) || !Exceeds(rest+1, total, share) {
				t.Errorf("%d of %d left out: %d to be counted", left, total, needs.AtLeast)
			}
			if needs.What != "of them to be counted, so that no more than max_left_out (0.1) is left out" {
				t.Fatal(needs.What)
			}
		}
	}
}

// TestRounded: two digits, upward.
func TestRounded(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 10: 10, 99: 99, 100: 100, 101: 110, 110: 110, 111: 120, 991: 1000, 1000: 1000, 1001: 1100, 12345: 13000} {
		if got := Rounded(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestSizing goes through what can decide a rule: more units, recording what is missing, both, or neither. There are 10 units now. sizes
// are how many units decide it as missing, with all that is missing low, and with all high; 0 is none.
func TestSizing(t *testing.T) {
	least := report.Threshold{Kind: report.Minimum, Value: 0.5}
	most := report.Threshold{Kind: report.Maximum, Value: 0.5}
	worst := report.Threshold{Kind: report.WorstGroup, Side: report.Maximum, Value: 0.5}
	const itself = "; or what is missing to be recorded, which may decide it by itself"
	const notItself = "; recording what is missing does not decide it by itself"
	const best = notItself + ", and at best brings that down to about "
	const asMissing = "what is missing to be recorded: with as much of it missing, no number of cases would decide; recorded, it "
	const fail = ", as FAIL at the present values"
	for _, test := range []struct {
		name      string
		threshold report.Threshold
		low, high float64
		sizes     [3]int
		want      string
	}{
		{"nothing missing, on the threshold", least, 0.5, 0.5, [3]int{}, "other data: at the present values no number of cases would decide"},
		{"nothing missing, above", least, 0.6, 0.6, [3]int{25, 25, 25}, "about 15 more cases"},
		{"nothing missing, below", least, 0.4, 0.4, [3]int{25, 25, 25}, "about 15 more cases" + fail},
		{"nothing missing, above a maximum", most, 0.6, 0.6, [3]int{25, 25, 25}, "about 15 more cases" + fail},
		{"nothing missing, below a maximum", most, 0.4, 0.4, [3]int{25, 25, 25}, "about 15 more cases"},
		{"nothing missing, above a group's maximum", worst, 0.6, 0.6, [3]int{25, 25, 25}, "about 15 more cases" + fail},
		{"too near to be told", least, 0.6, 0.6, [3]int{}, "more than 1000000 cases in a new sample, at the present values"},
		{"too near to be told, below", least, 0.4, 0.4, [3]int{}, "more than 1000000 cases in a new sample, at the present values" + fail},
		{"recording may do, high", least, 0.6, 0.8, [3]int{30, 20, 10}, "about 20 more cases" + itself},
		{"recording may do, low, as FAIL", least, 0.2, 0.4, [3]int{30, 10, 20}, "about 20 more cases" + fail + itself},
		{"recording makes it fewer", least, 0.6, 0.8, [3]int{30, 28, 11}, "about 20 more cases" + best + "1"},
		{"recording makes it no fewer", least, 0.6, 0.8, [3]int{30, 30, 30}, "about 20 more cases" + notItself},
		{"recording finds a number where there was none", least, 0.6, 0.8, [3]int{0, 0, 40}, "more than 1000000 cases in a new sample, at the present values" + best + "30"},
		{"recording finds none either", least, 0.6, 0.8, [3]int{}, "more than 1000000 cases in a new sample, at the present values" + notItself},
		{"missing on both sides, recording may do", least, 0.4, 0.7, [3]int{0, 40, 10}, asMissing + "may decide the rule by itself"},
		{"missing on both sides, recording may do, as FAIL", least, 0.4, 0.7, [3]int{0, 10, 40}, asMissing + "may decide the rule by itself"},
		{"missing on both sides, neither end", least, 0.4, 0.7, [3]int{}, asMissing + "does not decide the rule by itself, and no realistic number of cases would"},
		{"missing on both sides, FAIL alone", least, 0.4, 0.7, [3]int{0, 40, 0}, asMissing + "does not decide the rule by itself: it then takes at best about 30 more cases, as FAIL"},
		{"missing on both sides, PASS alone", least, 0.4, 0.7, [3]int{0, 0, 40}, asMissing + "does not decide the rule by itself: it then takes at best about 30 more cases"},
		{"missing on both sides, both", least, 0.4, 0.7, [3]int{0, 50, 40}, asMissing + "does not decide the rule by itself: it then takes at best about 30 more cases (as FAIL at best about 40)"},
		{"missing on both sides of a maximum, both", most, 0.4, 0.7, [3]int{0, 50, 40}, asMissing + "does not decide the rule by itself: it then takes at best about 40 more cases (as FAIL at best about 30)"},
		{"the lower end on the threshold", least, 0.5, 0.7, [3]int{0, 10, 40}, asMissing + "does not decide the rule by itself: it then takes at best about 30 more cases"},
		{"the upper end on the threshold", least, 0.4, 0.5, [3]int{0, 40, 10}, asMissing + "does not decide the rule by itself: it then takes at best about 30 more cases, as FAIL"},
		{"the nearer of two ends that pass", least, 0.6, 0.8, [3]int{90, 60, 30}, "about 80 more cases" + best + "20"},
		{"the nearer of two ends that fail", least, 0.2, 0.4, [3]int{90, 30, 60}, "about 80 more cases" + fail + best + "20"},
	} {
		s := Sizing{Unit: "cases", Now: 10, Low: test.low, High: test.high, Tell: Added(10, "cases", ""),
			Size: func(c Completion) (int, bool) { return test.sizes[c], test.sizes[c] > 0 }}
		if got := Phrase(*s.Needs(test.threshold)); got != test.want {
			t.Errorf("%s:\n%s\nwant %s", test.name, got, test.want)
		}
	}
	s := Sizing{Unit: "cases", Now: 10, Low: 0.6, High: 0.6, Tell: InNewSample("cases", " of one day"), Beside: func() string { return " (beside)" },
		Size: func(Completion) (int, bool) { return 101, true }}
	if got := Phrase(*s.Needs(least)); got != "about 110 cases in a new sample of one day (beside)" {
		t.Error(got)
	}
	s.Size, s.None = func(Completion) (int, bool) { return 0, false }, func(how string) string { return "none" + how }
	if got := Phrase(*s.Needs(most)); got != "none"+fail {
		t.Error(got)
	}
}

// TestPlannedSizing: while planned units are not there yet it is they that are needed, with what the plan can show at the present values.
func TestPlannedSizing(t *testing.T) {
	least := report.Threshold{Kind: report.Minimum, Value: 0.5}
	const begins = "about 5 more cases, as planned; "
	const takes = "at the present values the 20 planned do not decide it: "
	const they = "; with what is missing recorded too, they may"
	for _, test := range []struct {
		name      string
		low, high float64
		sizes     [3]int
		want      string
	}{
		{"on the threshold", 0.5, 0.5, [3]int{}, "at the present values no number of cases would decide"},
		{"missing on both sides", 0.4, 0.6, [3]int{}, "with as much missing as now, no number of cases would decide, so what is missing has to be recorded too"},
		{"missing up to the threshold", 0.4, 0.5, [3]int{}, "with as much missing as now, no number of cases would decide, so what is missing has to be recorded too"},
		{"the plan decides", 0.6, 0.6, [3]int{20, 20, 20}, "at the present values the 20 planned decide it"},
		{"the plan decides, as FAIL", 0.4, 0.4, [3]int{20, 20, 20}, "at the present values the 20 planned decide it, as FAIL at the present values"},
		{"one more than the plan", 0.6, 0.6, [3]int{21, 21, 21}, takes + "it would take about 21 cases in a new sample"},
		{"one more than the plan, as FAIL", 0.4, 0.4, [3]int{21, 21, 21}, takes + "it would take about 21 cases in a new sample, as FAIL at the present values"},
		{"none", 0.6, 0.6, [3]int{}, takes + "no realistic number would"},
		{"recorded too, high", 0.6, 0.8, [3]int{21, 21, 20}, takes + "it would take about 21 cases in a new sample" + they},
		{"recorded too, low", 0.2, 0.4, [3]int{21, 20, 21}, takes + "it would take about 21 cases in a new sample, as FAIL at the present values" + they},
		{"recorded too, not with the plan", 0.6, 0.8, [3]int{23, 22, 21}, takes + "it would take about 23 cases in a new sample"},
	} {
		s := Sizing{Unit: "cases", Now: 15, Low: test.low, High: test.high, Tell: InNewSample("cases", ""),
			Size: func(c Completion) (int, bool) { return test.sizes[c], test.sizes[c] > 0 }}
		if got := Phrase(*s.planned(least, 20, 5)); got != begins+test.want {
			t.Errorf("%s:\n%s\nwant %s", test.name, got, begins+test.want)
		}
	}
}

// TestRateNeeds: the number is one at which the rate's real interval decides, counted as the interval may be looked at.
func TestRateNeeds(t *testing.T) {
	least := report.Threshold{Kind: report.Minimum, Value: 0.5}
	once, again := judging("", 0), judging(policy.LooksRepeated, 0)
	// 13 of 20 are 0.65: by one look and by looks that repeat, the first sizes at which that rate is above a half.
	units, more, err := interval.NeededRate(13, 0, 20, 0.9, false, decides(least))
	if err != nil || more || units <= 20 {
		t.Fatal(units, more, err)
	}
	repeated, more, err := interval.NeededRate(13, 0, 20, 0.9, true, decides(least))
	if err != nil || more || repeated <= units {
		t.Fatal(repeated, more, err)
	}
	want := fmt.Sprintf("about %d decisions in a new sample (with `looks: repeated`, set before collecting, about %d in all)", Rounded(units), Rounded(repeated))
	if got := Phrase(*RateNeeds(13, 0, 20, "decisions", least, once)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	want = fmt.Sprintf("about %d more decisions at the present rate", Rounded(repeated-20))
	if got := Phrase(*RateNeeds(13, 0, 20, "decisions", least, again)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := Phrase(*RateNeeds(0, 0, 0, "decisions", least, once)); got != "recorded decisions" {
		t.Error(got)
	}
	if got := Phrase(*RateNeeds(10, 0, 20, "decisions", least, once)); got != "other data: at the present values no number of decisions would decide" {
		t.Error(got)
	}
	// 9 of 20 are recorded as events and 2 are not recorded: from 0.45 to 0.55.
	if got := Phrase(*RateNeeds(9, 2, 20, "decisions", least, once)); !strings.HasPrefix(got, "what is missing to be recorded: ") {
		t.Error(got)
	}
	// Of 13 to 15 of 20, with all of the missing ones as events and with none: the sizes of rates of which nothing is missing.
	for c, k := range map[Completion]int{AllLow: 13, AllHigh: 15} {
		want, _, err := interval.NeededRate(k, 0, 20, 0.9, false, decides(least))
		if got, found := RateSizing(13, 2, 20, "decisions", least, once).Size(c); err != nil || !found || got != want {
			t.Errorf("%d of 20: %d, %t; want %d, %v", k, got, found, want, err)
		}
	}
	s := RateSizing(9, 2, 20, "decisions", least, once)
	if s.Low != 0.45 || s.High != 0.55 || s.Now != 20 || Repeated(0, false) != "" {
		t.Errorf("%+v", s)
	}
}

// TestComplete: what is missing is taken both ways, low, or high.
func TestComplete(t *testing.T) {
	for c, want := range map[Completion][2]int{AsMissing: {1, 2}, AllLow: {1, 1}, AllHigh: {2, 2}} {
		if low, high := Complete(c, 1, 2); [2]int{low, high} != want {
			t.Errorf("%d: %d and %d", c, low, high)
		}
	}
	if a, b := (Size{52, false}).String(), (Size{1000000, true}).String(); a != "about 52" || b != "more than 1000000" {
		t.Errorf("%s, %s", a, b)
	}
}

// TestMeanNeeds: a mean asks for more units where its interval may be looked at again, and for a new sample, or for what the plan still
// wants, where it may not.
func TestMeanNeeds(t *testing.T) {
	least := report.Threshold{Kind: report.Minimum, Value: 0.4}
	low := []float64{0.25, 0.5, 0.75, 0.5, 0.5, 0.75, 0.25, 0.5} // mean 0.5
	s := MeanSample{Low: low, High: low, Scale: interval.Scale{Lower: 0, Upper: 1}, Enrolled: 8, Unit: "people"}
	once := judging(policy.LooksOnce, 8)
	size := func(j policy.Judging) int {
		n, more, err := interval.Needed(MeanMethod(j), low, low, s.Scale, 0.9, decides(least))
		if err != nil || more || n <= 8 {
			t.Fatal(n, more, err)
		}
		return n
	}
	for _, test := range []struct {
		name   string
		sample func(*MeanSample)
		j      policy.Judging
		want   string
	}{
		{"any looks", func(*MeanSample) {}, judging("", 0), fmt.Sprintf("about %d more people at the present spread", Rounded(size(judging("", 0))-8))},
		{"one look", func(*MeanSample) {}, once, fmt.Sprintf("about %d people in a new sample, planned beforehand", Rounded(size(once)))},
		{"a fixed number", func(s *MeanSample) { s.Fixed = true }, judging("", 0), fmt.Sprintf("about %d people in a new sample, planned beforehand", Rounded(size(judging("", 0))))},
		{"one look, told otherwise", func(s *MeanSample) { s.Anew = "people in a new study" }, once, fmt.Sprintf("about %d people in a new study", Rounded(size(once)))},
		{"a fixed number, told otherwise", func(s *MeanSample) { s.Fixed, s.Anew = true, "people in a new study" }, judging("", 0), fmt.Sprintf("about %d people in a new study", Rounded(size(judging("", 0))))},
		{"any looks, where it would be told otherwise", func(s *MeanSample) { s.Anew = "people in a new study" }, judging("", 0), fmt.Sprintf("about %d more people at the present spread", Rounded(size(judging("", 0))-8))},
		{"one is not there yet", func(s *MeanSample) { s.Enrolled = 7 }, once, fmt.Sprintf("about 1 more people, as planned; at the present values the 8 planned do not decide it: it would take about %d people in a new sample, planned beforehand", Rounded(size(once)))},
		{"nobody", func(s *MeanSample) { s.Low, s.High = nil, nil }, once, "recorded values of people"},
		{"its exact completions", func(s *MeanSample) { s.Completions = &report.Completions{Low: 0.4, High: 0.4} }, judging("", 0), "other data: at the present values no number of people would decide"},
	} {
		sample := s
		test.sample(&sample)
		if got := Phrase(*sample.Needs(least, test.j)); got != test.want {
			t.Errorf("%s:\n%s\nwant %s", test.name, got, test.want)
		}
	}
	// Below the threshold more of the same decides as FAIL. Eight values of mean 0.25.
	below := s
	below.Low = []float64{0.25, 0, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25}
	below.High = below.Low
	strict := report.Threshold{Kind: report.Minimum, Value: 0.3}
	if got := Phrase(*below.Needs(strict, judging("", 0))); !strings.HasSuffix(got, " more people at the present spread, as FAIL at the present values") {
		t.Error(got)
	}
	if size, ok := s.Size(once, decides(least)); !ok || size.More || size.Units != interval8(t, s, once, least) {
		t.Errorf("%+v, %t", size, ok)
	}
	if size, ok := (MeanSample{Scale: s.Scale}).Size(once, decides(least)); ok || size != (Size{}) {
		t.Errorf("of nobody: %+v", size)
	}
}

// interval8 is the size by the search itself.
func interval8(t *testing.T, s MeanSample, j policy.Judging, threshold report.Threshold) int {
	t.Helper()
	n, _, err := interval.Needed(MeanMethod(j), s.Low, s.High, s.Scale, 0.9, decides(threshold))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNeverBetween: a rule can never pass where its best data do not, and never fail where its worst do not; an end on the threshold
// passes and does not fail.
func TestNeverBetween(t *testing.T) {
	of := func(lower, upper float64) interval.Interval { return interval.Interval{Lower: lower, Upper: upper} }
	least := report.Threshold{Kind: report.Minimum, Value: 0.5}
	most := report.Threshold{Kind: report.Maximum, Value: 0.5}
	pass := func(lower, upper string) Never {
		return Never{"pass", ": the interval reaches from " + lower + " to " + upper + " at the most"}
	}
	fail := func(lower, upper string) Never {
		return Never{"fail", ": the interval reaches from " + lower + " to " + upper + " at the most"}
	}
	for _, test := range []struct {
		name        string
		threshold   report.Threshold
		worst, best interval.Interval
		want        []Never
	}{
		{"both can be", least, of(0, 0.4), of(0.5, 1), nil},
		{"never passes", least, of(0, 0.4), of(0.4, 1), []Never{pass("0.400", "1.000")}},
		{"never fails", least, of(0, 0.5), of(0.6, 1), []Never{fail("0.000", "0.500")}},
		{"neither", least, of(0, 0.6), of(0.4, 1), []Never{pass("0.400", "1.000"), fail("0.000", "0.600")}},
		{"both can be, of a maximum", most, of(0, 0.5), of(0.6, 1), nil},
		{"never passes, of a maximum", most, of(0, 0.6), of(0.6, 1), []Never{pass("0.000", "0.600")}},
		{"never fails, of a maximum", most, of(0, 0.4), of(0.5, 1), []Never{fail("0.500", "1.000")}},
	} {
		if diff := cmp.Diff(test.want, NeverBetween(test.threshold, test.worst, test.best)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	// At a plan: the most favourable data are all at one end of the scale.
	scale := interval.Scale{Lower: -1, Upper: 1}
	j := judging(policy.LooksOnce, 5)
	ones := []float64{1, 1, 1, 1, 1}
	best, err := interval.Dirichlet(ones, ones, scale, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	above, at := report.Threshold{Kind: report.Minimum, Value: best.Lower + 0.01}, report.Threshold{Kind: report.Minimum, Value: best.Lower}
	if got := NeverAtPlan(above, scale, j); len(got) != 1 || got[0].What != "pass" {
		t.Errorf("above what can be reached: %+v", got)
	}
	if got := NeverAtPlan(at, scale, j); got != nil {
		t.Errorf("at what can be reached: %+v", got)
	}
}

// TestPairNeeds: of people and cases both, the number told is that of people, with the cases that go with it.
func TestPairNeeds(t *testing.T) {
	// Six people on six cases, whose differences are 0.5 but for one in six.
	cells := make([][]float64, 6)
	for i := range cells {
		cells[i] = []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}
		cells[i][i] = 0
	}
	j := judging("", 0)
	least := report.Threshold{Kind: report.Minimum, Value: 0.25}
	people, cases, more, err := interval.NeededPairs(cells, cells, 0.9, decides(least))
	if err != nil || more || people <= 6 {
		t.Fatal(people, cases, more, err)
	}
	mean := 5.0 / 12
	want := fmt.Sprintf("about %d people and %d cases in a new sample, planned beforehand, at the present spread", Rounded(people), Rounded(cases))
	if got := Phrase(*PairNeeds(cells, cells, report.Completions{Low: mean, High: mean}, least, j)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	near := report.Threshold{Kind: report.Minimum, Value: mean - 1e-9}
	want = fmt.Sprintf("a new sample with more than %d people or cases, whichever are fewer, at the present spread", interval.MostNeededPairs)
	if got := Phrase(*PairNeeds(cells, cells, report.Completions{Low: mean, High: mean}, near, j)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

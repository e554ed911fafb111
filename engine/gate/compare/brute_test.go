package compare

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
)

// TestEstimatorsAgainstSubsets: the estimators are the shares, among all subsets of k of a case's n trials, of those with
// at least one pass and of those with passes only.
func TestEstimatorsAgainstSubsets(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				all, one, every := 0, 0, 0
				for set := range 1 << n { // trials 0 to c−1 passed
					if bits.OnesCount(uint(set)) != k {
						continue
					}
					all++
					passes := bits.OnesCount(uint(set) & (1<<c - 1))
					if passes > 0 {
						one++
					}
					if passes == k {
						every++
					}
				}
				if got, want := newEstimator(passAtK, k).share(c, n), float64(one)/float64(all); got != want {
					t.Errorf("pass_at_%d of %d in %d: %v, want %v", k, c, n, got, want)
				}
				if got, want := newEstimator(passAllK, k).share(c, n), float64(every)/float64(all); got != want {
					t.Errorf("pass_all_%d of %d in %d: %v, want %v", k, c, n, got, want)
				}
			}
		}
	}
}

// TestEstimatorsAtTenThousand: no overflow, and the exact quotient of binomial coefficients to 1e-11, computed as whole
// numbers of thousands of digits.
func TestEstimatorsAtTenThousand(t *testing.T) {
	const n = 10_000
	choose := func(n, k int) *big.Int {
		if k > n {
			return new(big.Int)
		}
		return new(big.Int).Binomial(int64(n), int64(k))
	}
	for _, k := range []int{1, 2, 10, 1024, 5000, 9999, n} {
		whole := choose(n, k)
		for _, c := range []int{0, 1, 2, 5000, 9000, 9990, 9999, n} {
			all, _ := new(big.Rat).SetFrac(choose(c, k), whole).Float64()
			none, _ := new(big.Rat).SetFrac(choose(n-c, k), whole).Float64()
			if got := newEstimator(passAllK, k).share(c, n); math.Abs(got-all) > 1e-11*all {
				t.Errorf("pass_all_%d of %d in %d: %v, want %v", k, c, n, got, all)
			}
			if got := newEstimator(passAtK, k).share(c, n); math.Abs(got-(1-none)) > 1e-11 {
				t.Errorf("pass_at_%d of %d in %d: %v, want %v", k, c, n, got, 1-none)
			}
		}
	}
}

// TestPassKMeansAreExact: the mean over cases is the float64 nearest to the exact mean, not a sum of rounded quotients.
func TestPassKMeansAreExact(t *testing.T) {
	// Of five trials, C(5, 3) = 10 ways to draw three: with 3, 4 and 5 passes 1, 4 and 10 of them have passes only.
	// 14·1 + 2·.4 + 9·.1 = 15.7 over 40 cases.
	cases := slices.Concat(repeat(14, "11111"), repeat(2, "11110"), repeat(9, "01101"), repeat(15, "00011"))
	g := decide(t, "rules: [{id: r, metric: pass_all_k, k: 3, minimum: 0.1}]", written("old", cases...)+written("new", cases...))
	r := ruleOf(t, g)
	if *r.Estimate != 0.3925 || r.Completions.Low != 0.3925 || r.Completions.High != 0.3925 {
		t.Errorf("15.7 of 40: %v (%v to %v), want 0.3925", *r.Estimate, r.Completions.Low, r.Completions.High)
	}
	// One side's passes are the other's failures: pass_at_k is 1 − pass_all_k of the failures, 24.3 of 40.
	mirrored := strings.NewReplacer("1", "0", "0", "1")
	for i, c := range cases {
		cases[i] = mirrored.Replace(c)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: pass_at_k, k: 3, minimum: 0.1}]", written("old", cases...)+written("new", cases...)))
	if *r.Estimate != 0.6075 {
		t.Errorf("24.3 of 40: %v, want 0.6075", *r.Estimate)
	}
	// Cases of different numbers of trials, added up as fractions one by one; a case of more trials than are counted
	// exactly makes no difference beyond rounding.
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		metric := rapid.SampledFrom([]string{passAtK, passAllK}).Draw(t, "metric")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) outcome {
			n := rapid.IntRange(k, 40).Draw(t, "n")
			return outcome{rapid.IntRange(0, n).Draw(t, "c"), n}
		}), 1, 30).Draw(t, "cases")
		of, exact := outcomes{}, new(big.Rat)
		for _, o := range list {
			of[o]++
			share := big.NewRat(1, 1)
			drawn := o.c
			if metric == passAtK {
				drawn = o.n - o.c
			}
			for i := range k { // the chance that each of k draws is among those left of the drawn kind
				share.Mul(share, big.NewRat(int64(max(0, drawn-i)), int64(o.n-i)))
			}
			if metric == passAtK {
				share.Sub(big.NewRat(1, 1), share)
			}
			exact.Add(exact, share)
		}
		want, _ := exact.Quo(exact, big.NewRat(int64(len(list)), 1)).Float64()
		e := newEstimator(metric, k)
		if got := e.mean(of); got != want {
			t.Fatalf("%s, k %d of %v: %v, want %v", metric, k, of, got, want)
		}
		if got := e.nearMean(of); math.Abs(got-want) > 1e-14 {
			t.Fatalf("%s, k %d of %v as float64s: %v, want %v", metric, k, of, got, want)
		}
	})
}

// TestManyTrialsAreNotExact: cases beyond the exact range are taken as float64s, which is as good to the eye, and quick.
func TestManyTrialsAreNotExact(t *testing.T) {
	e := newEstimator(passAllK, 2)
	// (3000·2999 + 4000·3999)/(2·4000·3999), and a case of two passes in two trials.
	got := e.mean(outcomes{{3000, 4000}: 1, {4000, 4000}: 1, {2, 2}: 2})
	want := (3000.*2999/(4000.*3999) + 1 + 2) / 4
	if math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if len(e.choices) != 0 && slices.Max(slices.Collect(maps.Keys(e.choices))) > mostExact {
		t.Errorf("binomial coefficients of %d cases", len(e.choices))
	}
}

// TestListedK: one to ten, powers of two, the last; never more than there are.
func TestListedK(t *testing.T) {
	for _, c := range []struct {
		most int
		want []int
	}{
		{0, nil}, {1, []int{1}}, {5, []int{1, 2, 3, 4, 5}}, {10, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{11, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, {16, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16}},
		{17, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17}}, {100, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 100}},
	} {
		if got := atMost(c.most); !slices.Equal(got, c.want) {
			t.Errorf("up to %d: %v, want %v", c.most, got, c.want)
		}
	}
}

// table is the trials of some cases in both versions, as texts: 1, 0, or ? for a missing one; of one length a case.
type table [2][]string

// view is what the gate makes of the table.
func (x table) view(confidence string) *view {
	v := &view{scheme: scheme{one: big.NewInt(1)}, names: [2]string{"old", "new"}, judging: policy.Judging{}.WithDefaults()}
	v.judging.Confidence.Text = confidence
	fmt.Sscan(confidence, &v.judging.Confidence.Value)
	for i := range x[0] {
		c := pairing{item: fmt.Sprint(i)}
		for role := range x {
			trials := x[role][i]
			c.sides[role] = attempts{n: len(trials), rows: len(trials), recorded: len(trials) - strings.Count(trials, "?"),
				sum: big.NewInt(int64(strings.Count(trials, "1")))}
		}
		v.cases = append(v.cases, c)
	}
	return v
}

// flat is all the table's trials in one text, and back.
func (x table) flat() string { return strings.Join(x[0], "") + strings.Join(x[1], "") }

func (x table) with(flat string) table {
	var y table
	for role := range x {
		for _, trials := range x[role] {
			y[role] = append(y[role], flat[:len(trials)])
			flat = flat[len(trials):]
		}
	}
	return y
}

// completed calls each with every table in which the trials at the given places are recorded, in all ways.
func (x table) completed(places []int, each func(table)) {
	flat := []byte(x.flat())
	for way := range 1 << len(places) {
		for i, p := range places {
			flat[p] = '0' + byte(way>>i&1)
		}
		each(x.with(string(flat)))
	}
}

// missing lists the places of missing trials; the others are recorded.
func (x table) missing() (missing, recorded []int) {
	for i, r := range x.flat() {
		if r == '?' {
			missing = append(missing, i)
		} else {
			recorded = append(recorded, i)
		}
	}
	return missing, recorded
}

// plain is the sign test of a table without missing trials: counted from its texts, not by the gate.
func (x table) plain(confidence float64) (direction, float64) {
	up, down := 0, 0
	for i := range x[0] {
		switch b, c := strings.Count(x[0][i], "1"), strings.Count(x[1][i], "1"); {
		case c > b:
			up++
		case c < b:
			down++
		}
	}
	p := interval.SignTest(up, down)
	switch {
	case p >= 1-confidence || up == down:
		return uncertain, p
	case up > down:
		return better, p
	}
	return worse, p
}

// tables draws small tables with missing trials.
func tables(mostCases, mostTrials int) *rapid.Generator[table] {
	return rapid.Custom(func(t *rapid.T) table {
		var x table
		// Some tables move one way, or a verdict would be rare.
		drift := rapid.IntRange(0, 2).Draw(t, "drift")
		letters := [3][2]string{{"01?", "01?"}, {"0001?", "1110?"}, {"00000?", "11111?"}}[drift]
		for range rapid.IntRange(1, mostCases).Draw(t, "cases") {
			n := rapid.IntRange(1, mostTrials).Draw(t, "trials")
			for role := range x {
				x[role] = append(x[role], rapid.StringOfN(rapid.SampledFrom([]rune(letters[role])), n, n, -1).Draw(t, roles[role]))
			}
		}
		if rapid.Bool().Draw(t, "swap") {
			x[0], x[1] = x[1], x[0]
		}
		return x
	})
}

// TestSignsAgainstAllCompletions: the verdict is one that every way to complete the missing trials shows, and the p-value
// is the largest over all of them.
func TestSignsAgainstAllCompletions(t *testing.T) {
	check := func(t rapid.TB, x table) direction {
		missing, _ := x.missing()
		if len(missing) > 12 {
			t.Skip("too many completions")
		}
		const confidence = 0.7 // so that three cases can decide
		want, largest, first := uncertain, 0.0, true
		least, most := math.Inf(1), math.Inf(-1)
		x.completed(missing, func(y table) {
			d, p := y.plain(confidence)
			largest = max(largest, p)
			if !first && d != want {
				d = uncertain
			}
			want, first = d, false
			mean := new(big.Rat)
			for i := range y[0] {
				mean.Add(mean, big.NewRat(int64(strings.Count(y[1][i], "1")-strings.Count(y[0][i], "1")), int64(len(y[0][i]))))
			}
			exact, _ := mean.Quo(mean, big.NewRat(int64(len(y[0])), 1)).Float64()
			least, most = min(least, exact), max(most, exact)
		})
		v := x.view("0.7")
		m := v.signTest()
		if m.sign.direction != want || *m.PValue != largest {
			t.Fatalf("%v: %s, p %v; over all completions %s, p %v", x, m.sign.direction, *m.PValue, want, largest)
		}
		d, err := v.difference()
		if err != nil {
			t.Fatal(err)
		}
		if d.Completions.Low != least || d.Completions.High != most {
			t.Fatalf("%v: difference %v to %v, over all completions %v to %v", x, d.Completions.Low, d.Completions.High, least, most)
		}
		return want
	}
	rapid.Check(t, func(t *rapid.T) { check(t, tables(7, 3).Draw(t, "table")) })
	for want, x := range map[direction]table{
		better:    {{"00", "00", "00"}, {"11", "1?", "11"}},
		worse:     {{"11", "1?", "11"}, {"00", "00", "00"}},
		uncertain: {{"00", "00", "00"}, {"11", "1?", "??"}},
	} {
		if got := check(t, x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

// TestFlipsAgainstAllChoices: the number of recorded trials that, had they been missing, could leave a decided test uncertain, against
// trying every set of them.
func TestFlipsAgainstAllChoices(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	decided := 0
	for range 400 {
		var x table
		for side := range x {
			for range 3 + draw.IntN(2) {
				x[side] = append(x[side], string([]byte{"01?"[min(2, draw.IntN(9)/4)], "01?"[min(2, draw.IntN(9)/4)]}))
			}
		}
		n := min(len(x[0]), len(x[1]))
		x[0], x[1] = x[0][:n], x[1][:n]
		_, recorded := x.missing()
		v := x.view("0.7").signed().verdict()
		if v.direction == uncertain || len(recorded) > 14 {
			continue
		}
		decided++
		least := math.MaxInt
		for set := range 1 << len(recorded) {
			size := bits.OnesCount(uint(set))
			if size >= least {
				continue
			}
			flat := []byte(x.flat())
			for i, p := range recorded {
				if set>>i&1 == 1 {
					flat[p] = '?'
				}
			}
			if x.with(string(flat)).view("0.7").signed().verdict().direction == uncertain {
				least = size
			}
		}
		if !v.flip.found || v.flip.trials != least {
			t.Fatalf("%v, %s: %+v, by trying every choice %d", x, v.direction, v.flip, least)
		}
	}
	if decided == 0 {
		t.Error("no table of this seed is decided")
	}
	t.Logf("%d decided", decided)
}

// TestFewestAgainstAllChoices: cases at any distance from the middle, against trying every choice of cases.
func TestFewestAgainstAllChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, 6).Draw(t, "trials"), rapid.Bool().Draw(t, "spare")}
		}), 0, 6).Draw(t, "steps")
		between := rapid.IntRange(0, 4).Draw(t, "between")
		a, b, wanted := rapid.IntRange(0, 3).Draw(t, "left counts"), rapid.IntRange(0, 3).Draw(t, "joined counts"), rapid.IntRange(1, 20).Draw(t, "wanted")
		done := func(left, joined int) bool { return a*left+b*joined >= wanted }
		least := fewestByTrial(steps, between, done)
		got, found := fewest(steps, between, done)
		if found != (least < math.MaxInt) || found && got != least {
			t.Fatalf("%+v, %d between: %d, %t; by trying every choice %d", steps, between, got, found, least)
		}
	})
}

// fewestByTrial is the least number of trials by trying every choice of cases, math.MaxInt where none does.
func fewestByTrial(steps []step, between int, done func(left, joined int) bool) int {
	least := math.MaxInt
	choices := 1
	for range steps {
		choices *= 3 // a case stays, leaves, or crosses
	}
	for choice := range choices {
		trials, left, joined, possible := 0, 0, 0, true
		for _, s := range steps {
			switch choice % 3 {
			case 1:
				trials, left = trials+s.trials, left+1
			case 2:
				trials, left, joined = trials+s.trials+1, left+1, joined+1
				possible = possible && s.spare
			}
			choice /= 3
		}
		for extra := 0; extra <= between && possible; extra++ {
			if done(left, joined+extra) {
				least = min(least, trials+extra)
			}
		}
	}
	return least
}

// TestFewestOfAllShortLists: the same for every list of up to four cases that are 0, 1, 2 or 5 trials from the middle.
func TestFewestOfAllShortLists(t *testing.T) {
	var kinds []step
	for _, trials := range []int{0, 1, 2, 5} {
		kinds = append(kinds, step{trials, false}, step{trials, true})
	}
	// How much a case that left counts, and one that joined; and how much is wanted of both.
	weights := [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, 2}}
	var check func(steps []step, from int)
	check = func(steps []step, from int) {
		for between := range 2 {
			for _, w := range weights {
				for wanted := 1; wanted <= 5; wanted++ {
					done := func(left, joined int) bool { return w[0]*left+w[1]*joined >= wanted }
					least := fewestByTrial(steps, between, done)
					got, found := fewest(steps, between, done)
					if found != (least < math.MaxInt) || found && got != least {
						t.Fatalf("%+v, %d between, %v to reach %d: %d, %t; by trying every choice %d", steps, between, w, wanted, got, found, least)
					}
				}
			}
		}
		for i := from; i < len(kinds) && len(steps) < 4; i++ {
			check(append(slices.Clone(steps), kinds[i]), i)
		}
	}
	check(nil, 0)
}

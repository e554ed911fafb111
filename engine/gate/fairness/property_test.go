package fairness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// every is a declaration that uses all that a tally keeps.
const every = `missing_values: [NA]
probability: score
unit: person
attributes: {sex: [female, male], age: {bins: [30, 60]}}
intersections: [[sex, age]]
min_cell: 3
calibration_bins: 3
max_left_out: 0.5
rules:
  - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.6}
  - {id: direct, rate: error, attribute: [age, sex], max_group_gap: 0.9, interval: pairwise}
  - {id: ratio, rate: selection, attribute: age, min_group_ratio: 0.1, confidence: 0.6}
  - {id: worst, rate: precision, attribute: sex, worst_group: {minimum: 0.2}, where: {region: north, age: 30_to_60}}
  - {id: many, rate: accuracy, attribute: sex, max_group_gap: 0.8, looks: repeated}
`

const everyHeader = "id,label,prediction,score,person,sex,age,region\n"

// drawRows draws rows of a file for every, without its header.
func drawRows(t *rapid.T, most int) []string {
	n := rapid.IntRange(1, most).Draw(t, "rows")
	var list []string
	for i := range n {
		from := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
		list = append(list, fmt.Sprintf("%d,%s,%s,%s,p%d,%s,%s,%s", i, from("label", "0", "1", "1", ""), from("prediction", "0", "1", "", "true"),
			from("score", "0", "0.1", "0.333333333333333333", "0.3333333333333333333", "1", "0.25", ""), i,
			from("sex", "female", "male", "Female", "x", "", "NA"), from("age", "20", "29.9999999999999999999", "30", "60", "1e2", ""), from("region", "north", "south", "")))
	}
	return list
}

// answer is the gate's part of the report of tallies of the parts, merged, as JSON.
func answer(t rapid.TB, parts [][]string) string {
	diags := &diag.List{}
	q := compile(run{verb: gate.Decide, declaration: every, names: []string{"c.csv"}}, diags)
	in := q.Inputs()[0]
	for i, part := range parts {
		tally := newTally(q.tally.plan)
		name := fmt.Sprintf("%d.csv", i)
		rows.Read([]string{name}, rows.Options{Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues, FS: fstest.MapFS{name: &fstest.MapFile{Data: []byte(everyHeader + strings.Join(part, "\n"))}}},
			func(r rows.Row) { tally.Add(r, diags) }, diags)
		q.tally.Merge(tally)
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	a, err := q.Answer(gate.Context{Today: "2026-11-29"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a.Gate)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnyOrderAndSplit: any order of the rows, and any split into tallies merged in any order, give the same bytes.
func TestAnyOrderAndSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRows(t, 40)
		want := answer(t, [][]string{list})
		shuffled := rapid.Permutation(list).Draw(t, "order")
		var parts [][]string
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "part")
			parts = append(parts, shuffled[:n])
			shuffled = shuffled[n:]
		}
		if got := answer(t, parts); got != want {
			t.Fatalf("%d parts:\n%s\nat once:\n%s", len(parts), got, want)
		}
	})
}

// TestMergeAdds: two tallies that each hold one of everything, as one does.
func TestMergeAdds(t *testing.T) {
	// The third row has no score, the fourth more decimals than are kept, the fifth a sex and the sixth an age that cannot be told.
	rows := func(from int) (list []string) {
		for i, row := range []string{"1,1,0.25,p%d,female,20,north", "0,1,0.5,p%d,male,40,north", "1,0,,p%d,female,70,south", "1,1,0.3333333333333333333,p%d,male,30,", "0,0,0.1,p%d,x,30,north", ",1,0.1,p%d,male,,north"} {
			list = append(list, fmt.Sprintf("%d,"+row, from+i, from+i))
		}
		return list
	}
	a, b := rows(0), rows(100)
	whole := answer(t, [][]string{append(slices.Clone(a), b...)})
	for _, parts := range [][][]string{{a, b}, {b, a}, {a[:3], b, a[3:]}} {
		if got := answer(t, parts); got != whole {
			t.Errorf("%d parts:\n%s\nat once:\n%s", len(parts), got, whole)
		}
	}
	// Two of the scores are rounded, and two cases have none.
	for _, want := range []string{`2 probabilities`, `"missing_probabilities":2`} {
		if !strings.Contains(whole, want) {
			t.Errorf("lacks %s:\n%s", want, whole)
		}
	}
}

// TestDuplicatesAcrossFiles: two files that hold one id or one person, read in either order, report the later place.
func TestDuplicatesAcrossFiles(t *testing.T) {
	files := map[string]string{"a.csv": "id,label,prediction,person,sex\n1,1,1,p,male\n2,1,1,q,male\n", "b.csv": "id,label,prediction,person,sex\n3,1,1,q,male\n\n1,1,1,r,male\n"}
	want := "b.csv:2: the same person as at a.csv:3; one person has several cases, and the intervals hold for cases of different people only\n" +
		`b.csv:4: id "1" is the one of the case at a.csv:2 too; each case has its own`
	for _, order := range [][]string{{"a.csv", "b.csv"}, {"b.csv", "a.csv"}} {
		_, err := tryRun(run{verb: gate.Decide, declaration: "unit: person\n" + bySex("rate: error, max_group_gap: 0.1"), names: order, files: files})
		if err == nil || err.Error() != want {
			t.Errorf("%v: got %v\nwant %s", order, err, want)
		}
	}
}

// TestCountedAsAdded: rows of any kind, in any number of files, give the same report and the same tally whether they are counted on all cores or
// added one by one, sound or not; and sound ones are counted.
func TestCountedAsAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRows(t, 40)
		at := rapid.IntRange(0, len(list)).Draw(t, "split")
		files := map[string]string{"a": everyHeader + strings.Join(list[:at], "\n")}
		names := []string{"a"}
		if at == 0 || at < len(list) && rapid.Bool().Draw(t, "both") {
			files["b"], names = everyHeader+strings.Join(list[at:], "\n"), append(names, "b")
		}
		if at == 0 {
			names = names[1:]
		}
		ask := run{verb: gate.Decide, declaration: every, names: names, files: files}
		if _, err := tryRun(ask); err != nil {
			t.Fatal(err)
		}
		ask.verb = gate.Tally
		var parts []string
		for _, count := range []bool{true, false} {
			diags := &diag.List{}
			q := compile(ask, diags)
			fsys := fstest.MapFS{}
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			in := q.Inputs()[0]
			if !count {
				in.Count = nil
			} else if uses, _ := in.Count(); true {
				if _, _, ok := rows.Count(names, rows.Options{Columns: in.Columns, MissingValues: in.MissingValues, Once: in.Once, FS: fsys}, uses); !ok {
					t.Fatal("sound rows were not counted")
				}
			}
			in.Read(names, rows.Options{FS: fsys}, diags)
			text, err := json.Marshal(q.Counted(diags))
			if err != nil || diags.Len() > 0 {
				t.Fatal(err, diags.Err())
			}
			parts = append(parts, string(text))
		}
		if parts[0] != parts[1] {
			t.Fatalf("counted:\n%s\nadded:\n%s", parts[0], parts[1])
		}
	})
}

// TestTwoColumnsOfAKind: of two attributes, and of two columns that rules slice by, each is read from its own column, whether rows are counted
// on all cores or added one by one (tryRun does both), and in a tally.
func TestTwoColumnsOfAKind(t *testing.T) {
	const declaration = `attributes: {sex: [f, m], site: [a, b]}
min_cell: 1
rules: [{id: r, rate: error, attribute: [sex, site], max_group_gap: 0.9, where: {region: north, year: new}}]
`
	text := "id,label,prediction,sex,site,region,year\n"
	n := 0
	for _, row := range []string{"f,a,north,new", "f,b,north,new", "m,a,north,new", "m,a,north,new", "m,b,north,new", "f,a,north,old", "f,a,south,new", "m,x,north,new", "m,x,north,new", "z,b,north,new"} {
		n++
		text += fmt.Sprintf("%d,1,%d,%s\n", n, n%2, row)
	}
	ask := run{verb: gate.Decide, declaration: declaration + "intersections: [[sex, site]]\n", names: []string{"a"}, files: map[string]string{"a": text}}
	a, err := tryRun(ask)
	if err != nil {
		t.Fatal(err)
	}
	// Of the north in the new year; m of a twice.
	cells := map[string]int{}
	for _, c := range a.Gate.Rules[0].Cells {
		cells[c.Labels["group"]] = *c.Denominator
	}
	if want := map[string]int{"f × a": 1, "f × b": 1, "m × a": 2, "m × b": 1}; !maps.Equal(cells, want) {
		t.Errorf("cells %v, want %v", cells, want)
	}
	var undeclared []string
	for _, f := range a.Gate.Findings {
		if f.Code == "undeclared_values" {
			undeclared = append(undeclared, f.Message[:strings.Index(f.Message, ".")])
		}
	}
	if want := []string{`1 case has a value of sex that is not declared: "z" in 1 case`, `2 cases have a value of site that is not declared: "x" in 2 cases`}; !slices.Equal(undeclared, want) {
		t.Errorf("undeclared %q, want %q", undeclared, want)
	}
	ask.verb = gate.Tally
	for _, count := range []bool{true, false} {
		diags := &diag.List{}
		q := compile(ask, diags)
		in := q.Inputs()[0]
		if !count {
			in.Count = nil
		}
		in.Read(ask.names, rows.Options{FS: fstest.MapFS{"a": &fstest.MapFile{Data: []byte(text)}}}, diags)
		counted, err := json.Marshal(q.Counted(diags))
		if err != nil || diags.Len() > 0 {
			t.Fatal(err, diags.Err())
		}
		for _, want := range []string{`"groups":[{"undeclared":"z"},"b"],"where":["north","new"],"n":1`, `"groups":["m",{"undeclared":"x"}],"where":["north","new"],"n":1`, `"groups":["f","a"],"where":["south","new"],"n":1`} {
			if !strings.Contains(string(counted), want) {
				t.Errorf("counted on all cores %t: no cell %s in\n%s", count, want, counted)
			}
		}
	}
}

// TestCodesOfOtherTexts: a text that is not known keeps its code, as long as there is room for others.
func TestCodesOfOtherTexts(t *testing.T) {
	v := &vocabulary{fixed: 3, room: 2}
	for _, c := range []struct {
		text string
		code int
		ok   bool
	}{{"a", 4, true}, {"b", 5, true}, {"a", 4, true}, {"c", 0, false}, {"b", 5, true}} {
		if code, ok := v.other(c.text); code != c.code || ok != c.ok || ok && v.text(code) != c.text {
			t.Errorf("%s has the code %d, %t; want %d, %t", c.text, code, ok, c.code, c.ok)
		}
	}
}

// TestValues: the first texts of a column in byte order are counted exactly, in whatever order and parts they come; all of them while
// there are few.
func TestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{1, 5, 40, 1000}).Draw(t, "most")
		texts := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,6}`), 1, 300).Draw(t, "texts")
		count := map[string]int{}
		for _, text := range texts {
			count[text]++
		}
		whole := values{most: most}
		for rest := texts; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "part")
			part := values{most: most}
			for _, text := range rest[:n] {
				part.add(text, 1)
			}
			if len(part.counts) > 2*most {
				t.Fatalf("%d texts are kept, where %d are wanted", len(part.counts), most)
			}
			whole.merge(&part)
			rest = rest[n:]
		}
		distinct := slices.Sorted(maps.Keys(count))
		kept := distinct[:min(len(distinct), most)]
		got, more := whole.texts()
		if !slices.Equal(got, kept) || more != (len(distinct) > most) {
			t.Fatalf("%v are kept, more %t; want %v of %d", got, more, kept, len(distinct))
		}
		for _, text := range kept {
			if whole.counts[text] != count[text] {
				t.Fatalf("%s is counted %d times, want %d", text, whole.counts[text], count[text])
			}
		}
		for _, text := range distinct {
			if !whole.mayHold(text) {
				t.Fatalf("%s is held not to occur", text)
			}
		}
		if absent := kept[0] + "\x00"; whole.mayHold(absent) != (more && absent > distinct[len(kept)]) {
			t.Fatalf("%q is held to occur", absent)
		}
	})
}

// TestLongAndShortValues: a short text that comes before one for which there was no room is still counted, in whatever order and parts they
// come, and no text after it is.
func TestLongAndShortValues(t *testing.T) {
	long, short := func(c string) string { return strings.Repeat(c, mostBytes*2/3) }, func(c string) string { return c + "!" }
	// In byte order. There is no room for the second long one, so that what comes after it is not among the first, however short it is.
	texts := []string{long("a"), short("b"), short("c"), long("d"), short("e"), long("f"), short("g")}
	want := texts[:3]
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		order := append(random.Perm(len(texts)), random.Perm(len(texts))...) // each twice
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		whole := values{most: mostValues}
		for rest := order; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			part := values{most: mostValues}
			for _, i := range rest[:n] {
				part.add(texts[i], 1)
			}
			whole.merge(&part)
			rest = rest[n:]
		}
		got, more := whole.texts()
		bytes := 0
		for _, text := range got {
			bytes += len(text)
		}
		if !slices.Equal(got, want) || !more || whole.bytes != bytes {
			t.Fatalf("in the order %v: %d texts of %d bytes, told as %d", order, len(got), bytes, whole.bytes)
		}
		for i, text := range texts {
			if i < 3 && whole.counts[text] != 2 || !whole.mayHold(text) {
				t.Fatalf("in the order %v: text %d is counted %d times, and may be there: %t", order, i, whole.counts[text], whole.mayHold(text))
			}
		}
		if whole.mayHold(short("a")) { // before all that was dropped
			t.Fatalf("in the order %v: a text is held to occur that does not", order)
		}
	}
}

// TestLongValues: of long texts those that take mostBytes together are kept, the first in byte order, in whatever order and parts they
// come; of longer ones still one.
func TestLongValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct{ bytes, want int }{{mostBytes / 4, 4}, {mostBytes/4 + 1, 3}, {mostBytes, 1}, {3 * mostBytes, 1}} {
		var texts []string
		for c := range 12 {
			texts = append(texts, strings.Repeat(string(rune('a'+c)), test.bytes))
		}
		for range 5 {
			random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			parts := [2]values{{most: 1000}, {most: 1000}}
			for i, text := range texts {
				v := &parts[i%2]
				v.add(text, 1+i%2)
				v.add(text, 1)
				if v.bytes > 2*mostBytes+test.bytes || v.bytes != test.bytes*len(v.counts) {
					t.Fatalf("%d bytes in %d texts are kept", v.bytes, len(v.counts))
				}
			}
			parts[0].merge(&parts[1])
			got, more := parts[0].texts()
			sorted := slices.Sorted(slices.Values(texts))
			if !slices.Equal(got, sorted[:test.want]) || !more {
				t.Fatalf("texts of %d bytes: %d are kept, want %d", test.bytes, len(got), test.want)
			}
			for _, text := range got {
				if want := 2 + slices.Index(texts, text)%2; parts[0].counts[text] != want {
					t.Fatalf("a text is counted %d times, want %d", parts[0].counts[text], want)
				}
			}
		}
	}
}

// drawBounds draws what groups are compared by.
func drawBounds(t *rapid.T, groups int) *bounds {
	b := &bounds{groups: groups, minCell: rapid.IntRange(1, 6).Draw(t, "min_cell")}
	b.judging.Confidence.Value = rapid.SampledFrom([]float64{0.5, 0.8, 0.95}).Draw(t, "confidence")
	value := float64(rapid.IntRange(0, 20).Draw(t, "threshold")) / 20
	b.threshold = rapid.SampledFrom([]report.Threshold{
		{Kind: report.MaxGroupGap, Value: value}, {Kind: report.MinGroupRatio, Value: value},
		{Kind: report.WorstGroup, Side: report.Minimum, Value: value}, {Kind: report.WorstGroup, Side: report.Maximum, Value: value},
	}).Draw(t, "kind")
	if b.threshold.Kind != report.MinGroupRatio {
		b.pairwise = rapid.Bool().Draw(t, "pairwise")
	}
	if !b.pairwise && rapid.Bool().Draw(t, "repeated") {
		b.judging.Looks = policy.Text{Value: policy.LooksRepeated, Set: true}
	}
	return b
}

// contestOf sets groups side by side.
func contestOf(t *rapid.T, b *bounds, groups []sides) *contest {
	c, err := newContest(b, groups)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestVerdictsHoldUnderEveryCompletion: a PASS or a FAIL comes out whatever the missing predictions were, by brute force over
// all of them in small groups; the interval of the whole rule holds every completed one's.
func TestVerdictsHoldUnderEveryCompletion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &rates[rapid.IntRange(0, len(rates)-1).Draw(t, "rate")]
		groups := []counts{drawGroup(t, 3), drawGroup(t, 3)}
		for i := range groups { // so that some verdicts come out at all
			for label := range 2 {
				groups[i][label][rapid.IntRange(0, 1).Draw(t, "side")] += rapid.SampledFrom([]int{0, 0, 30, 300}).Draw(t, "many")
			}
		}
		b := drawBounds(t, 2)
		c := contestOf(t, b, []sides{r.sides(&groups[0]), r.sides(&groups[1])})
		got := c.judge(c.everyone())
		completions(groups[0], func(first counts) {
			completions(groups[1], func(second counts) {
				d := contestOf(t, b, []sides{r.sides(&first), r.sides(&second)})
				full := d.judge(d.everyone())
				if got.verdict != report.InsufficientEvidence && full.verdict != got.verdict {
					t.Fatalf("%s of %v is %s, but %s completed as %v, %v", r.name, groups, got.verdict, full.verdict, first, second)
				}
				for i := range got.cells {
					if got.cells[i] != report.InsufficientEvidence && full.cells[i] != got.cells[i] {
						t.Fatalf("group %d of %v is %s, but %s completed", i, groups, got.cells[i], full.cells[i])
					}
				}
				// Small groups take no part in one end, and completed ones may have grown; with equal sizes the intervals nest.
				if slices.Equal(c.small, d.small) && (full.interval.Lower < got.interval.Lower || full.interval.Upper > got.interval.Upper) {
					t.Fatalf("%s of %v is %v, but %v completed as %v, %v", r.name, groups, got.interval, full.interval, first, second)
				}
			})
		})
	})
}

// drawContest draws groups of any size side by side.
func drawContest(t *rapid.T, most int) (*contest, []sides) {
	n := rapid.IntRange(2, most).Draw(t, "groups")
	groups := make([]sides, n)
	for i := range groups {
		c := counts{}
		for label := range 2 {
			for prediction := range 3 {
				c[label][prediction] = rapid.SampledFrom([]int{0, 1, 3, 10, 100, 1000}).Draw(t, "cases")
			}
			c[label][none] /= 10
		}
		groups[i] = rateNamed("error").sides(&c)
	}
	return contestOf(t, drawBounds(t, n), groups), groups
}

// TestAllPairs: the verdict, the interval, every group's verdict and the listed pairs are those of comparing every two groups,
// and the leaders alone come to the same.
func TestAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, groups := drawContest(t, 7)
		if c.threshold.Kind == report.WorstGroup {
			return
		}
		s, led := c.judge(c.everyone()), c.judge(c.leaders())
		ratio := c.threshold.Kind == report.MinGroupRatio
		want := interval.Interval{Lower: 0, Upper: 0}
		if ratio {
			want = interval.Interval{Lower: 1, Upper: 1}
		}
		anySmall, failed, passed := slices.Contains(c.small, true), false, true
		cells := make([]report.Verdict, len(groups))
		var all []apart
		for j := range groups {
			for i := range j {
				p := c.pair(i, j)
				all = append(all, apart{i, j, p})
				v := c.compare(i, j, p)
				full := !c.small[i] && !c.small[j]
				switch {
				case ratio:
					want.Lower = min(want.Lower, p.Lower)
					if full {
						want.Upper = min(want.Upper, p.Upper)
					}
				default:
					want.Upper = max(want.Upper, p.Upper)
					if full {
						want.Lower = max(want.Lower, p.Lower)
					}
				}
				if !full {
					continue
				}
				failed, passed = failed || v == report.Fail, passed && v == report.Pass
				cells[i], cells[j] = max(cells[i], v), max(cells[j], v)
			}
		}
		verdict := report.InsufficientEvidence
		switch {
		case failed:
			verdict = report.Fail
		case !anySmall && passed:
			verdict = report.Pass
		}
		for i := range cells {
			cells[i] = max(cells[i], report.Pass) // without a partner
			if c.small[i] || cells[i] == report.Pass && !slices.ContainsFunc(all, func(p apart) bool { return (p.i == i || p.j == i) && !c.small[p.i] && !c.small[p.j] }) {
				cells[i] = report.InsufficientEvidence
			}
		}
		if s.verdict != verdict || led.verdict != verdict || !slices.Equal(s.cells, cells) || s.interval.Lower != want.Lower || s.interval.Upper != want.Upper || led.interval != s.interval {
			t.Fatalf("%s, by the leaders %s, %v, %v; want %s, %v, %v", s.verdict, led.verdict, s.cells, s.interval, verdict, cells, want)
		}
		slices.SortFunc(all, func(a, b apart) int {
			return cmp.Or(cmp.Compare(c.risk(b.interval), c.risk(a.interval)), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
		})
		if pairs, omitted := c.list(); !slices.Equal(pairs, all) || omitted != 0 || c.risk(all[0].interval) != c.risk(s.risky.interval) {
			t.Fatalf("pairs %v and %d more, want %v; the riskiest is %v", pairs, omitted, all, s.risky)
		}
	})
}

// TestMostPairs: of more pairs than are listed, the ones that may lie furthest apart are, equally far ones in declared order.
func TestMostPairs(t *testing.T) {
	for _, kind := range []report.Kind{report.MaxGroupGap, report.MinGroupRatio} {
		b := &bounds{threshold: report.Threshold{Kind: kind, Value: 0.5}, groups: 110, minCell: 1}
		b.judging.Confidence.Value = 0.95
		groups := make([]sides, 110) // 5995 pairs, more than twice what is listed; many of them equally far apart
		for i := range groups {
			n := 10 * (i % 5)
			k := n * (i % 7) / 7
			t := interval.Tally{K: k, N: n}
			groups[i] = sides{recorded: t, low: t, high: t}
		}
		c, err := newContest(b, groups)
		if err != nil {
			t.Fatal(err)
		}
		var all []apart
		for i := range groups {
			for j := i + 1; j < len(groups); j++ {
				all = append(all, apart{i, j, c.pair(i, j)})
			}
		}
		slices.SortStableFunc(all, func(a, b apart) int { return cmp.Compare(c.risk(b.interval), c.risk(a.interval)) })
		pairs, omitted := c.list()
		if omitted != 3995 || !slices.Equal(pairs, all[:mostPairs]) {
			t.Errorf("%s: %d pairs and %d more are not the first %d", kind, len(pairs), omitted, mostPairs)
		}
	}
}

// TestFront: the first and the second of each end, in whatever order they come.
func TestFront(t *testing.T) {
	var rates []interval.Interval
	for _, ends := range [][2]float64{{.1, .3}, {.2, .6}, {0, 1}, {.05, .9}} {
		rates = append(rates, interval.Interval{Lower: ends[0], Upper: ends[1]})
	}
	for _, c := range []struct {
		order []int // of the groups above
		want  front // lowest lower, highest upper, highest lower and lowest upper ends, as places in that order
	}{
		{[]int{0, 1, 2, 3}, front{{2, 3}, {2, 3}, {1, 0}, {0, 1}}},
		{[]int{3, 2, 1, 0}, front{{1, 0}, {1, 0}, {2, 3}, {3, 2}}},
		{[]int{2, 0, 3, 1}, front{{0, 2}, {0, 2}, {3, 1}, {1, 3}}},
	} {
		var list []interval.Interval
		for _, i := range c.order {
			list = append(list, rates[i])
		}
		if got := newFront(list, func(int) bool { return true }); got != c.want {
			t.Errorf("in order %v the front is %v, want %v", c.order, got, c.want)
		}
	}
}

// TestFrontsAreEnough is TestAllPairs' reason, at the groups: whichever group, those furthest from it are in the front.
func TestFrontsAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, _ := drawContest(t, 9)
		if c.threshold.Kind == report.WorstGroup {
			return
		}
		for i := range c.sides {
			for j := range c.sides {
				if i != j && c.risk(c.pair(i, j)) > slices.Max(risks(c, i)) {
					t.Fatalf("group %d is further from %d than any of its rivals", j, i)
				}
			}
		}
	})
}

func risks(c *contest, i int) []float64 {
	var list []float64
	for j := range c.rivals(i, &c.all) {
		list = append(list, c.risk(c.pair(i, j)))
	}
	return list
}

// TestGroupNamesDoNotMatter: groups in another order come to the same verdict and interval.
func TestGroupNamesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, groups := drawContest(t, 6)
		order := rapid.Permutation(c.everyone()).Draw(t, "order")
		swapped := make([]sides, len(groups))
		for i, j := range order {
			swapped[i] = groups[j]
		}
		d := contestOf(t, c.bounds, swapped)
		s, u := c.judge(c.everyone()), d.judge(d.everyone())
		if s.verdict != u.verdict || s.interval != u.interval {
			t.Fatalf("%s, %v; in the order %v %s, %v", s.verdict, s.interval, order, u.verdict, u.interval)
		}
		for i, j := range order {
			if s.cells[j] != u.cells[i] {
				t.Fatalf("group %d is %s, and %s where it stands at %d", j, s.cells[j], u.cells[i], i)
			}
		}
	})
}

// TestMoreConfidenceNeverNarrows: nor does it turn one verdict into the other.
func TestMoreConfidenceNeverNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, groups := drawContest(t, 5)
		surer := *c.bounds
		surer.judging.Confidence.Value = rapid.SampledFrom([]float64{0.95, 0.99, 0.9999}).Draw(t, "more confidence")
		d := contestOf(t, &surer, groups)
		s, u := c.judge(c.everyone()), d.judge(d.everyone())
		if u.interval.Lower > s.interval.Lower || u.interval.Upper < s.interval.Upper {
			t.Fatalf("%v at %v is %v at %v", s.interval, c.judging.Confidence.Value, u.interval, surer.judging.Confidence.Value)
		}
		if u.verdict != s.verdict && u.verdict != report.InsufficientEvidence {
			t.Fatalf("%s at %v is %s at %v", s.verdict, c.judging.Confidence.Value, u.verdict, surer.judging.Confidence.Value)
		}
	})
}

// TestNothingNeverPasses: with a declared group that is empty, or has fewer cases than min_cell, no rule passes, whatever it asks.
func TestNothingNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, groups := drawContest(t, 4)
		i := rapid.IntRange(0, len(groups)-1).Draw(t, "group")
		groups[i] = sides{missing: groups[i].missing, high: interval.Tally{K: groups[i].missing, N: groups[i].missing}, low: interval.Tally{N: groups[i].missing}}
		for _, value := range []float64{0, 1, c.threshold.Value} {
			b := *c.bounds
			b.threshold.Value = value
			d := contestOf(t, &b, groups)
			if s := d.judge(d.everyone()); s.verdict == report.Pass || s.cells[i] != report.InsufficientEvidence || !s.anySmall {
				t.Fatalf("threshold %v: %s, the empty group %s", value, s.verdict, s.cells[i])
			}
		}
	})
}

// TestCountsAdd: numerators, denominators and what is left out add up to the file, for every rule, whatever the rows.
func TestCountsAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRows(t, 40)
		a, err := tryRun(run{verb: gate.Decide, declaration: every, names: []string{"c.csv"}, files: map[string]string{"c.csv": everyHeader + strings.Join(list, "\n")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Gate.Rules {
			numerator, denominator, missing := 0, 0, 0
			for _, c := range r.Cells {
				numerator, denominator, missing = numerator+*c.Numerator, denominator+*c.Denominator, missing+*c.Missing
			}
			left := 0
			for _, l := range r.LeftOut {
				left += l.Count
			}
			if *r.Numerator != numerator || *r.Denominator != denominator || *r.Missing != missing || denominator+left > len(list) {
				t.Fatalf("rule %s: %d of %d, %d missing, %d left out of %d; its groups have %d of %d, %d missing", r.ID, *r.Numerator, *r.Denominator, *r.Missing, left, len(list), numerator, denominator, missing)
			}
			// The error and the accuracy of a rule over one attribute leave out what is not in a group: nothing is lost.
			if r.ID == "many" && denominator+left != len(list) {
				t.Fatalf("%d cases in groups and %d left out, of %d", denominator, left, len(list))
			}
			if r.Verdict == report.NoVerdict || r.Reason == "" {
				t.Fatalf("rule %s has no verdict or no reason", r.ID)
			}
		}
		d := a.Gate.Data
		if d.Of("labelled")+d.Of("missing_labels") != len(list) || d.Of("predicted")+d.Of("missing_predictions") != len(list) {
			t.Fatalf("data %v of %d rows", d, len(list))
		}
	})
}

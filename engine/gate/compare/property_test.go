package compare

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// trial is one row of a drawn file.
type trial struct{ version, item, id, result, level string }

func (r trial) csv() string {
	return strings.Join([]string{r.version, r.item, r.id, r.result, r.level}, ",") + "\n"
}

// drawn draws trials of three versions, some without an id or a result; result is "passed" or "score".
func drawn(result string) *rapid.Generator[[]trial] {
	results := []string{"1", "0", "true", ""}
	if result == "score" {
		results = []string{"0.1", "0.2", "0.30", "1", "0", "1e-3", ""}
	}
	return rapid.Custom(func(t *rapid.T) []trial {
		var list []trial
		for v, version := range []string{"old", "new", "third"} {
			for item := range rapid.IntRange(1, 6).Draw(t, "cases") {
				for id := range rapid.IntRange(0, 4).Draw(t, "trials") {
					r := trial{version, fmt.Sprint("c", item+v%2), fmt.Sprint(id), rapid.SampledFrom(results).Draw(t, "result"), []string{"hard", "easy", ""}[(item+v%2)%3]}
					if rapid.IntRange(0, 4).Draw(t, "named") == 0 {
						r.id = ""
					}
					list = append(list, r)
				}
			}
		}
		return append(list, trial{"old", "last", "", results[0], "hard"}, trial{"new", "last", "", results[1], ""})
	})
}

// propertyPolicy has every kind of rule.
const propertyPolicy = `baseline: old
candidate: new
rules:
  - {id: sign, metric: sign_test}
  - {id: difference, metric: pass_rate_difference, minimum: 0}
  - {id: rate, metric: rate, minimum: 0.5, version: baseline}
  - {id: hard, metric: rate, minimum: 0.5, where: {level: hard}, max_left_out: 1}
`

// gatePart is the gate's part of the report, as JSON, of files in a given order.
func gatePart(t *rapid.T, text, result string, files ...[]trial) string {
	all := map[string]string{}
	var names []string
	for i, list := range files {
		if len(list) == 0 {
			continue
		}
		name := fmt.Sprint("f", i)
		names = append(names, name)
		all[name] = "version,case,trial," + result + ",level\n"
		for _, r := range list {
			all[name] += r.csv()
		}
		all[name] += strings.Repeat("\n", i) // or two files could have the same content
	}
	a, err := tryRun(run{verb: gate.Decide, policy: text, names: names, files: all})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(a.Gate)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOrderAndFilesDoNotMatter: the same rows in any order, in any split into files, give the same bytes.
func TestOrderAndFilesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result := rapid.SampledFrom([]string{"passed", "score"}).Draw(t, "result")
		list := drawn(result).Draw(t, "trials")
		want := gatePart(t, propertyPolicy, result, list)
		mixed := rapid.Permutation(list).Draw(t, "order")
		cut := rapid.IntRange(0, len(mixed)).Draw(t, "cut")
		if diff := cmp.Diff(want, gatePart(t, propertyPolicy, result, mixed[:cut], mixed[cut:])); diff != "" {
			t.Fatalf("in another order, in two files (-one +two):\n%s", diff)
		}
	})
}

// asked is a question with files of trials, at path "t" or, where each version is a file of its own, "old.csv" and "new.csv".
func asked(result string, own bool, lists ...[]trial) (ask func(diags *diag.List) *question, fsys fstest.MapFS) {
	names := []string{"t", "u"}
	policyText := propertyPolicy
	if own {
		names, policyText = []string{"old.csv", "new.csv"}, strings.NewReplacer("baseline: old", "baseline: old.csv", "candidate: new", "candidate: new.csv").Replace(propertyPolicy)
	}
	fsys = fstest.MapFS{}
	var given []string
	for i, list := range lists {
		if len(list) == 0 {
			continue
		}
		kind := result
		if i == 1 && list[0].result == "0.25" { // the other kind of result
			kind = "score"
		}
		text := "version,case,trial," + kind + ",level\n"
		for _, r := range list {
			text += r.csv()
		}
		fsys[names[i]] = &fstest.MapFile{Data: []byte(text + strings.Repeat("\n", i))}
		given = append(given, names[i])
	}
	if own {
		given = nil
	}
	return func(diags *diag.List) *question {
		p := policy.Load(policy.Parse("policy.yaml", []byte(policyText), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
		return Gate{}.Compile(gate.Source{Verb: gate.Decide, Files: given, Section: &p.Sections[0], Settings: p.Sections[0].Settings}, diags).(*question)
	}, fsys
}

// answered is what a question answers once it was read, or what was wrong, and what its tally holds.
func answered(t *rapid.T, q *question, diags *diag.List) (text string, tally *Tally) {
	if diags.Len() == 0 {
		q.CheckRows(diags)
	}
	if err := diags.Err(); err != nil {
		return err.Error(), q.tally
	}
	a, err := q.Answer(gate.Context{Today: "2026-11-29"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), q.tally
}

// TestAnyShareIsOneReading: however the rows are shared among tallies, the answer, or what is told to be wrong, is the one of reading them one
// by one, and so are the places where what later rows may contradict was read first.
func TestAnyShareIsOneReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result := rapid.SampledFrom([]string{"passed", "score"}).Draw(t, "result")
		list := rapid.Permutation(drawn(result).Draw(t, "trials")).Draw(t, "order")
		own := rapid.Bool().Draw(t, "own files")
		cut := rapid.IntRange(1, len(list)-1).Draw(t, "cut")
		if own { // the first file has the first versions, whatever they are called
			for i := range list {
				list[i].version = []string{"old", "new"}[min(i/cut, 1)]
			}
		}
		lists := [][]trial{list[:cut:cut], list[cut:]}
		for range rapid.IntRange(0, 2).Draw(t, "spoiled") {
			file := rapid.IntRange(0, 1).Draw(t, "file")
			x := rapid.SampledFrom(list).Draw(t, "again") // a trial again, mostly
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				x.level = "other"
			case 1:
				x.version = "third"
			case 2:
				x.result = "2"
			}
			lists[file] = append(lists[file], x)
		}
		if rapid.IntRange(0, 4).Draw(t, "other kind") == 0 {
			lists[1] = append([]trial{{lists[1][0].version, "last", "x", "0.25", ""}}, lists[1]...)
		}
		ask, fsys := asked(result, own, lists...)
		read := func(paths []string, in gate.Input, add func(rows.Row), diags *diag.List) {
			rows.Read(paths, rows.Options{Columns: in.Columns, Once: in.Once, FS: fsys}, add, diags)
		}
		one := &diag.List{}
		q := ask(one)
		for _, in := range q.Inputs() {
			read(in.Paths, in, func(r rows.Row) { in.Add(r, one) }, one)
		}
		want, tally := answered(t, q, one)

		several := &diag.List{}
		q = ask(several)
		for _, in := range q.Inputs() {
			begin, end := in.Share()
			var functions []func(rows.Row) bool
			for range rapid.IntRange(1, 4).Draw(t, "tallies") {
				functions = append(functions, begin())
			}
			problems, ok := &diag.List{}, true
			read(in.Paths, in, func(r rows.Row) {
				ok = ok && functions[rapid.IntRange(0, len(functions)-1).Draw(t, "tally")](r)
			}, problems)
			if !ok || problems.Len() > 0 || !end() {
				read(in.Paths, in, func(r rows.Row) { in.Add(r, several) }, several)
			}
		}
		got, shared := answered(t, q, several)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-one by one +shared):\n%s", diff)
		}
		if diff := cmp.Diff(tally, shared, cmp.AllowUnexported(Tally{}, cell{}, place{}, file{}, rows.Decimal{}, rows.Sum{}), cmpopts.IgnoreFields(Tally{}, "last", "other", "file", "fileName", "input"),
			cmpopts.IgnoreFields(cell{}, "first")); diff != "" && one.Len() == 0 {
			t.Fatalf("tallies (-one by one +shared):\n%s", diff)
		}
	})
}

// TestAnyNumberOfCores: files of many blocks give the same answer, or the same problems, on 1, 2 and 8 cores as read one by one.
func TestAnyNumberOfCores(t *testing.T) {
	text := large(2000, 10) // about 800 kB
	spoiled := strings.Replace(text, "new,case-001500,3,", "new,case-001500,2,", 1)
	for _, c := range []struct{ name, text string }{
		{"sound", text}, {"a trial twice", spoiled}, {"a result that is none", text[:len(text)/2] + strings.Replace(text[len(text)/2:], ",1\n", ",one\n", 3)},
		{"a line cut off", text[:len(text)-4]},
	} {
		ask := func(alone bool) string {
			diags := &diag.List{}
			p := policy.Load(policy.Parse("policy.yaml", []byte(largePolicy), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
			q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Files: []string{"t"}, Section: &p.Sections[0], Settings: p.Sections[0].Settings}, diags).(*question)
			for _, in := range q.Inputs() {
				if alone {
					in.Share = nil
				}
				in.Read(in.Paths, rows.Options{FS: fstest.MapFS{"t": {Data: []byte(c.text)}}}, diags)
			}
			if diags.Len() == 0 {
				q.CheckRows(diags)
			}
			if err := diags.Err(); err != nil {
				return err.Error()
			}
			a, err := q.Answer(gate.Context{Today: "2026-11-29"})
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		want := ask(true)
		for _, cores := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(cores)
			if diff := cmp.Diff(want, ask(false)); diff != "" {
				t.Errorf("%s, %d cores: (-one by one +shared):\n%s", c.name, cores, diff)
			}
			runtime.GOMAXPROCS(before)
		}
	}
}

// TestSwappingVersionsMirrors: with the versions the other way round, better is worse and every bound changes its sign.
func TestSwappingVersionsMirrors(t *testing.T) {
	opposite := map[report.Verdict]report.Verdict{report.Pass: report.Fail, report.Fail: report.Pass, report.InsufficientEvidence: report.InsufficientEvidence}
	rapid.Check(t, func(t *rapid.T) {
		x := tables(12, 3).Draw(t, "table")
		v, mirrored := x.view("0.8"), table{x[1], x[0]}.view("0.8")
		v.fixed = rapid.Bool().Draw(t, "fixed")
		mirrored.fixed = v.fixed
		a, b := v.signTest(), mirrored.signTest()
		ra, rb := report.Rule{Measure: a.Measure}, report.Rule{Measure: b.Measure}
		a.sign.conclude(&ra)
		b.sign.conclude(&rb)
		if *a.Better != *b.Worse || *a.Worse != *b.Better || *a.Equal != *b.Equal || *a.PValue != *b.PValue || ra.Verdict != opposite[rb.Verdict] {
			t.Fatalf("%d better, %d worse, p %v, %s; mirrored %d, %d, %v, %s", *a.Better, *a.Worse, *a.PValue, ra.Verdict, *b.Better, *b.Worse, *b.PValue, rb.Verdict)
		}
		// A tie between the two directions goes to better, whichever version is the candidate.
		if a.sign.flip.found != b.sign.flip.found || a.sign.flip.found && a.sign.flip.trials != b.sign.flip.trials {
			t.Fatalf("flips %+v, mirrored %+v", a.sign.flip, b.sign.flip)
		}
		da, err := v.difference()
		if err != nil {
			t.Fatal(err)
		}
		db, err := mirrored.difference()
		if err != nil {
			t.Fatal(err)
		}
		if *da.Interval.Lower != -*db.Interval.Upper || *da.Interval.Upper != -*db.Interval.Lower || da.Completions.Low != -db.Completions.High {
			t.Fatalf("difference %v to %v, mirrored %v to %v", *da.Interval.Lower, *da.Interval.Upper, *db.Interval.Lower, *db.Interval.Upper)
		}
		if (da.Estimate == nil) != (db.Estimate == nil) || da.Estimate != nil && *da.Estimate != -*db.Estimate {
			t.Fatalf("estimate %v, mirrored %v", da.Estimate, db.Estimate)
		}
	})
}

// TestRecordedNeverWidens: a result recorded in place of a missing one never widens an interval, never undoes a decision and
// never raises the p-value's reach beyond what it was.
func TestRecordedNeverWidens(t *testing.T) {
	within := func(t *rapid.T, what string, before, after measured) {
		if *after.Interval.Lower < *before.Interval.Lower || *after.Interval.Upper > *before.Interval.Upper {
			t.Fatalf("%s: %v to %v with the trial missing, %v to %v with it", what, *before.Interval.Lower, *before.Interval.Upper, *after.Interval.Lower, *after.Interval.Upper)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := tables(8, 4).Draw(t, "table")
		missing, _ := x.missing()
		if len(missing) == 0 {
			t.Skip("nothing is missing")
		}
		fixed, looks := rapid.Bool().Draw(t, "fixed"), rapid.SampledFrom([]string{"", "repeated"}).Draw(t, "looks")
		at := func(x table) *view {
			v := x.view("0.8")
			v.fixed, v.judging.Looks.Value, v.judging.Looks.Set = fixed, looks, looks != ""
			return v
		}
		before := at(x)
		k := rapid.IntRange(1, counted(before.side(candidate)).least).Draw(t, "k")
		x.completed([]int{rapid.SampledFrom(missing).Draw(t, "place")}, func(y table) {
			after := at(y)
			for _, m := range []struct {
				what string
				of   func(v *view) (measured, error)
			}{
				{difference, (*view).difference},
				{rate, func(v *view) (measured, error) { return v.rate("new", v.side(candidate), alike{}) }},
				{passAtK, func(v *view) (measured, error) { return v.passK(passAtK, k, "new", v.side(candidate)) }},
				{passAllK, func(v *view) (measured, error) { return v.passK(passAllK, k, "new", v.side(candidate)) }},
			} {
				a, err := m.of(before)
				if err != nil {
					t.Fatal(err)
				}
				b, err := m.of(after)
				if err != nil {
					t.Fatal(err)
				}
				within(t, m.what, a, b)
			}
			a, b := before.signed().verdict(), after.signed().verdict()
			if b.p > a.p || a.direction != uncertain && b.direction != a.direction {
				t.Fatalf("%s at p %v with the trial missing, %s at p %v with it", a.direction, a.p, b.direction, b.p)
			}
		})
	})
}

// TestHostileNames: names of cases, versions and slices can hold anything that a file can; nothing panics, and what
// the gate itself writes about them stays on one line without control characters.
func TestHostileNames(t *testing.T) {
	hostile := []string{"::error::x", "a\nb", "\x1b[31mred", "\u202eevil", "<script>", "|", "`", strings.Repeat("long", 400), "=cmd()", "%0A", "a\x00b"}
	text := header
	for i, name := range hostile {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		text += fmt.Sprintf("%s,%s,1,%d\n%s,%s,1,1\n", `"old `+"\n"+`::error::"`, quoted, i%2, `"new`+"\x1b[0m"+`"`, quoted)
	}
	a, err := tryRun(run{verb: gate.Decide, policy: signPolicy, names: []string{"t.csv"}, files: map[string]string{"t.csv": text},
		flags: gate.Flags{Baseline: "old \n::error::", Candidate: "new\x1b[0m"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Gate.Rules[0].Moved {
		if !slices.Contains(hostile, m.Case) {
			t.Errorf("a case is named %q", m.Case)
		}
	}
	for _, f := range a.Gate.Findings {
		if strings.ContainsAny(f.Message, "\n\x1b\x00\u202e") {
			t.Errorf("%s: %q", f.Code, f.Message)
		}
	}
	if strings.ContainsAny(a.Gate.Summary, "\n\x1b\x00\u202e") {
		t.Errorf("summary %q", a.Gate.Summary)
	}
}

// FuzzTrials: no file makes the gate panic, and what it decides is well-formed.
func FuzzTrials(f *testing.F) {
	f.Add(header + written("old", lessonOld...) + written("new", lessonNew...))
	f.Add("version;case;score\nold;a;0.5\nnew;a;1e-19\nnew;b;\n")
	f.Add(`{"version":"old","case":"a","passed":null}` + "\n" + `{"version":"new","case":"a"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, settings := range []string{"", "case_list: fixed\n", "looks: repeated\n", "plan: {cases: 2, trials: 3}\n"} {
			a, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\n" + settings +
				"rules: [{id: s, metric: sign_test}, {id: d, metric: pass_rate_difference, minimum: 0}, {id: r, metric: rate, minimum: 0.5}]",
				names: []string{"t"}, files: map[string]string{"t": text}})
			if err != nil {
				continue
			}
			for _, r := range a.Gate.Rules {
				if r.Verdict == report.NoVerdict || r.Reason == "" {
					t.Errorf("rule %s has no verdict or reason", r.ID)
				}
				if r.Interval != nil && (*r.Interval.Lower > *r.Interval.Upper || r.Completions != nil && (*r.Interval.Lower > r.Completions.Low+1e-9 || *r.Interval.Upper < r.Completions.High-1e-9)) {
					t.Errorf("rule %s: %v to %v, completions %v", r.ID, *r.Interval.Lower, *r.Interval.Upper, r.Completions)
				}
				if r.PValue != nil && !(*r.PValue > 0 && *r.PValue <= 1) {
					t.Errorf("p is %v", *r.PValue)
				}
			}
		}
	})
}

// TestVeryManyCases: 100,000 cases, each with its own value of a column that rules slice by, each in a version of its own in one file, are
// counted on several cores as they are one by one.
func TestVeryManyCases(t *testing.T) {
	const n = 100_000
	for _, of := range []string{"old", ""} {
		var b strings.Builder
		b.WriteString("version,case,trial,passed,level\n")
		for i := range n {
			version := of
			if of == "" {
				version = fmt.Sprint("v", i)
			}
			fmt.Fprintf(&b, "%s,case-%d,%d,%d,level-%d\n", version, i, i, i%2, i)
		}
		read := func(alone bool) *Tally {
			diags := &diag.List{}
			q := tallying(gate.Tally, sliced, diags)
			in := q.Inputs()[0]
			if alone {
				in.Share = nil
			}
			in.Read([]string{"t"}, rows.Options{FS: fstest.MapFS{"t": {Data: []byte(b.String())}}}, diags)
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			return q.tally
		}
		before := runtime.GOMAXPROCS(4)
		one, shared := read(true), read(false)
		runtime.GOMAXPROCS(before)
		if len(shared.cases) != n || len(shared.versions) != len(one.versions) {
			t.Fatalf("%d cases in %d versions, one by one %d in %d", len(shared.cases), len(shared.versions), len(one.cases), len(one.versions))
		}
		for version, cells := range one.versions {
			for item, want := range cells {
				got := shared.versions[version][item]
				if got == nil || *got != *want || !slices.Equal(shared.cases[item], one.cases[item]) {
					t.Fatalf("%s of %s: %+v %v, one by one %+v %v", item, version, got, shared.cases[item], want, one.cases[item])
				}
			}
		}
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// labelColumns are the columns of drawn labels, in the order of a row's fields.
var labelColumns = []string{"item", "annotator", "suggestion", "label", "visibility", "kind", "accepted", "started_at", "labelled_at", "length"}

// The places in a row of the two that name a person's rows of an item.
const (
	atItem = iota
	atAnnotator
)

// labelPolicy has a rule of every kind.
const labelPolicy = `confidence: 0.6
minimum_blind_sample: 2
max_left_out: 0.6
missing_values: ["-"]
rules:
  - {id: blind, metric: blind_agreement, minimum: 0.1}
  - {id: blind-item, metric: blind_agreement, minimum: 0.3, per: item}
  - {id: blind-label, metric: blind_agreement, maximum: 0.5, per: label}
  - {id: visible, metric: visible_agreement, minimum: 0.3, per: person}
  - {id: gap, metric: anchoring_gap, maximum: 0.95}
  - {id: gap-item, metric: anchoring_gap, maximum: 0.8, per: item}
  - {id: pairwise, metric: anchoring_gap, maximum: 0.8, interval: pairwise, per: item}
  - {id: accepted, metric: acceptance_rate, minimum: 0.1}
  - {id: verified, metric: verify_acceptance, minimum: 0.1, per: label}
  - {id: people, metric: people_agreement, minimum: 0.1}
  - {id: model, metric: model_minus_people, minimum: -0.5}
  - {id: short, metric: blind_agreement, minimum: 0.1, per: item, where: {length: short}}
  - {id: often, metric: blind_agreement, minimum: 0.1, per: item, looks: repeated}
`

// drawLabels draws labels of one to four people, with missing ones, looks, relabellings, repeats and times. Rows of one person
// and item that would be there twice are later by their times.
func drawLabels(t *rapid.T) rowsOf {
	people, items := rapid.IntRange(1, 4).Draw(t, "people"), rapid.IntRange(1, 8).Draw(t, "items")
	agreeing := rapid.Bool().Draw(t, "everyone agrees with the model")
	value := rapid.SampledFrom([]string{"x", "y"})
	label := rapid.SampledFrom([]string{"x", "y", "x", "y", "", "-", "NA", "X"})
	suggestions := make([]string, items)
	for i := range suggestions {
		suggestions[i] = value.Draw(t, "suggestion")
	}
	var s rowsOf
	second := 0
	for p := range people {
		for i := range items {
			timed := rapid.IntRange(0, 3).Draw(t, "timed") > 0
			rows := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "rows")
			for range rows {
				second++
				suggestion, own := suggestions[i], label.Draw(t, "label")
				if agreeing && own != "" {
					own = suggestion
				}
				if rapid.IntRange(0, 9).Draw(t, "no suggestion") == 0 {
					suggestion = ""
				}
				labelled, started := fmt.Sprintf("2026-01-01T10:%02d:%02dZ", second/60, second%60), ""
				if rapid.Bool().Draw(t, "started") {
					started = "2026-01-01T10:00:00Z"
				}
				if !timed && rows == 1 {
					labelled = ""
				}
				s = append(s, []string{
					fmt.Sprintf("m%d", i), fmt.Sprintf("p%d", p), suggestion, own,
					rapid.SampledFrom([]string{"blind", "blind", "visible"}).Draw(t, "visibility"),
					rapid.SampledFrom([]string{"", "", "label", "audit", "verify", "certification"}).Draw(t, "kind"),
					rapid.SampledFrom([]string{"", "0", "1", "true"}).Draw(t, "accepted"), started, labelled, []string{"short", "long"}[i%2],
				})
			}
		}
	}
	if len(s) == 0 {
		s = append(s, []string{"m0", "p0", "x", "x", "blind", "", "", "", "", "short"})
	}
	return s
}

// labelsText writes labels with these columns, in their order.
func labelsText(s rowsOf, delimiter string, columns []string) string {
	var b strings.Builder
	b.WriteString(strings.Join(columns, delimiter) + "\n")
	for _, row := range s {
		fields := make([]string, len(columns))
		for i, name := range columns {
			fields[i] = row[slices.Index(labelColumns, name)]
		}
		b.WriteString(strings.Join(fields, delimiter) + "\n")
	}
	return b.String()
}

// drawOfItems is a draw of the items that labels may have, some of them blind.
func drawOfItems(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("item,visibility,inclusion_probability\n")
	uneven := rapid.Bool().Draw(t, "uneven")
	for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Draw(t, "draw") {
		chance := "0.5"
		if uneven && i > 5 {
			chance = "0.25"
		}
		fmt.Fprintf(&b, "m%d,%s,%s\n", i, []string{"blind", "visible"}[i%2], chance)
	}
	return b.String()
}

// decideLabels decides labels that lie in files.
func decideLabels(t rapid.TB, fsys fstest.MapFS, files ...string) *report.Report {
	t.Helper()
	req := request{verb: gate.Decide, gate: anchoringGate(), policy: "policy.yaml", files: files, fs: fsys}
	if fsys["draw.csv"] != nil {
		req.flags.Draw = "draw.csv"
	}
	r := inMemory().run(req)
	mustDecide(t, r)
	return r
}

// TestOrderOfLabels: any order of the rows that keeps the order of each person's rows of an item, in one file or several and in
// any form, gives the same bytes under gates.
func TestOrderOfLabels(t *testing.T) {
	schema := reportSchema(t)
	checkStudies(t, 20, func(t *rapid.T) {
		s := drawLabels(t)
		drawn := folder("policy.yaml", labelPolicy)
		if rapid.Bool().Draw(t, "with a draw") {
			drawn["draw.csv"] = &fstest.MapFile{Data: []byte(drawOfItems(t))}
		}
		one := fstest.MapFS{"d.csv": &fstest.MapFile{Data: []byte(labelsText(s, ",", labelColumns))}}
		for name, f := range drawn {
			one[name] = f
		}
		want := decideLabels(t, one, "d.csv")

		// Each person's rows of an item take, in their order, the places that the permutation has for them.
		shuffled := rapid.Permutation(s).Draw(t, "rows")
		own := map[[2]string]rowsOf{}
		pair := func(row []string) [2]string { return [2]string{row[atItem], row[atAnnotator]} }
		for _, row := range s {
			own[pair(row)] = append(own[pair(row)], row)
		}
		for i, row := range shuffled {
			k := pair(row)
			shuffled[i], own[k] = own[k][0], own[k][1:]
		}
		cut := rapid.IntRange(1, len(shuffled)).Draw(t, "rows in the first file")
		several := fstest.MapFS{}
		names := []string{"z first", "a second"}[:1+min(1, len(shuffled)-cut)]
		for i, part := range []rowsOf{shuffled[:cut], shuffled[cut:]}[:len(names)] {
			text := labelsText(part, rapid.SampledFrom([]string{",", ";", "\t"}).Draw(t, "delimiter"), rapid.Permutation(labelColumns).Draw(t, "columns"))
			several[names[i]] = &fstest.MapFile{Data: []byte(text)}
		}
		for name, f := range drawn {
			several[name] = f
		}
		got := decideLabels(t, several, names...)
		if diff := cmp.Diff(gates(t, want), gates(t, got)); diff != "" {
			t.Errorf("in one file (-), and in %q (+):\n%s", names, diff)
		}
		if got.Verdict != want.Verdict || got.ExitStatus != want.ExitStatus || *got.Counts != *want.Counts {
			t.Errorf("the verdict is %v, and %v", want.Verdict, got.Verdict)
		}
		for _, r := range []*report.Report{want, got} {
			doc, err := r.JSON()
			if err == nil {
				err = validate(schema, doc)
			}
			if err != nil {
				t.Errorf("the schema refuses the report: %#v", err)
			}
		}
		checkOneVerdict(t, got)
	})
}

// TestNamesOfLabelsDoNotMatter: other ids for items and people change nothing under gates.
func TestNamesOfLabelsDoNotMatter(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s := drawLabels(t)
		renamed := s.clone()
		for _, column := range []int{atItem, atAnnotator} {
			names := map[string]string{}
			fresh := rapid.Permutation([]string{"mike", "alpha", "zulu", "echo", "10", "9", "-1", "é", "{x}", "x y"}).Draw(t, "names")
			for i := range renamed {
				id := renamed[i][column]
				if names[id] == "" {
					names[id] = fresh[len(names)]
				}
				renamed[i][column] = names[id]
			}
		}
		of := func(s rowsOf) string {
			return gates(t, decideLabels(t, folder("policy.yaml", labelPolicy, "d.csv", labelsText(s, ",", labelColumns)), "d.csv"))
		}
		if diff := cmp.Diff(of(s), of(renamed)); diff != "" {
			t.Errorf("under the old names (-) and the new (+):\n%s", diff)
		}
	})
}

// annotatorStudies show every finding that there is about labels, and have every kind of error about a row.
var annotatorStudies = []struct {
	name, labels, draw, policy string
	status                     int  // of gate
	named                      bool // with --show-reviewers, somebody is named
}{
	{"every finding", `item,annotator,suggestion,label,visibility,kind,accepted,inclusion_probability
m1,@a,x,x,visible,,1,0.5
m1,@a,x,x,blind,,,0.5
m2,@a,x,y,blind,,1,0.3
m2,@a,x,x,blind,,,0.3
m3,@a,x,x,blind,audit,,0.1234567890123456789
m3,@a,x,x,visible,calibration,,
m4,@A,,X,blind,,,
m4,@b,x,NA,blind,,,
M4,@b,,x,visible,,,
m5,@b,x,,blind,,,
m5,@b,y,x,blind,audit,,
m5,@b,y,x,blind,certification,,
m9,@b,x,x,blind,,,
m9,@b,x,x,blind,audit,,
m7,@c,x,x,blind,,,
m8,@c,x,x,visible,,,
`, "item,visibility,inclusion_probability\nm1,blind,0.5\nm2,visible,0.4\nm3,blind,0.1234567890123456789\nm6,blind,0.5\nm4,blind,0.5\nM4,visible,0.5\nm5,blind,0.5\n",
		"rules: [{id: a, metric: visible_agreement, minimum: 0, per: item}, {id: b, metric: blind_agreement, minimum: 0.5, where: {item: nobody}}]\n", 3, true},
	{"no blind row", "item,annotator,suggestion,label,visibility\nm1,@a,x,x,visible\n", "", "rules: [{id: a, metric: visible_agreement, minimum: 0.9}]\n", 3, true},
	{"accepts everything", labelRows("annotator,suggestion,label,visibility", 12, "@a,x,x,visible", 8, "@a,x,y,blind", 3, "@b,x,x,blind"), "", "rules: [{id: a, metric: anchoring_gap, maximum: 0.9}]\n", 3, true},
	{"alike", labelRows("annotator,suggestion,label,visibility", 10, "@a,x,y,blind") + strings.TrimPrefix(labelRows("annotator,suggestion,label,visibility", 10, "@b,x,y,blind"), "item,annotator,suggestion,label,visibility\n"),
		"", "rules: [{id: a, metric: people_agreement, minimum: 0.1, where: {item: '1'}}]\n", 3, true},
	{"twice", "item,annotator,suggestion,label,visibility\nm1,@a,x,x,blind\nm1,@a,x,x,blind\n", "", "", 2, true},
	{"visibility", "item,annotator,suggestion,label,visibility\nm1,@a,x,x,seen\n,@a,x,x,\n", "", "", 2, false},
	{"times", "item,annotator,suggestion,label,visibility,started_at,labelled_at\nm1,@a,x,x,blind,10,5\nm2,@a,x,x,blind,soon,\n", "", "", 2, false},
	{"chances", "item,annotator,suggestion,label,visibility,inclusion_probability\nm1,@a,x,x,blind,0.5\nm1,@b,x,x,blind,0.4\nm2,@b,x,x,blind,2\n", "", "", 2, false},
	{"ragged", "item,annotator,suggestion,label,visibility\nm1,@a,x,x\nm2,@b,x,x,blind,more\n", "", "", 2, false},
	{"quotes", "item,annotator,suggestion,label,visibility\nm1,\"@a\"x,x,x,blind\nm2,@a\"b,x,x,blind\n", "", "", 2, false},
	{"not UTF-8", "item,annotator,suggestion,label,visibility\nm1,@a\xff,x,x,blind\n", "", "", 2, false},
	{"no header", "m1,@a,x,x,blind\n", "", "", 2, false},
	{"JSONL", `{"item":"m1","annotator":["@a"],"suggestion":"x"}` + "\n" + `{"annotator":"@a","annotator":"@b"}` + "\n" + `{"annotator":"@c"` + "\n", "", "", 2, false},
	{"a slice by annotator", "item,annotator,suggestion,label,visibility\nm1,@a,x,x,blind\nm1,@b,x,y,blind\n", "",
		"rules: [{id: a, metric: blind_agreement, minimum: 0.5, where: {annotator: nobody}}]\n", 2, false},
	{"a slice by the annotator's column", "item,person,suggestion,label,visibility\nm1,@a,x,x,blind\nm1,@b,x,y,blind\n", "",
		"columns: {annotator: person}\nrules: [{id: a, metric: blind_agreement, minimum: 0.5, where: {person: nobody}}]\n", 2, false},
}

// TestAnnotatorsStayUnnamed looks for annotators' ids in everything that is printed, in every form, with every finding and every
// kind of error. With --show-reviewers they are named.
func TestAnnotatorsStayUnnamed(t *testing.T) {
	codes := anchoringCodes(t)
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	for _, study := range annotatorStudies {
		t.Run(study.name, func(t *testing.T) {
			writeFile(t, "d.csv", withReviewers(study.labels))
			policy := study.policy
			if policy == "" {
				policy = "rules: [{id: a, metric: blind_agreement, minimum: 0.1}]\n"
			}
			writeFile(t, "policy.yaml", policy)
			var flags []string
			if study.draw != "" {
				writeFile(t, "draw.csv", study.draw)
				flags = []string{"--draw", "draw.csv"}
			}
			for _, verb := range []string{"check", "report", "gate"} {
				for _, form := range laidOut {
					args := append([]string{"anchoring", verb, "d.csv", "--policy", "policy.yaml", "--format", form}, flags...)
					status, stdout, stderr := runMain(args...)
					want := study.status
					if verb != "gate" && want != 2 {
						want = 0
					}
					if status != want {
						t.Errorf("%q ends with %d, want %d:\n%s%s", args, status, want, stdout, stderr)
					}
					if strings.Contains(strings.ToLower(stdout+stderr), strings.ToLower(secret)) {
						t.Errorf("%q names an annotator:\n%s%s", args, stdout, stderr)
					}
					if form == "json" {
						inOtherFormats(t, stdout, func(format, text string) {
							if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
								t.Errorf("%q as %s names an annotator:\n%s", args, format, text)
							}
						})
						var r report.Report
						if err := json.Unmarshal([]byte(stdout), &r); err != nil {
							t.Fatal(err)
						}
						for _, g := range r.Gates {
							for _, f := range g.Findings {
								seen[f.Code] = true
							}
						}
					}
					_, stdout, stderr = runMain(append(args, "--show-reviewers")...)
					if strings.Contains(stdout+stderr, secret) != study.named {
						t.Errorf("%q with --show-reviewers: somebody is named %v, want %v:\n%s%s", args, !study.named, study.named, stdout, stderr)
					}
				}
			}
		})
	}
	for _, code := range codes {
		// Told in other tests: a gap above 0, two people's agreement, and the policy's files.
		if !seen[code] && !slices.Contains([]string{"suggestions_move_people", "read_beside_people"}, code) {
			t.Errorf("no study here shows the finding %s", code)
		}
	}
}

// anchoringCodes reads from the sources which findings there are about labels.
func anchoringCodes(t *testing.T) []string {
	t.Helper()
	given := regexp.MustCompile(`(?:\.Add|AddForms|warn)\((?:\w+, )?"([a-z_]+)"`)
	names, err := filepath.Glob("../../engine/gate/anchoring/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range given.FindAllStringSubmatch(readAll(t, name), -1) {
			codes = append(codes, m[1])
		}
	}
	if len(codes) < 25 {
		t.Errorf("only %d findings were found in the sources: %q", len(codes), codes)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// TestHostileLabels puts hostile texts wherever a text of labels, draws and their policies comes from outside, and looks at
// everything that is printed.
func TestHostileLabels(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file names here hold characters that Windows does not allow")
	}
	for i, text := range hostileTexts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			q := func(s string) string { return quoteYAML(t, s) }
			name, id := q(text), text[:min(len(text), 200)]
			columns := []string{"item", "annotator", "suggestion", "label", "visibility", "kind", "inclusion_probability", "k" + id}
			good := [][]string{columns}
			for i := range 24 {
				item := fmt.Sprint(text, i)
				good = append(good, []string{item, text, text, text, "blind", "", "0.5", text}, []string{item, text + "2", text, text + "y", "blind", "audit", "", text},
					[]string{item + "v", text, text, text, "visible", "", "", text})
			}
			good = append(good, []string{text + "0", text, text, text, "visible", "verify", "", text}, []string{strings.ToUpper(text) + "v", text + "3", "", strings.ToUpper(text), "visible", "", "", ""})
			writeFile(t, "good.csv", csvText(t, good...))
			writeFile(t, "bad.csv", csvText(t, columns,
				[]string{text, text, text, text, text, text, text, text},
				[]string{text, text, text, text, "blind", "", "0.5", text}, []string{text, text, text, text, "blind", "", "0.4", text}, []string{text, text, text, text, "blind", "", "0.5", text}))
			writeFile(t, "draw.csv", csvText(t, []string{"item", "visibility", "inclusion_probability"}, []string{text + "0", "visible", "0.5"}, []string{text + "v", "blind", "0.5"}))
			writeFile(t, "baddraw.csv", csvText(t, []string{"item", "visibility", "inclusion_probability"}, []string{text, text, text}, []string{text, "blind", "1"}, []string{text, "blind", "1"}))
			writeFile(t, "policy.yaml", `
anchoring:
  name: `+name+`
  labels: `+name+`
  draw: `+name+`
  model: `+name+`
  guideline: `+name+`
  rules:
    - {id: `+q(id)+`, metric: blind_agreement, minimum: 0.1, where: {`+q("k"+id)+`: `+name+`}, waive: {until: 2099-01-01, owner: `+name+`, reason: `+name+`}}
    - {id: absent, metric: visible_agreement, minimum: 0.1, where: {`+q("k"+id)+`: `+q(text+"no")+`}}
    - {id: people, metric: people_agreement, minimum: 0.1}
`)
			writeFile(t, "wrong.yaml", `
anchoring:
  labels: [`+name+`]
  columns: {`+name+`: `+name+`}
  valid_until: `+name+`
  corpus_size: `+name+`
  `+q("z"+id)+`: 1
  rules:
    - {id: a, metric: `+q("b"+text)+`, minimum: 0.1, per: `+name+`}
    - {id: b, metric: blind_agreement, minimum: 0.1, where: {label: `+name+`}}
`)
			for at, args := range [][]string{
				{"anchoring", "gate", "good.csv", "--policy", "policy.yaml"},
				{"anchoring", "gate", "good.csv", "--policy", "policy.yaml", "--draw", "draw.csv", "--show-reviewers"},
				{"anchoring", "check", "good.csv", "--draw", "draw.csv"},
				{"anchoring", "report", "good.csv"},
				{"anchoring", "check", "bad.csv", "--show-reviewers"},
				{"anchoring", "check", "good.csv", "--draw", "baddraw.csv"},
				{"anchoring", "gate", "bad.csv", "--policy", "wrong.yaml", "--draw", "baddraw.csv"},
				{"gate", "policy.yaml"},
				{"policy", "check", "policy.yaml", "wrong.yaml"},
				{"anchoring", "gate", text, "--policy", "policy.yaml"},
				{"anchoring", "check", "good.csv", "--draw", text},
				{"anchoring", "draw", "--items", "good.csv", "--rate", text, "--minimum", text, "--seed", text, "--previous", "baddraw.csv"},
				{"anchoring", "verify", text, "good.csv", "--policy", text},
				{"anchoring", text},
			} {
				forms := []string{""} // what is alike is looked at in one form
				if slices.Contains([]int{1, 4, 6}, at) {
					forms = laidOut
				}
				for _, form := range forms {
					full := args
					if form != "" {
						full = append(slices.Clip(args), "--format", form)
					}
					status, stdout, stderr := runMain(full...)
					what := fmt.Sprintf("%.200q, exit %d", full, status)
					if usable := len(args) > 2 && args[2] == "good.csv" && !slices.Contains(args, "baddraw.csv") && !slices.Contains(args, text); usable != (status != 2) {
						t.Errorf("%s: want it usable %v\n%.3000s", what, usable, stderr)
					}
					checkTame(t, what+", standard output", stdout, form == "json")
					checkTame(t, what+", standard error", stderr, false)
					if form == "json" && stdout != "" {
						inOtherFormats(t, stdout, func(format, text string) { checkTame(t, what+" as "+format, text, false) })
					}
					if form == "markdown" {
						checkMarkdown(t, what, stdout)
					}
					if form == "json" && args[1] == "gate" && status != 2 {
						var r report.Report
						if err := json.Unmarshal([]byte(stdout), &r); err != nil {
							t.Fatal(err)
						}
						g := r.Gates[0]
						got := []string{g.Name, g.Settings["model"], g.Rules[0].ID, g.Rules[0].Labels["where"]}
						if want := []string{text, text, id, "k" + id + "=" + strings.TrimSpace(text)}; !slices.EqualFunc(got, want, func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }) {
							t.Errorf("%s: name, model, id and slice are %q, want %q", what, got, want)
						}
					}
				}
			}
		})
	}
}

// labelStep lays out a workspace with labels that pass, labels that fail, a draw and policies.
func labelStep(t *testing.T) *step {
	t.Helper()
	s := newStep(t)
	const columns = "annotator,suggestion,label,visibility"
	const rules = "rules:\n  - {id: right, metric: blind_agreement, minimum: 0.8}\n"
	s.put("study/labels.csv", labelRows(columns, 40, "ana,x,x,blind", 10, "ana,x,x,visible"))
	s.put("study/wrong.csv", labelRows(columns, 40, "ana,x,y,blind"))
	s.put("study/few.csv", labelRows(columns, 10, "ana,x,x,blind"))
	draw := func(blind int) string {
		text := "item,visibility\n"
		for i := range 100 {
			text += fmt.Sprintf("%d,%s\n", i+1, map[bool]string{true: "blind", false: "visible"}[i < blind])
		}
		return text
	}
	s.put("study/draw.csv", draw(40))
	s.put("study/other.csv", draw(30))
	s.put("study/section.yaml", "anchoring:\n  name: letters\n  labels: labels.csv\n  draw: draw.csv\n  "+strings.ReplaceAll(strings.TrimSpace(rules), "\n", "\n  ")+"\n")
	s.put("study/bare.yaml", rules)
	s.put("study/named.yaml", "labels: labels.csv\ndraw: draw.csv\n"+rules)
	s.put("both.yaml", "human_ai: {decisions: data/decisions.csv, rules: [{id: mostly-right, metric: accuracy_with, minimum: 0.6}]}\n"+
		"anchoring:\n  labels: study/wrong.csv\n  "+strings.ReplaceAll(strings.TrimSpace(rules), "\n", "\n  ")+"\n")
	return s
}

// TestActionAnchoring goes through the ways in which a policy, decisions, draw and gate go together.
func TestActionAnchoring(t *testing.T) {
	tests := []struct {
		name                          string
		policy, decisions, draw, gate string
		status                        int
		verdict, failing              string
		inputs                        []string // that were read
		want                          string   // in the logs
	}{
		{"a section", "study/section.yaml", "", "", "", 0, "PASS", `[]`, []string{"study/labels.csv", "study/draw.csv"}, "letters"},
		{"a section and its gate", "study/section.yaml", "", "", "anchoring", 0, "PASS", `[]`, []string{"study/labels.csv", "study/draw.csv"}, ""},
		{"another draw", "study/section.yaml", "", "study/other.csv", "anchoring", 4, "MANUAL_REVIEW", `["right"]`, []string{"study/labels.csv", "study/other.csv"}, "`draw: draw.csv` was not read"},
		{"another draw without a gate", "study/section.yaml", "", "study/other.csv", "", 2, "NO_VERDICT", `[]`, nil, "input draw is given, but not which section of study/section.yaml it belongs to: name anchoring in input gate, or leave draw empty"},
		{"other labels", "study/section.yaml", "study/wrong.csv", "", "anchoring", 4, "MANUAL_REVIEW", `["right"]`, []string{"study/wrong.csv"}, "`draw: draw.csv` was not read"},
		{"other labels and a draw", "study/section.yaml", "study/wrong.csv", "study/draw.csv", "anchoring", 1, "FAIL", `["right"]`, []string{"study/wrong.csv", "study/draw.csv"}, ""},
		{"bare rules, labels and a draw", "study/bare.yaml", "study/labels.csv", "study/draw.csv", "anchoring", 0, "PASS", `[]`, []string{"study/labels.csv", "study/draw.csv"}, ""},
		{"bare rules and labels", "study/bare.yaml", "study/labels.csv", "", "anchoring", 0, "PASS", `[]`, []string{"study/labels.csv"}, ""},
		{"bare rules that name their files", "study/named.yaml", "", "", "anchoring", 0, "PASS", `[]`, []string{"study/labels.csv", "study/draw.csv"}, ""},
		{"bare rules alone", "study/bare.yaml", "", "", "anchoring", 2, "NO_VERDICT", `[]`, nil, "input decisions is empty, and study/bare.yaml names no files of its own"},
		{"bare rules of another gate", "study/bare.yaml", "study/labels.csv", "", "", 2, "NO_VERDICT", `[]`, nil, "blind_agreement"},
		{"too few", "study/bare.yaml", "study/few.csv", "", "anchoring", 3, "INSUFFICIENT_EVIDENCE", `["right"]`, []string{"study/few.csv"}, "minimum_blind_sample"},
		{"a release file", "both.yaml", "", "", "", 1, "FAIL", `["right"]`, []string{"data/decisions.csv", "study/wrong.csv"}, ""},
		{"one section of it", "both.yaml", "study/labels.csv", "study/draw.csv", "anchoring", 0, "PASS", `[]`, []string{"study/labels.csv", "study/draw.csv"}, ""},
		{"a draw for another gate", "both.yaml", "", "study/draw.csv", "human-ai", 2, "NO_VERDICT", `[]`, nil, "input draw is for the gate anchoring, and human-ai is asked: name anchoring in input gate, or leave draw empty"},
		{"a draw for the default gate", "pass.yaml", "data/decisions.csv", "study/draw.csv", "", 2, "NO_VERDICT", `[]`, nil, "input draw is for the gate anchoring"},
		{"a draw that is not there", "study/bare.yaml", "study/labels.csv", "absent.csv", "anchoring", 2, "NO_VERDICT", `[]`, nil, "absent.csv: there is no such file"},
		{"a draw outside the workspace", "study/bare.yaml", "study/labels.csv", "../draw.csv", "anchoring", 2, "NO_VERDICT", `[]`, nil, `input draw: "../draw.csv" leads out of the workspace`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := labelStep(t)
			s.check(s.run("policy", test.policy, "decisions", test.decisions, "draw", test.draw, "gate", test.gate, "json", "out.json"), test.status, test.verdict)
			if out := s.outputs(); out["failing-rules"] != test.failing || out["exit-code"] != fmt.Sprint(test.status) || out["reporting-problems"] != "[]" {
				t.Errorf("outputs %q", out)
			}
			if text := s.stdout.String() + s.stderr.String(); !strings.Contains(strings.Join(strings.Fields(text), " "), test.want) {
				t.Errorf("the log has no %q:\n%s", test.want, text)
			}
			doc := readAll(t, filepath.Join(s.workspace, "out.json"))
			if err := validate(reportSchema(t), []byte(doc)); err != nil {
				t.Errorf("the schema refuses the report: %#v", err)
			}
			var r report.Report
			if err := json.Unmarshal([]byte(doc), &r); err != nil {
				t.Fatal(err)
			}
			var inputs []string
			for _, in := range r.Inputs {
				inputs = append(inputs, in.Path)
			}
			if diff := cmp.Diff(test.inputs, inputs); diff != "" {
				t.Errorf("what was read (-want +got)\n%s", diff)
			}
		})
	}

	t.Run("a draw by a link out of the workspace", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("symbolic links need a privilege on Windows")
		}
		s := labelStep(t)
		outside := t.TempDir()
		writeFile(t, filepath.Join(outside, "draw.csv"), "item,visibility\nsecret-outside,blind\n")
		if err := os.Symlink(filepath.Join(outside, "draw.csv"), filepath.Join(s.workspace, "link.csv")); err != nil {
			t.Fatal(err)
		}
		s.check(s.run("policy", "study/bare.yaml", "decisions", "study/labels.csv", "draw", "link.csv", "gate", "anchoring"), 2, "NO_VERDICT")
		if text := s.stdout.String() + s.stderr.String(); strings.Contains(text, "secret-outside") {
			t.Errorf("the log shows what lies outside:\n%s", text)
		}
	})
}

package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/example"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/ledger"
	"github.com/oloproof/oloproof/engine/report"
)

// readLooks reads a ledger that must be whole.
func readLooks(t *testing.T, name string) []ledger.Look {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	diags := &diag.List{}
	l := ledger.Read(name, data, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return l.Looks
}

// rulesOf are the rules of a look, as JSON.
func rulesOf(t *testing.T, look ledger.Look) string {
	t.Helper()
	text, err := json.MarshalIndent(look.Rules, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLedgerOfEveryGate decides every gate's example with rules of every kind. The ledger has as many units as the report, holds no
// name or id of the files, even where names are shown, and is the same whatever the order of the rows and however they lie in files.
func TestLedgerOfEveryGate(t *testing.T) {
	// What the examples do not have: rules whose units are others.
	more := map[string]string{
		"human-ai": `
  - {id: pooled, metric: agreement, minimum: 0.5}
  - {id: both, metric: accuracy_difference, generalize: people_and_cases, minimum: 0}
  - {id: system, metric: system_accuracy, minimum: 0.5}
  - {id: planned, metric: agreement, per: person, minimum: 0.5, looks: once, planned: 12}
`,
		"anchoring": `
  - {id: gap, metric: anchoring_gap, maximum: 0.5}
  - {id: blind, metric: blind_agreement, per: label, minimum: 0.5}
  - {id: people, metric: blind_agreement, per: person, minimum: 0.5}
`,
		"compare": `
  - {id: signs, metric: sign_test}
  - {id: signs-again, metric: sign_test, looks: repeated}
  - {id: one, metric: rate, minimum: 0.1, version: baseline}
  - {id: some, metric: pass_at_k, k: 2, minimum: 0.1}
  - {id: all, metric: pass_all_k, k: 5, minimum: 0.1}
`,
		"fairness": `
  - {id: moves, rate: precision, attribute: sex, max_group_gap: 0.2}
  - {id: again, rate: selection, attribute: sex, max_group_gap: 0.2, looks: repeated}
  - {id: pair, rate: selection, attribute: age_band, max_group_gap: 0.2, interval: pairwise}
`,
	}
	for _, e := range example.All() {
		t.Run(e.Gate, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if status, _, told := runMain("init", "--example", e.Gate, "study"); status != 0 {
				t.Fatal(told)
			}
			rowsOf := map[string]string{"human-ai": "decisions.csv", "anchoring": "labels.csv", "compare": "trials.csv", "fairness": "decided.csv"}
			policy, data := filepath.Join("study", e.Policy()), filepath.Join("study", rowsOf[e.Gate])
			text, err := os.ReadFile(policy)
			if err != nil {
				t.Fatal(err)
			}
			_, rules, _ := strings.Cut(string(text), "rules:") // they are indented as the example's own are
			rules = rules[:strings.Index(rules, "- ")]
			before := rules[strings.LastIndex(rules, "\n"):]
			writeFile(t, policy, strings.TrimRight(string(text), "\n")+strings.ReplaceAll(more[e.Gate], "\n  ", before))
			decide := func(to string, files ...string) *report.Report {
				t.Helper()
				args := append([]string{e.Gate, "gate"}, files...)
				if e.Declared() {
					args = append([]string{e.Gate, "gate", policy}, files...)
				} else {
					args = append(args, "--policy", policy)
				}
				if e.Gate == "anchoring" {
					args = append(args, "--draw", "study/draw.csv")
				}
				if e.Gate != "compare" {
					args = append(args, "--show-reviewers")
				}
				status, out, told := runMain(append(args, "--ledger", to, "--json")...)
				r, err := report.Parse([]byte(out))
				if err != nil || status == report.ExitUnusable {
					t.Fatalf("exit %d, %v\n%s%s", status, err, out, told)
				}
				return r
			}
			r := decide("l.jsonl", data)
			looks := readLooks(t, "l.jsonl")
			if len(looks) != 1 {
				t.Fatalf("%d looks", len(looks))
			}
			seen := map[string]ledger.Rule{}
			for _, rule := range looks[0].Rules {
				seen[rule.ID] = rule
			}
			for rule := range r.Rules() {
				of, found := seen[rule.ID]
				if found != (rule.Interval != nil || rule.PValue != nil) || found != (rule.Look != nil) {
					t.Errorf("rule %s is in the ledger: %v", rule.ID, found)
					continue
				}
				want := *rule.Units
				switch {
				case rule.Labels["generalize"] != "": // the ledger has every cell of 8 people and 30 cases
					want = 8 * 30
				case rule.Metric == "precision": // also the cases outside of the denominator, which a prediction would put there
					want = r.Gates[0].Data.Of("labelled")
				}
				if of.Units != want || of.Verdict != rule.Verdict || rule.Look.Change != report.LookFirst {
					t.Errorf("rule %s has %d units and %s in the ledger, %d and %s in the report, %+v", rule.ID, of.Units, of.Verdict, want, rule.Verdict, rule.Look)
				}
			}
			rows, err := os.ReadFile(data)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(rows)), "\n")
			book, err := os.ReadFile("l.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			names := 0
			for _, line := range lines[1:] {
				cells := strings.Split(line, ",")
				for _, name := range cells[:2] { // ids, people, versions
					if len(name) > 1 {
						names++
						if strings.Contains(string(book), `"`+name+`"`) || len(name) > 3 && strings.Contains(string(book), name) {
							t.Fatalf("the ledger names %q", name)
						}
					}
				}
			}
			if names < 100 {
				t.Errorf("%d names were looked for", names)
			}

			random := rand.New(rand.NewPCG(3, 4))
			random.Shuffle(len(lines)-1, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
			half := len(lines) / 3
			writeFile(t, "one.csv", strings.Join(lines[:half], "\n")+"\n")
			writeFile(t, "two.csv", lines[0]+"\n"+strings.Join(lines[half:], "\n")+"\n")
			decide("split.jsonl", "one.csv", "two.csv")
			if diff := cmp.Diff(rulesOf(t, looks[0]), rulesOf(t, readLooks(t, "split.jsonl")[0])); diff != "" {
				t.Errorf("in another order, and two files (-one +two):\n%s", diff)
			}
			if again := decide("l.jsonl", "two.csv", "one.csv"); again.Ledger.Appended {
				t.Error("the same data are another look")
			}
		})
	}
	if len(example.All()) != len(kinds.All()) {
		t.Error("not every gate has an example")
	}
}

// TestLedgerIsNotLost: a ledger that changes while a run decides keeps what somebody else added; where it cannot be written the run
// that passes ends with 2, and says so.
func TestLedgerIsNotLost(t *testing.T) {
	t.Chdir(t.TempDir())
	b := &book{path: "l.jsonl", place: "l.jsonl", ledger: &ledger.Ledger{}, now: []byte("new\n")}
	r := report.New("1.0.0")
	r.Ledger = &report.Ledger{Path: "l.jsonl", Appended: true}
	writeFile(t, "l.jsonl", "somebody's\n")
	err := b.write(nil, r, addWhole)
	if err == nil || !strings.Contains(err.Error(), "it has changed since this run read it; run again") || r.Ledger.Appended {
		t.Errorf("got %v, appended %v", err, r.Ledger.Appended)
	}
	if text, err := os.ReadFile("l.jsonl"); err != nil || string(text) != "somebody's\n" {
		t.Errorf("the ledger is %q, %v", text, err)
	}
	err = (&book{path: "l.jsonl", place: "l.jsonl", was: []byte("somebody's\n"), now: []byte("new\n")}).write(nil, r, func(string, []byte, func() error) error { return fmt.Errorf("no room") })
	if err == nil || !strings.Contains(err.Error(), "cannot add this look to the ledger l.jsonl: no room") {
		t.Errorf("got %v", err)
	}
}

// TestLedgerTwoAtOnce: of runs that add to a ledger at once each says truly whether its look is in it, whichever of them are quick
// enough; the one that finds another at it says what to do.
func TestLedgerTwoAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	const runs = 8
	for range 20 {
		if err := os.RemoveAll("l.jsonl"); err != nil {
			t.Fatal(err)
		}
		var added [runs]bool
		var wait sync.WaitGroup
		for i := range runs {
			wait.Go(func() {
				r := report.New("1.0.0")
				r.Ledger = &report.Ledger{Path: "l.jsonl", Appended: true}
				b := &book{path: "l.jsonl", place: "l.jsonl", now: fmt.Appendf(nil, "run %d\n", i)}
				err := b.write(nil, r, addWhole)
				if added[i] = err == nil; added[i] != r.Ledger.Appended {
					t.Errorf("run %d: error %v, appended %v", i, err, r.Ledger.Appended)
				}
			})
		}
		wait.Wait()
		text, err := os.ReadFile("l.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for i, is := range added {
			if is != (string(text) == fmt.Sprintf("run %d\n", i)) {
				t.Fatalf("run %d: added %v, and the ledger is %q", i, is, text)
			}
		}
	}
	writeFile(t, adding("l.jsonl"), "half")
	r := report.New("1.0.0")
	r.Ledger = &report.Ledger{Path: "l.jsonl", Appended: true}
	err := (&book{path: "l.jsonl", place: "l.jsonl", now: []byte("new\n")}).write(nil, r, addWhole)
	if err == nil || !strings.Contains(err.Error(), "another run is adding its look, or was stopped while it did; run again, and where none is running remove .oloproof-adding-") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(adding("l.jsonl")); err != nil || string(text) != "half" {
		t.Errorf("another run's file is %q, %v", text, err)
	}
}

// TestLedgerShow: no line is wider than 80 columns, of rules of many kinds; a line that was changed is named, the last one too.
func TestLedgerShow(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, told := runMain("init", "--example", "fairness", "study"); status != 0 {
		t.Fatal(told)
	}
	for _, day := range []string{"2027-03-01", "2027-03-02"} {
		if status, _, told := runMain("fairness", "gate", "study/fairness.yaml", "--ledger", "l.jsonl", "--today", day, "--quiet"); status == report.ExitUnusable {
			t.Fatal(told)
		}
		rows, err := os.ReadFile("study/decided.csv")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(rows), "\n")
		writeFile(t, "study/decided.csv", strings.Join(lines[:len(lines)-3], "")) // two are taken out
	}
	status, out, told := runMain("ledger", "show", "l.jsonl")
	if status != 0 {
		t.Fatal(told)
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"for one look, wrong at most 5 % of the time", "2     2027-03-02  2     changed  ", "no bound"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile("l.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line, day := range []string{"2027-03-01", "2027-03-02"} {
		writeFile(t, "changed.jsonl", strings.Replace(string(text), day, "2027-03-03", 1))
		status, _, told := runMain("ledger", "check", "changed.jsonl")
		if want := fmt.Sprintf("changed.jsonl:%d: it was changed after it was written", line+1); status != 2 || strings.Count(told, "changed.jsonl:") != 1 || !strings.Contains(told, want) {
			t.Errorf("exit %d, want %s\n%s", status, want, told)
		}
	}
}

// TestLedgerIsNoOtherFile: a certificate does not go where the ledger is kept, which is said before anything is decided.
func TestLedgerIsNoOtherFile(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, stderr := runMain("anchoring", "gate", "labels.csv", "--policy", "policy.yaml", "--ledger", "kept/l.jsonl", "--certificate", "./kept/../kept/l.jsonl")
	if status != 2 || !strings.Contains(stderr, "--certificate: ./kept/../kept/l.jsonl is the ledger of --ledger; give the certificate a path of its own") {
		t.Errorf("exit %d\n%s", status, stderr)
	}
}

// TestActionLedgerIsNoLink: a step does not write through a link, nor in its place, and says so; the verdict stays.
func TestActionLedgerIsNoLink(t *testing.T) {
	s := newStep(t)
	s.put("kept/real.jsonl", "")
	if err := os.Symlink("real.jsonl", filepath.Join(s.workspace, "kept", "ledger.jsonl")); err != nil {
		t.Fatal(err)
	}
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "ledger", "kept/ledger.jsonl"), 0, "PASS")
	if text := s.text("kept/real.jsonl"); text != "" || !strings.Contains(s.stderr.String(), "it is a link; a step writes to a file of its own") {
		t.Errorf("the file is %q\n%s", text, &s.stderr)
	}
	if _, err := os.Readlink(filepath.Join(s.workspace, "kept", "ledger.jsonl")); err != nil {
		t.Error("the link was replaced")
	}
}

// TestActionLedger: a step adds its look to the file in the workspace, in a pull request it only reads it, and it is no file of
// a report.
func TestActionLedger(t *testing.T) {
	s := newStep(t)
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "ledger", "kept/ledger.jsonl"), 0, "PASS")
	first := s.text("kept/ledger.jsonl")
	if strings.Count(first, "\n") != 1 || !strings.Contains(s.stdout.String(), "Ledger kept/ledger.jsonl: 0 looks before this one, which is added.") {
		t.Errorf("the ledger is %q\n%s", first, &s.stdout)
	}
	if left, err := filepath.Glob(filepath.Join(s.workspace, "kept", ".oloproof*")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	rows := strings.TrimRight(s.text("data/decisions.csv"), "\n")
	for i := range 20 {
		rows += fmt.Sprintf("\nmore%d,other%d,with,yes,yes,yes", i, i)
	}
	s.put("data/decisions.csv", rows+"\n")
	pull := s.env["GITHUB_REF"]
	s.env["GITHUB_REF"], s.env["GITHUB_EVENT_NAME"] = "refs/pull/7/merge", "pull_request"
	s.check(s.run("github-token", ""), 0, "PASS")
	if s.text("kept/ledger.jsonl") != first {
		t.Error("a pull request wrote the ledger")
	}
	if out := s.stdout.String(); !strings.Contains(out, "Ledger kept/ledger.jsonl: 1 look; this one is not added.") || !strings.Contains(out, "[looks_again]") {
		t.Errorf("the log is\n%s", out)
	}
	s.check(s.run("ledger-read-only", "false"), 0, "PASS")
	if !strings.HasPrefix(s.text("kept/ledger.jsonl"), first) || strings.Count(s.text("kept/ledger.jsonl"), "\n") != 2 {
		t.Errorf("the ledger is %q", s.text("kept/ledger.jsonl"))
	}
	s.env["GITHUB_REF"], s.env["GITHUB_EVENT_NAME"] = pull, "push"
	for _, c := range []struct{ name, value, want string }{
		{"json", "kept/ledger.jsonl", `input json: "kept/ledger.jsonl" is the ledger of input ledger`},
		{"ledger-read-only", "perhaps", `input ledger-read-only: "perhaps" is not allowed`},
		{"ledger", "../out.jsonl", `input ledger: "../out.jsonl" leads out of the workspace`},
		{"ledger", "", "input ledger-read-only: it is for the file of input ledger, which is empty"},
		{"ledger", "data/decisions.csv", `data/decisions.csv:1: it begins with`},
	} {
		before := map[string]string{"json": "", "ledger": "kept/ledger.jsonl", "ledger-read-only": "false"}
		s.stderr.Reset()
		status := s.run(c.name, c.value)
		if status != 2 || !strings.Contains(s.stderr.String(), c.want) {
			t.Errorf("%s %q ends with %d\n%s", c.name, c.value, status, &s.stderr)
		}
		s.run(c.name, before[c.name])
	}
	if strings.Count(s.text("kept/ledger.jsonl"), "\n") != 2 {
		t.Error("a step that decided nothing wrote the ledger")
	}
}

// TestActionLedgerOfTheBase: a pull request that takes looks out of the ledger loosens what is asked, and is told to; one that keeps them
// is not, and what keeps the two from being compared is told.
func TestActionLedgerOfTheBase(t *testing.T) {
	const name = "kept/ledger.jsonl"
	var text string // two looks: at 40 decisions and at 60
	{
		s := newStep(t)
		s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "ledger", name), 0, "PASS")
		rows := strings.TrimRight(s.text("data/decisions.csv"), "\n")
		for i := range 20 {
			rows += fmt.Sprintf("\nmore%d,other%d,with,yes,yes,yes", i, i)
		}
		s.put("data/decisions.csv", rows+"\n")
		s.check(s.run(), 0, "PASS")
		text = s.text(name)
	}
	first, second, two := strings.Cut(text, "\n")
	if !two || strings.Count(second, "\n") != 1 {
		t.Fatalf("the ledger is %q", text)
	}
	lacks := "The ledger lacks looks of the one on the base branch main, and what they cost is not counted in this verdict: look "
	const large = 1<<20 + 1
	tests := []struct {
		what, base, own string // a file with nothing in it is not there
		loosens, note   string
	}{
		{"the same", text, text, "", ""},
		{"none on the base branch", "", text, "", ""},
		{"one look more", first + "\n", text, "", ""},
		{"taken away", text, "", lacks + "1 of the older ledger", ""},
		{"cut", text, first + "\n", lacks + "2 of the older ledger", ""},
		{"the base's is not whole", second, text, "", "on the base branch main it could not be read: it is not whole."},
		{"the base's is too large to be read", text + strings.Repeat(" ", large), text, "", "it is larger than 1 MiB; `oloproof ledger check --base` compares"},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			s, g := pullRequest(t, "pass.yaml")
			if test.base != "" {
				g.files[baseCommit+":"+name] = test.base
			}
			if test.own != "" {
				s.put(name, test.own)
			}
			s.check(s.run("ledger", name, "json", "report.json"), 0, "PASS")
			loosened := ""
			for _, c := range s.written("report.json").PolicyChanges {
				if !c.Loosens || c.Position.File != name {
					t.Errorf("a change %+v", c)
				}
				loosened += c.Message
			}
			if (loosened == "") != (test.loosens == "") || !strings.Contains(loosened, test.loosens) {
				t.Errorf("what is loosened is %q, want %q", loosened, test.loosens)
			}
			log := s.stdout.String()
			if want := fmt.Sprint(test.loosens != ""); s.outputs()["policy-loosened"] != want || strings.Contains(log, "::warning file="+name+",title=This change loosens the policy::") != (want == "true") {
				t.Errorf("loosened is not told as %s: outputs %q\n%s", want, s.outputs(), log)
			}
			if strings.Contains(log, "Whether looks of the ledger") != (test.note != "") || !strings.Contains(log, test.note) {
				t.Errorf("want the note %q in\n%s", test.note, log)
			}
		})
	}
	// A policy that the base branch does not have, so that there is nothing but the ledger to compare with.
	t.Run("a new policy", func(t *testing.T) {
		s, g := pullRequest(t, "pass.yaml")
		g.files = map[string]string{baseCommit + ":" + name: text}
		s.check(s.run("ledger", name, "json", "report.json"), 0, "PASS")
		r := s.written("report.json")
		if len(r.PolicyChanges) != 1 || r.PolicyBase == nil || r.PolicyBase.Path != "main:"+name || r.PolicyBase.SHA256 != sha256Of(text) {
			t.Errorf("the changes are %+v, against %+v", r.PolicyChanges, r.PolicyBase)
		}
		schema, err := compileReportSchema()
		if err != nil {
			t.Fatal(err)
		}
		printed, err := jsonschema.UnmarshalJSON(strings.NewReader(s.text("report.json")))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(printed); err != nil {
			t.Error(err)
		}
	})
	t.Run("without a token", func(t *testing.T) {
		s, _ := pullRequest(t, "pass.yaml")
		s.check(s.run("ledger", name, "github-token", ""), 0, "PASS")
		if want := "Whether looks of the ledger " + name + " are taken out cannot be told: on the base branch main it could not be read: there is no token"; !strings.Contains(s.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stdout)
		}
	})
}

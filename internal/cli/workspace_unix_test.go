//go:build unix

package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/oloproof/oloproof/engine/policy"
)

// place is somewhere that a step takes the path of a file from.
type place struct {
	file   string   // the file that it names where all is well
	policy string   // written to asked.yaml, with %s for the path as a YAML scalar; "" where an input has the path
	inputs []string // name, value, …; %s is the path
	plain  bool     // the path is no glob
	writes bool     // the file is written: it need not be there
}

// studyFiles are a workspace in which every place of places has a file that it can use.
func studyFiles(t *testing.T) map[string]string {
	t.Helper()
	decisions := singles(40, 38)
	assigned := "reviewer,case,condition,position\n"
	for i := range 40 {
		assigned += fmt.Sprintf("person-%02d,case-%02d,with,1\n", i, i)
	}
	const fairness = "attributes: {sex: [f, m]}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5}]\n"
	cases := caseRows("label,prediction,sex", 200, "1,1,f", 200, "1,1,m")
	old, recent := "case,passed\n", "case,passed\n"
	for i := range 200 {
		old += fmt.Sprintf("c%d,0\n", i)
		recent += fmt.Sprintf("c%d,1\n", i)
	}
	files := map[string]string{
		"policy.yaml":    "rules: [{id: mostly-right, metric: accuracy_with, minimum: 0.6}]\n",
		"declared.yaml":  "cases: cases.csv\n" + fairness,
		"beside.yaml":    "min_cell: 1\nrules: [{id: b, rate: error, attribute: sex, max_group_gap: 0.5}]\n",
		"decisions.csv":  decisions,
		"assignment.csv": assigned,
		"labels.csv":     strings.ReplaceAll(labelRows("annotator,suggestion,label,visibility", 40, "ana,x,x,blind", 60, "ana,x,x,visible"), "\r", ""),
		"draw.csv":       drawRows(40, "blind,0.4", 60, "visible,0.4"),
		"trials.csv":     trialsOf(old, recent),
		"old.csv":        old,
		"new.csv":        recent,
		"cases.csv":      cases,
		"part.json":      mustCount(t, fairnessGate(), folder("policy.yaml", fairness, "c.csv", cases), "c.csv"),
		"ledger.jsonl":   "",
	}
	s := newStep(t)
	for name, text := range files {
		s.put(name, text)
	}
	s.check(s.run("policy", "policy.yaml", "decisions", "decisions.csv", "json", "report.json"), 0, "PASS")
	files["report.json"] = s.text("report.json")
	return files
}

// trialsOf puts the trials of two versions into one file.
func trialsOf(old, recent string) string {
	text := "version,case,passed\n"
	for version, rows := range map[string]string{"old": old, "new": recent} {
		for line := range strings.Lines(rows) {
			if !strings.HasPrefix(line, "case,") {
				text += version + "," + line
			}
		}
	}
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines[1 : len(lines)-1])
	return strings.Join(lines, "")
}

// Rules that the files of studyFiles meet, with what the gate needs beside them.
const (
	humanAIRules   = "rules: [{id: a, metric: accuracy_with, minimum: 0.6}]"
	anchoringRules = "rules: [{id: a, metric: blind_agreement, minimum: 0.85, corpus_size: 100}]"
	compareRules   = "rules: [{id: a, metric: sign_test}]"
	fairnessRules  = "attributes: {sex: [f, m]}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5}]"
)

// places are all places, by "input:NAME" and "policy:KEY". TestPlacesAreAll holds them to action.yml and to the policy's schema.
func places() map[string]place {
	asked := []string{"policy", "asked.yaml"}
	all := map[string]place{
		"input:policy":            {file: "policy.yaml", inputs: []string{"policy", "%s", "decisions", "decisions.csv"}, plain: true},
		"input:declaration":       {file: "declared.yaml", inputs: []string{"policy", "beside.yaml", "declaration", "%s"}, plain: true},
		"input:decisions":         {file: "decisions.csv", inputs: []string{"policy", "policy.yaml", "decisions", "%s"}},
		"input:tally":             {file: "part.json", inputs: []string{"policy", "declared.yaml", "tally", "%s"}},
		"input:assignment":        {file: "assignment.csv", inputs: []string{"policy", "policy.yaml", "decisions", "decisions.csv", "assignment", "%s"}},
		"input:draw":              {file: "draw.csv", policy: "labels: labels.csv\n" + anchoringRules, inputs: []string{"policy", "asked.yaml", "draw", "%s"}},
		"input:baseline":          {file: "old.csv", policy: compareRules, inputs: []string{"policy", "asked.yaml", "gate", "compare", "baseline", "%s", "candidate", "new.csv"}},
		"input:candidate":         {file: "new.csv", policy: compareRules, inputs: []string{"policy", "asked.yaml", "gate", "compare", "baseline", "old.csv", "candidate", "%s"}},
		"input:working-directory": {file: ".", inputs: []string{"working-directory", "%s", "policy", "policy.yaml", "decisions", "decisions.csv"}, plain: true},
		"input:baseline-report":   {file: "report.json", inputs: []string{"policy", "policy.yaml", "decisions", "decisions.csv", "baseline-report", "%s"}, plain: true},
		"input:ledger":            {file: "ledger.jsonl", inputs: []string{"policy", "policy.yaml", "decisions", "decisions.csv", "ledger", "%s"}, plain: true, writes: true},
		"input:from-report":       {file: "report.json", inputs: []string{"from-report", "%s", "pr-number", "7", "comment", "always"}, plain: true},

		"policy:decisions":  {file: "decisions.csv", policy: "decisions: %s\n" + humanAIRules, inputs: asked},
		"policy:assignment": {file: "assignment.csv", policy: "decisions: decisions.csv\nassignment: %s\n" + humanAIRules, inputs: asked, plain: true},
		"policy:labels":     {file: "labels.csv", policy: "labels: %s\ndraw: draw.csv\n" + anchoringRules, inputs: asked},
		"policy:draw":       {file: "draw.csv", policy: "labels: labels.csv\ndraw: %s\n" + anchoringRules, inputs: asked, plain: true},
		"policy:trials":     {file: "trials.csv", policy: "trials: %s\nbaseline: old\ncandidate: new\n" + compareRules, inputs: asked},
		"policy:baseline":   {file: "old.csv", policy: "compare: {baseline: %s, candidate: new.csv, " + compareRules + "}\n", inputs: asked, plain: true},
		"policy:candidate":  {file: "new.csv", policy: "compare: {baseline: old.csv, candidate: %s, " + compareRules + "}\n", inputs: asked, plain: true},
		"policy:cases":      {file: "cases.csv", policy: "cases: %s\n" + fairnessRules, inputs: asked},
	}
	for _, f := range reportFormats() {
		all["input:"+f.Name] = place{file: "out/report", inputs: []string{"policy", "policy.yaml", "decisions", "decisions.csv", f.Name, "%s"}, plain: true, writes: true}
	}
	return all
}

// run runs a step with the path at this place, and returns its exit status.
func (p place) run(t *testing.T, s *step, path string) int {
	t.Helper()
	if p.policy != "" {
		s.put("asked.yaml", strings.ReplaceAll(p.policy, "%s", quoteYAML(t, path)))
	}
	inputs := slices.Clone(p.inputs)
	for i := range inputs {
		inputs[i] = strings.ReplaceAll(inputs[i], "%s", path)
	}
	return s.run(inputs...)
}

// TestPlacesAreAll: every input of the action, and every key of a policy, that names a file is one of places.
func TestPlacesAreAll(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]any
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	noPath := []string{"gate", "fail-on", "summary", "annotations", "path-prefix", "policy-ref", "ledger-read-only", "comment", "comment-key", "issue", "github-token", "pr-number"}
	all := places()
	for name := range action.Inputs {
		if _, is := all["input:"+name]; is == slices.Contains(noPath, name) {
			t.Errorf("input %s: say in this test whether it names a file, and if so how a step is run with it", name)
		}
	}

	var schema struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(policy.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	// A key whose description speaks of files, or of what is relative to one, and that names none.
	speaks := regexp.MustCompile(`(?i)\b(files?|globs?|folders?|paths?|relative to)\b`)
	names := map[string]bool{"columns": false, "unit": false, "design": false, "planned": false}
	for key := range all {
		if key, found := strings.CutPrefix(key, "policy:"); found {
			names[key] = true
		}
	}
	for key, def := range schema.Defs {
		description, _ := def["description"].(string)
		if _, known := names[key]; !known && speaks.MatchString(description) {
			t.Errorf("the policy's key %s: say in this test whether it names a file, and if so how a step is run with it: %s", key, description)
		}
		delete(names, key)
	}
	if len(names) > 0 {
		t.Errorf("no keys of the policy's schema: %v", slices.Sorted(maps.Keys(names)))
	}
}

// trick is a way to a file outside of the workspace.
type trick struct {
	name string
	// path makes what it takes and returns the path; file is the name of a file that the place could use, which lies outside.
	path func(s *step, outside, file string) string
	glob bool // it is one
	// literal says that no system takes the path for more than an odd name in the workspace: no file of that name is there to be read,
	// and writing it makes one.
	literal bool
}

// link makes a link in the workspace, and the folders above it.
func (s *step) link(to, name string) string {
	s.t.Helper()
	place := filepath.Join(s.workspace, name)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(to, place); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// dotted is the way from the workspace to a folder outside, through the folders above both.
func dotted(s *step, outside string) string {
	relative, err := filepath.Rel(s.workspace, outside)
	if err != nil {
		s.t.Fatal(err)
	}
	return relative
}

// tricks are all of them.
func tricks() []trick {
	fixed := func(path string) trick {
		return trick{name: path, path: func(*step, string, string) string { return path }}
	}
	return []trick{
		{name: "absolute", path: func(_ *step, out, file string) string { return filepath.Join(out, file) }},
		{name: "dots", path: func(s *step, out, file string) string { return dotted(s, out) + "/" + file }},
		{name: "dots behind a folder", path: func(s *step, out, file string) string { return "in/../in/../" + dotted(s, out) + "/" + file }},
		{name: "dots behind the workspace", path: func(s *step, out, file string) string { return s.workspace + "/" + dotted(s, out) + "/" + file }},
		{name: "a folder beside, of a longer name", path: func(s *step, out, file string) string {
			if err := os.CopyFS(s.workspace+"-beside", os.DirFS(out)); err != nil {
				s.t.Fatal(err)
			}
			s.t.Cleanup(func() { os.RemoveAll(s.workspace + "-beside") })
			return s.workspace + "-beside/" + file
		}},
		{name: "a link", path: func(s *step, out, file string) string { return s.link(filepath.Join(out, file), "t/link") }},
		{name: "a relative link", path: func(s *step, out, file string) string {
			return s.link(filepath.Join("..", dotted(s, out), file), "t/relative")
		}},
		{name: "a chain of links", path: func(s *step, out, file string) string {
			s.link(filepath.Join(out, file), "t/end")
			s.link("end", "t/middle")
			return s.link("t/middle", "chain")
		}},
		{name: "a link to a folder", path: func(s *step, out, file string) string { return s.link(out, "t/folder") + "/" + file }},
		{name: "a relative link to a folder", path: func(s *step, out, file string) string {
			return s.link(filepath.Join("..", dotted(s, out)), "t/folder-there") + "/" + file
		}},
		{name: "a link to the root", path: func(s *step, out, file string) string { return s.link("/", "t/root") + filepath.Join(out, file) }},
		{name: "a folder in a linked folder", path: func(s *step, out, file string) string {
			return s.link(filepath.Dir(out), "t/above") + "/" + filepath.Base(out) + "/" + file
		}},
		{name: "dots behind a link inside", path: func(s *step, out, file string) string {
			return s.link("in", "inside") + "/../" + dotted(s, out) + "/" + file
		}},
		{name: "a dangling link", path: func(s *step, out, file string) string { return s.link(filepath.Join(out, "none", file), "t/dangling") }},
		{name: "a dangling link into a folder", path: func(s *step, out, file string) string { return s.link(filepath.Join(out, "new"), "t/dangling2") }},
		{name: "a link to itself", path: func(s *step, _, _ string) string { return s.link("round", "t/round") }},
		{name: "links in a ring", path: func(s *step, _, _ string) string {
			s.link("ring-b", "t/ring-a")
			return s.link("ring-a", "t/ring-b")
		}},
		{name: "a link to /proc", path: func(s *step, _, _ string) string { return s.link("/proc/self/environ", "t/environ") }},
		{name: "a link to the root of the process", path: func(s *step, out, file string) string {
			return s.link("/proc/self/root", "t/proc") + filepath.Join(out, file)
		}},
		{name: "a glob in a linked folder", glob: true, path: func(s *step, out, file string) string {
			return s.link(out, "g/folder") + "/" + file[:1] + "*" + file[1:]
		}},
		{name: "a glob that a link matches", glob: true, path: func(s *step, out, file string) string {
			s.link(filepath.Join(out, file), "h/matched-"+file)
			return "h/*" + file
		}},
		{name: "a glob that a linked folder matches", glob: true, path: func(s *step, out, file string) string {
			s.link(out, "i/folder")
			return "i/*/" + file
		}},
		{name: "a glob with dots", glob: true, path: func(s *step, out, file string) string { return dotted(s, out) + "/*" + file }},
		{name: "a glob of the root", glob: true, path: func(_ *step, out, file string) string { return out[:len(out)-1] + "*/" + file }},
		{name: "the workspace in other letters", path: func(s *step, _, file string) string { return strings.ToUpper(s.workspace) + "/" + file }},
		{name: "a line end", literal: true, path: func(_ *step, out, file string) string { return "in\n" + filepath.Join(out, file) }},
		{name: "a NUL", literal: true, path: func(_ *step, out, file string) string { return "in\x00" + filepath.Join(out, file) }},
		{name: "a home", literal: true, path: func(_ *step, _, file string) string { return "~/" + file }},
		{name: "a variable", literal: true, path: func(_ *step, _, file string) string { return "$GITHUB_WORKSPACE/" + file }},
		{name: "an address", literal: true, path: func(_ *step, out, file string) string { return "file://" + filepath.Join(out, file) }},
		{name: "backslashes", literal: true, path: func(s *step, out, file string) string {
			return strings.ReplaceAll(dotted(s, out), "/", `\`) + `\` + file
		}},
		fixed("/proc/self/environ"), fixed("/proc/self/cmdline"), fixed("/proc/self/fd/0"), fixed("/dev/stdin"), fixed("/dev/fd/0"), fixed("/dev/stdout"), fixed("/etc/passwd"),
		fixed("/"), fixed(".."), fixed("../"), fixed("in/../.."),
	}
}

// tree is all that lies in a folder: names, modes, links, and of files the size, the time and a digest.
func tree(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			what, err = os.Readlink(name)
		case info.Mode().IsRegular():
			var text []byte
			text, err = os.ReadFile(name)
			sum := sha256.Sum256(text)
			what = fmt.Sprint(hex.EncodeToString(sum[:8]), info.Size(), info.ModTime().UnixNano())
		}
		fmt.Fprintln(&b, strings.TrimPrefix(name, folder), info.Mode(), what)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWorkspaceIsAWall tries every trick at every place: the step ends with 2, says why, shows nothing of what lies outside,
// changes nothing there, and writes nothing anywhere in the workspace.
func TestWorkspaceIsAWall(t *testing.T) {
	files := studyFiles(t)
	for name, p := range places() {
		if testing.Short() && p.file == "out/report" && name != "input:json" { // the other formats go the same way
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, outside := newStep(t), t.TempDir()
			if p.file == "report.json" && strings.Contains(name, "from-report") {
				g := newGitHub(t)
				g.heads[7] = headCommit
				s.onGitHub(g).event("workflow_run", map[string]any{"workflow_run": map[string]any{"id": 9001, "name": "Gate", "run_number": 1, "run_attempt": 1,
					"head_sha": headCommit, "head_repository": map[string]any{"id": 2}, "pull_requests": []any{}}})
			}
			for file, text := range files {
				s.put(file, text)
				writeFile(t, filepath.Join(outside, file), text)
			}
			s.put("in/a-file", "")
			// With a file of the workspace the step decides: what is refused below is refused for its place alone.
			if status := p.run(t, s, p.file); status == 2 {
				t.Fatalf("with %s the step ends with 2\n%s%s", p.file, &s.stdout, &s.stderr)
			}
			if p.writes {
				if err := os.RemoveAll(filepath.Join(s.workspace, p.file)); err != nil {
					t.Fatal(err)
				}
			}
			if p.file == "ledger.jsonl" {
				s.put("ledger.jsonl", "")
			}
			before := tree(t, outside)
			for _, trick := range tricks() {
				if trick.glob && p.plain {
					continue
				}
				path := trick.path(s, outside, p.file)
				if strings.Contains(path, "\x00") && p.policy == "" || strings.Contains(path, "\n") && (strings.HasSuffix(name, ":decisions") || strings.HasSuffix(name, ":tally")) && p.policy == "" {
					continue // no variable of the environment holds it; a list of paths is read line by line
				}
				_ = s.next(7)
				inside := withoutAsked(tree(t, s.workspace))
				status := p.run(t, s, path)
				all := s.stdout.String() + s.stderr.String() + s.read("GITHUB_STEP_SUMMARY") + s.read("GITHUB_OUTPUT")
				if now := tree(t, outside); now != before {
					t.Fatalf("%s, %q: outside there was\n%sand is\n%s", trick.name, path, before, now)
				}
				if trick.literal && p.writes {
					continue
				}
				if status != 2 || !strings.Contains(name, "from-report") && !strings.Contains(all, "verdict=NO_VERDICT") {
					t.Errorf("%s, %q: exit %d\n%s", trick.name, path, status, all)
				}
				if told := s.stderr.String(); !strings.Contains(name, "from-report") && strings.Count(told, "\n") < 4 || strings.Contains(told, "escapes from parent") {
					t.Errorf("%s, %q: the error does not say why:\n%s", trick.name, path, told)
				}
				for _, secret := range []string{"PATH=", "root:x:", "verdict=PASS"} {
					if strings.Contains(all, secret) {
						t.Errorf("%s, %q: the step shows %q:\n%s", trick.name, path, secret, all)
					}
				}
				if now := withoutAsked(tree(t, s.workspace)); now != inside {
					t.Errorf("%s, %q: in the workspace there was\n%sand is\n%s", trick.name, path, inside, now)
				}
			}
		})
	}
}

// withoutAsked is a tree without the policy that a test wrote meanwhile.
func withoutAsked(tree string) string {
	var b strings.Builder
	for line := range strings.Lines(tree) {
		if !strings.HasPrefix(line, "/asked.yaml ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestWorkspaceHardLink: a report that takes the place of a file with a second name, outside of the workspace, leaves that one as it
// is, and has the mode and the owner that were there.
func TestWorkspaceHardLink(t *testing.T) {
	for name, p := range places() {
		if !p.writes || p.file == "ledger.jsonl" {
			continue
		}
		s, outside := newStep(t), t.TempDir()
		s.put("policy.yaml", humanAIRules+"\n")
		s.put("decisions.csv", singles(40, 38))
		there, here := filepath.Join(outside, "report"), filepath.Join(s.workspace, "report")
		writeFile(t, there, "outside")
		if err := os.Link(there, here); err != nil {
			t.Fatal(err)
		}
		owner := os.Getuid()
		if owner == 0 { // as in the action's container
			owner = 4321
		}
		if err := os.Chmod(here, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(here, owner, -1); err != nil {
			t.Fatal(err)
		}
		before := tree(t, outside)
		if status := p.run(t, s, "report"); status != 0 {
			t.Errorf("%s: exit %d\n%s%s", name, status, &s.stdout, &s.stderr)
		}
		if now := tree(t, outside); now != before {
			t.Errorf("%s: outside there was\n%sand is\n%s", name, before, now)
		}
		info, err := os.Lstat(here)
		if err != nil {
			t.Fatal(err)
		}
		if uid := int(info.Sys().(*syscall.Stat_t).Uid); info.Mode() != 0o640 || uid != owner || s.text("report") == "outside" {
			t.Errorf("%s: the report has mode %v, owner %d and begins %.20q", name, info.Mode(), uid, s.text("report"))
		}
		if left, err := filepath.Glob(filepath.Join(s.workspace, ".oloproof*")); err != nil || left != nil {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}

// TestWorkspaceSwap: while a step runs, somebody puts a link out in the place of what it reads and writes, and takes it away again.
// Whatever the step meets, it is never what lies outside: that would FAIL, or be changed.
func TestWorkspaceSwap(t *testing.T) {
	s, outside := newStep(t), t.TempDir()
	for _, folder := range []string{filepath.Join(s.workspace, "real"), outside} {
		right := 38 // of 40: 0.8308 to 0.9939, as newStep says; of the others 1 - 0.9939 to 1 - 0.8308
		if folder == outside {
			right = 2
		}
		writeFile(t, filepath.Join(folder, "policy.yaml"), humanAIRules+"\n")
		writeFile(t, filepath.Join(folder, "decisions.csv"), singles(40, right))
		writeFile(t, filepath.Join(folder, "ledger.jsonl"), "")
		writeFile(t, filepath.Join(folder, "report.json"), "")
	}
	before := tree(t, outside)
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		flip := filepath.Join(s.workspace, "flip")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Renaming takes a link's place at once, so that there is always one of the two.
			_ = os.Symlink([]string{"real", outside}[i%2], flip+"-next")
			_ = os.Rename(flip+"-next", flip)
			for _, name := range []string{"decisions.csv", "report.json", "ledger.jsonl"} {
				to := filepath.Join(outside, name)
				if i%2 == 0 {
					to = filepath.Join("real", name)
				}
				_ = os.Symlink(to, filepath.Join(s.workspace, "next"))
				_ = os.Rename(filepath.Join(s.workspace, "next"), filepath.Join(s.workspace, "flip-"+name))
			}
		}
	})
	defer func() { close(stop); swapping.Wait() }()
	steps := 150
	if testing.Short() {
		steps = 30
	}
	for i := range steps {
		_ = s.next(7)
		in := [][]string{
			{"policy", "flip/policy.yaml", "decisions", "flip/decisions.csv", "json", "flip/report.json", "ledger", "flip/ledger.jsonl"},
			{"policy", "real/policy.yaml", "decisions", "flip-decisions.csv", "json", "flip-report.json", "ledger", "flip-ledger.jsonl"},
			{"policy", "real/policy.yaml", "decisions", "fl*/decisions.csv", "json", "new/report.json", "ledger", ""},
		}[i%3]
		if status := s.run(in...); status != 0 && status != 2 {
			t.Fatalf("exit %d\n%s%s", status, &s.stdout, &s.stderr)
		}
		if now := tree(t, outside); now != before {
			t.Fatalf("outside there was\n%sand is\n%s", before, now)
		}
	}
}

// TestRunnersFiles: the files that the runner names are its own, wherever they lie. One that is none, or is not there, costs what is
// told in it, and neither the verdict nor any time; no path of theirs is shown where it holds what is no path.
func TestRunnersFiles(t *testing.T) {
	for _, variable := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH"} {
		for _, what := range []string{"pipe", "folder", "absent", "round", "folder/absent", "line\nend", "/proc/self/environ", "/dev/null"} {
			s, _ := pullRequest(t, "fail.yaml")
			if err := syscall.Mkfifo(filepath.Join(s.runner, "pipe"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("round", filepath.Join(s.runner, "round")); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(s.runner, "folder/file"), "")
			s.env[variable] = what
			if !filepath.IsAbs(what) {
				s.env[variable] = filepath.Join(s.runner, what)
			}
			status := s.run("comment", "always", "json", "report.json")
			all := s.stdout.String() + s.stderr.String() + s.text("report.json")
			if status != 1 || !strings.Contains(all, "rarely-right") {
				t.Errorf("%s is %q: exit %d\n%s", variable, what, status, all)
			}
			if what != "/dev/null" && !strings.Contains(all, variable) {
				t.Errorf("%s is %q, and nothing tells of it:\n%s", variable, what, all)
			}
			if strings.Contains(all, "PATH=") {
				t.Errorf("%s is %q: the environment is shown:\n%s", variable, what, all)
			}
		}
	}
}

// TestRepeatedSteps: a process that runs many steps, as no runner does, keeps no file open and no goroutine, whatever becomes of a step.
func TestRepeatedSteps(t *testing.T) {
	s := newStep(t)
	s.link("/etc", "out")
	inputs := [][]string{
		{"policy", "pass.yaml", "decisions", "data/decisions.csv", "json", "out.json", "html", "out/x.html"},
		{"policy", "fail.yaml", "decisions", "data/decisions.csv", "json", "report.json", "html", "report.html", "ledger", "kept/ledger.jsonl"},
		{"policy", "broken.yaml", "decisions", "out/passwd", "json", "report.json", "html", "", "ledger", "out/ledger"},
		{"policy", "absent.yaml", "decisions", "data/*.csv", "json", "data/decisions.csv", "ledger", "data/decisions.csv"},
	}
	open := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, in := range inputs {
		s.run(in...)
	}
	files, routines := open(), runtime.NumGoroutine()
	for i := range 100 {
		s.run(inputs[i%len(inputs)]...)
	}
	if now := open(); now > files {
		t.Errorf("%d files were open, and %d are after 100 steps", files, now)
	}
	for range 100 { // a goroutine that is ending is given the time
		if runtime.NumGoroutine() <= routines {
			break
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > routines {
		t.Errorf("%d goroutines ran, and %d do after 100 steps", routines, now)
	}
}

// TestCommandLineFiles: on the command line a policy may name any file, a report takes the place of a file and leaves its other name
// as it is, and what is no file is told to be none.
func TestCommandLineFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	elsewhere := t.TempDir()
	writeFile(t, filepath.Join(elsewhere, "d.csv"), singles(40, 38))
	relative, err := filepath.Rel(mustGetwd(t), elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, "linked"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(elsewhere, "d.csv"), relative + "/d.csv", "linked/d.csv", "linked/*.csv"} {
		writeFile(t, "p.yaml", "decisions: "+quoteYAML(t, path)+"\n"+humanAIRules+"\n")
		if status, _, stderr := runMain("human-ai", "gate", "--policy", "p.yaml"); status != 0 {
			t.Errorf("%s: exit %d\n%s", path, status, stderr)
		}
	}
	for path, want := range map[string]string{"/dev/stdin": "pass its content on standard input, as -", "/dev/fd/0": "pass its content on standard input, as -", "linked": "it is a folder", "/proc/self/environ": "no required column is in this line"} {
		writeFile(t, "p.yaml", "decisions: "+path+"\n"+humanAIRules+"\n")
		status, stdout, stderr := runMain("human-ai", "gate", "--policy", "p.yaml")
		if status != 2 || runtime.GOOS == "linux" && !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "PATH=") {
			t.Errorf("%s: exit %d, want 2 and %q\n%s%s", path, status, want, stdout, stderr)
		}
	}
	writeFile(t, "p.yaml", humanAIRules+"\n")
	writeFile(t, filepath.Join(elsewhere, "report"), "kept")
	writeFile(t, filepath.Join(elsewhere, "ledger"), "")
	for _, name := range []string{"report", "ledger"} {
		if err := os.Link(filepath.Join(elsewhere, name), name); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, elsewhere)
	if status, _, stderr := runMain("human-ai", "gate", "linked/d.csv", "--policy", "p.yaml", "--format", "json:report", "--ledger", "ledger"); status != 0 {
		t.Errorf("exit %d\n%s", status, stderr)
	}
	if now := tree(t, elsewhere); now != before {
		t.Errorf("elsewhere there was\n%sand is\n%s", before, now)
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

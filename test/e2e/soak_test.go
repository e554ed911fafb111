//go:build unix

package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// soakSeed is what every study is drawn from, together with its number: `go test -run 'TestSoak/17$'` runs the 17th alone.
const soakSeed = 20261130

// runnerUser is who owns a workspace on GitHub's machines, where the container is root.
const runnerUser = 1001

// soakToken is the token of the steps. It is for nothing, and must not be seen.
const soakToken = "ghs_Zx81TqLm0R4vWb7Ny2KcUe5HdJ9aPf3S"

// TestSoak runs the action many times in a row in containers of the real image, started as GitHub's runner starts them, on studies of
// all gates, of all verdicts, and on input that is broken: exit status, outputs, summary, ledger and reports have to be those of the
// program on the command line, to the byte, and nothing may be left behind. OLOPROOF_SOAK says how many runs, by default 8.
func TestSoak(t *testing.T) {
	wanted(t)
	runs := 8
	if text := os.Getenv("OLOPROOF_SOAK"); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil || runs < 1 {
			t.Fatalf("OLOPROOF_SOAK is %q, and is how many times the action is run", text)
		}
	}
	if out, err := exec.Command("docker", "build", "--tag", image, root).CombinedOutput(); err != nil {
		t.Fatalf("docker build: %v\n%s", err, lastLines(out, 60))
	}
	program := filepath.Join(t.TempDir(), "oloproof")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, ".")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	id := docker(t, "image", "inspect", "--format", "{{.Id}}", image)
	label := fmt.Sprintf("oloproof-soak=%d", os.Getpid())
	verdicts, gates := map[string]int{}, map[string]int{}
	start := time.Now()
	for i := range runs {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			day := time.Now().UTC().Format("2006-01-02")
			s := newSoakStudy(i)
			verdict := s.compare(t, program, label)
			if now := time.Now().UTC().Format("2006-01-02"); now != day && t.Failed() {
				t.Logf("it was over midnight, of which a ledger tells: run it again")
			}
			verdicts[verdict]++
			gates[s.gate]++
		})
	}
	t.Logf("%d runs from the seed %d took %s: %v, %v", runs, soakSeed, time.Since(start).Round(time.Second), verdicts, gates)
	if left := docker(t, "ps", "--all", "--quiet", "--filter", "label="+label); left != "" {
		t.Errorf("containers are left: %s", left)
	}
	if now := docker(t, "image", "inspect", "--format", "{{.Id}}", image); now != id {
		t.Errorf("the image was %s and is %s", id, now)
	}
}

// docker runs a command of Docker's and returns what it prints.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).Output()
	if err != nil {
		t.Fatalf("docker %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(out))
}

// soakStudy is what one run decides.
type soakStudy struct {
	gate    string
	files   map[string]string // of the workspace
	inputs  map[string]string // of the action
	command []string          // that is to come to the same
	reports map[string]string // the path of each format
	ledger  string            // "" for none
}

// newSoakStudy draws a study. Sizes, rates, thresholds, forms of files and everything else are drawn: the verdict is what it is.
func newSoakStudy(number int) soakStudy {
	rng := rand.New(rand.NewPCG(soakSeed, uint64(number)))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	s := soakStudy{gate: []string{"human-ai", "anchoring", "compare", "fairness"}[number%4], files: map[string]string{}, reports: map[string]string{}}
	n, rate := 10+rng.IntN(300), []float64{0.03, 0.3, 0.6, 0.9, 0.99}[rng.IntN(5)]
	yes := func(rate float64) bool { return rng.Float64() < rate }
	digit := func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}
	// Each rule with a threshold of its own, so that a run has rules of several verdicts.
	limit := func() string {
		return pick("minimum: ", "maximum: ") + pick("0.05", "0.2", "0.4", "0.5", "0.7", "0.95")
	}
	var header, policy, rules string
	var rows []string
	section, key := map[string]string{"human-ai": "human_ai", "anchoring": "anchoring", "compare": "compare", "fairness": "fairness"}[s.gate], "decisions"
	flags, more := []string{}, "" // of the command line; keys of the policy
	switch s.gate {
	case "human-ai":
		header = "case,reviewer,condition,decision,reference,ai_output"
		people := n
		if rng.IntN(3) == 0 { // who decides many cases is for a person to judge, where decisions are counted
			people = 2 + rng.IntN(12)
		}
		arms := 1 + rng.IntN(2)
		for i := range n {
			condition, output := "with", "yes"
			if arms == 2 && people < n && i/people%2 == 1 {
				condition, output = "without", ""
			}
			decision := pick("no", "maybe")
			if yes(rate) {
				decision = "yes"
			}
			if rng.IntN(15) == 0 {
				decision = ""
			}
			rows = append(rows, fmt.Sprintf("case-%d,person-%d,%s,%s,yes,%s", i, i%people, condition, decision, output))
		}
		for i := range 1 + rng.IntN(3) {
			rules += fmt.Sprintf("  - {id: rule-%d, metric: %s, %s%s}\n", i, pick("accuracy_with", "agreement", "over_reliance", "correct_override"), limit(), pick("", ", per: person", ", advisory: true"))
		}
	case "anchoring":
		header, key = "item,annotator,suggestion,label,visibility", "labels"
		draw := "item,visibility,inclusion_probability\n"
		for i := range n {
			visibility := "blind"
			if i%2 == 1 {
				visibility = "visible"
			}
			label := "y"
			if yes(rate) {
				label = "x"
			}
			rows = append(rows, fmt.Sprintf("%d,ann-%d,x,%s,%s", i, rng.IntN(4), label, visibility))
			draw += fmt.Sprintf("%d,%s,0.5\n", i, visibility)
		}
		if rng.IntN(4) == 0 { // an item that was drawn and has no label, and one that was not
			draw += "9999,blind,0.5\n"
			rows = append(rows, "8888,ann-1,x,x,blind")
		}
		s.files["data/draw.csv"] = draw
		more = "draw: data/draw.csv\n"
		for i := range 1 + rng.IntN(3) {
			rules += fmt.Sprintf("  - {id: rule-%d, metric: %s, %s}\n", i, pick("blind_agreement", "visible_agreement"), limit())
		}
	case "compare":
		header, key = "version,case,passed,level", "trials"
		for i := range n {
			level := pick("easy", "hard")
			rows = append(rows, fmt.Sprintf("old,c%d,%s,%s", i, digit(yes(0.5)), level))
			if rng.IntN(20) > 0 {
				rows = append(rows, fmt.Sprintf("new,c%d,%s,%s", i, digit(yes(rate)), level))
			}
		}
		more = "baseline: old\ncandidate: new\n" + pick("", "case_list: fixed\n", fmt.Sprintf("plan: {cases: %d, trials: 1}\n", n), fmt.Sprintf("plan: {cases: %d, trials: 1}\n", n-3))
		rules = "  - {id: rule-0, metric: " + pick("sign_test}\n", "pass_rate_difference, minimum: -0.1}\n", "pass_rate_difference, minimum: 0.2}\n")
		for i := range rng.IntN(3) {
			rules += fmt.Sprintf("  - {id: rule-%d, metric: rate, %s%s}\n", i+1, limit(), pick("", ", where: {level: hard}"))
		}
	case "fairness":
		header, key = "id,label,prediction,sex", "cases"
		for i := range n * 8 {
			sex := pick("f", "m")
			wrong := rate / 2
			if sex == "f" {
				wrong /= 2
			}
			label := yes(0.5)
			rows = append(rows, fmt.Sprintf("c%d,%s,%s,%s", i, digit(label), digit(label != yes(wrong)), sex))
		}
		more = "attributes: {sex: [f, m]}\nmin_cell: " + pick("1", "100") + "\n"
		for i := range 1 + rng.IntN(2) {
			rules += fmt.Sprintf("  - {id: rule-%d, rate: %s, attribute: sex, %s}\n", i, pick("error", "false_positive", "false_negative", "selection"), pick("max_group_gap: 0.02", "max_group_gap: 0.05", "max_group_gap: 0.3"))
		}
	}

	// The rows in one file or two, in a form or compressed.
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var names []string
	parts := [][]string{rows}
	if rng.IntN(2) == 0 {
		parts = [][]string{rows[:len(rows)/2], rows[len(rows)/2:]}
	}
	for i, part := range parts {
		text := header + "\n" + strings.Join(part, "\n") + "\n"
		name := fmt.Sprintf("data/part-%d.csv", i)
		if rng.IntN(3) == 0 {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(text)) // a buffer takes everything
			_ = z.Close()
			text, name = b.String(), name+".gz"
		}
		s.files[name] = text
		names = append(names, name)
	}
	policy = more + "rules:\n" + rules

	// What breaks it, now and then.
	if rng.IntN(5) == 0 {
		first := names[0]
		switch rng.IntN(7) {
		case 0:
			policy = strings.Replace(policy, "rules:", "ruels:", 1)
		case 1:
			policy += "  - {id: rule-0, metric: accuracy_wiht, minimum: 2}\n"
		case 2:
			s.files[first] = s.files[first][:len(s.files[first])/2] + "\xff\"\n,,,"
		case 3:
			noise := make([]byte, 1+rng.IntN(5000))
			for i := range noise {
				noise[i] = byte(rng.Uint32())
			}
			s.files[first] = string(noise)
		case 4:
			delete(s.files, first)
		case 5:
			s.files[first] = pick("", header+"\n", "{}\n", "PAR1PAR1")
		case 6:
			policy = "\x00" + policy
		}
	}

	s.inputs = map[string]string{"policy": "policy.yaml", "fail-on": pick("", "", "FAIL", "none", "FAIL, MANUAL_REVIEW")}
	if rng.IntN(2) == 0 { // the policy names the files
		policy = key + ": [" + strings.Join(names, ", ") + "]\n" + policy
		if policy[0] != 0 && rng.IntN(2) == 0 {
			policy = section + ":\n  " + strings.ReplaceAll(strings.TrimSuffix(policy, "\n"), "\n", "\n  ") + "\n"
			s.command = []string{"gate", "policy.yaml"}
		} else {
			s.inputs["gate"] = s.gate
			s.command = []string{s.gate, "gate", "--policy", "policy.yaml"}
		}
	} else {
		s.inputs["gate"], s.inputs["decisions"] = s.gate, strings.Join(names, "\n")
		s.command = append([]string{s.gate, "gate", "--policy", "policy.yaml"}, names...)
	}
	if s.gate == "fairness" && s.command[0] != "gate" { // its own file comes first, on the command line
		s.command = append([]string{s.gate, "gate", "policy.yaml"}, s.command[4:]...)
	}
	s.files["policy.yaml"] = policy
	for _, format := range []string{"json", "markdown", "html", "junit", "sarif", "codequality", "openmetrics", "dotenv", "model-card"} {
		if format == "json" || rng.IntN(3) == 0 {
			s.reports[format] = pick("out/", "out/deep/", "") + "report." + format
			s.inputs[format] = s.reports[format]
			flags = append(flags, "--format", format+":"+s.reports[format])
		}
	}
	if s.inputs["fail-on"] != "" {
		flags = append(flags, "--fail-on", s.inputs["fail-on"])
	}
	if rng.IntN(3) == 0 {
		s.ledger = pick("ledger.jsonl", "kept/ledger.jsonl")
		s.inputs["ledger"] = s.ledger
		flags = append(flags, "--ledger", s.ledger)
	}
	s.command = append(s.command, flags...)
	return s
}

// soakRunner is the folders that a runner mounts into the container of an action.
type soakRunner struct{ workspace, home, workflow, commands, temp string }

// newSoakRunner makes them, with the files of the study, which belong to the runner's user.
func newSoakRunner(t *testing.T, s soakStudy) soakRunner {
	t.Helper()
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	r := soakRunner{at("workspace"), at("home"), at("workflow"), at("commands"), at("temp")}
	for _, folder := range []string{r.workspace, r.home, r.workflow, r.commands, r.temp} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range s.files {
		write(t, filepath.Join(r.workspace, name), text)
	}
	for _, name := range []string{"output", "summary", "env", "path", "state"} {
		write(t, filepath.Join(r.commands, name), "")
	}
	write(t, filepath.Join(r.workflow, "event.json"), `{"repository": {"id": 1000, "full_name": "oloproof/oloproof", "default_branch": "main"}}`)
	if os.Getuid() != 0 {
		return r
	}
	err := filepath.WalkDir(top, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, runnerUser, runnerUser)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// environment is what a step gets of GitHub, with the folders as they are called where it runs.
func (r soakRunner) environment(workspace, commands, workflow string) map[string]string {
	return map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": workspace, "GITHUB_OUTPUT": commands + "/output", "GITHUB_STEP_SUMMARY": commands + "/summary",
		"GITHUB_ENV": commands + "/env", "GITHUB_PATH": commands + "/path", "GITHUB_STATE": commands + "/state", "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": workflow + "/event.json",
		"GITHUB_REPOSITORY": "oloproof/oloproof", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com", "GITHUB_SHA": strings.Repeat("1", 40),
		"GITHUB_REF": "refs/heads/main", "GITHUB_RUN_ID": "9001", "GITHUB_RUN_NUMBER": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "Soak", "GITHUB_JOB": "soak",
		"GITHUB_ACTION": "gate", "GITHUB_ACTOR": "somebody", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "soak", "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
		"ACTIONS_RUNTIME_TOKEN": soakToken, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": soakToken, "ACTIONS_STEP_DEBUG": "true", "RUNNER_DEBUG": "1",
	}
}

// inputsOf are the values of all inputs that action.yml declares, as the runner hands them on.
func (s soakStudy) inputsOf(t *testing.T) map[string]string {
	t.Helper()
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(root, "action.yml"))), &action); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for name, input := range action.Inputs {
		value := input.Default
		if name == "github-token" {
			value = soakToken
		}
		if given := s.inputs[name]; given != "" {
			value = given
		}
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	return env
}

// compare runs the study as a step and on the command line, and returns the verdict.
func (s soakStudy) compare(t *testing.T, program, label string) string {
	t.Helper()
	r, other := newSoakRunner(t, s), newSoakRunner(t, s)
	before := listing(t, r.workspace)

	// As the runner does (actions/runner, ContainerActionHandler and DockerCommandManager.DockerRun): names of variables on the command
	// line, their values in the environment.
	env := s.inputsOf(t)
	maps.Copy(env, r.environment("/github/workspace", "/github/file_commands", "/github/workflow"))
	env["HOME"], env["RUNNER_TEMP"], env["RUNNER_WORKSPACE"] = "/github/home", "/github/runner_temp", filepath.Dir(r.workspace)
	args := []string{"run", "--name", fmt.Sprintf("oloproof-soak-%d-%s", os.Getpid(), filepath.Base(t.Name())), "--label", label, "--workdir", "/github/workspace", "--rm"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "-e", name)
	}
	for from, to := range map[string]string{
		"/var/run/docker.sock": "/var/run/docker.sock", r.home: "/github/home", r.workflow: "/github/workflow", r.commands: "/github/file_commands",
		r.temp: "/github/runner_temp", r.workspace: "/github/workspace",
	} {
		args = append(args, "-v", from+":"+to)
	}
	step := exec.Command("docker", append(args, image)...)
	// Docker's own settings would be looked for in the action's HOME.
	step.Env = []string{"PATH=" + os.Getenv("PATH"), "DOCKER_CONFIG=" + t.TempDir()}
	for name, value := range env {
		step.Env = append(step.Env, name+"="+value)
	}
	log, err := step.CombinedOutput()
	status := exitStatus(t, err)

	command := exec.Command(program, append(s.command, "--ci", "github")...)
	command.Dir = other.workspace
	for name, value := range other.environment(other.workspace, other.commands, other.workflow) {
		command.Env = append(command.Env, name+"="+value)
	}
	told, err := command.CombinedOutput()
	if want := exitStatus(t, err); status != want {
		t.Errorf("the step ends with %d, the command with %d", status, want)
	}
	for _, name := range []string{"output", "summary"} {
		if diff := cmp.Diff(read(t, filepath.Join(other.commands, name)), read(t, filepath.Join(r.commands, name))); diff != "" {
			t.Errorf("%s of the command (-) and of the step (+):\n%s", name, diff)
		}
	}
	written := slices.Collect(maps.Values(s.reports))
	if s.ledger != "" && status != 2 {
		if _, err := os.Stat(filepath.Join(other.workspace, s.ledger)); err == nil {
			written = append(written, s.ledger)
		}
	}
	for _, name := range written {
		if diff := cmp.Diff(read(t, filepath.Join(other.workspace, name)), read(t, filepath.Join(r.workspace, name))); diff != "" {
			t.Errorf("%s of the command (-) and of the step (+):\n%s", name, diff)
		}
	}
	s.checkLeft(t, r, before, written)
	for _, name := range append(slices.Clone(written), "../commands/output", "../commands/summary") {
		if strings.Contains(read(t, filepath.Join(r.workspace, name)), soakToken) {
			t.Errorf("the token is in %s", name)
		}
	}
	if bytes.Contains(log, []byte(soakToken)) {
		t.Error("the token is in the log")
	}
	verdict := parseOutputs(t, filepath.Join(r.commands, "output"))["verdict"]
	if t.Failed() {
		t.Logf("%s\npolicy.yaml:\n%s\ninputs %q\ncommand %q\nthe step's log:\n%s\nthe command's:\n%s", s.gate, s.files["policy.yaml"], s.inputs, s.command, log, told)
	}
	return verdict
}

// listing is what lies in a folder: names, modes, owners, and of files the size and the time.
func listing(t *testing.T, folder string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), " of ", info.Sys().(*syscall.Stat_t).Uid)
		if info.Mode().IsRegular() {
			text += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
		}
		list[strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// checkLeft checks that a step has left nothing but what it was to write: what was there is as it was, a report or ledger can be read
// by everyone, and a new folder can be emptied by everyone.
func (s soakStudy) checkLeft(t *testing.T, r soakRunner, before map[string]string, written []string) {
	t.Helper()
	made := map[string]string{}
	for name, now := range listing(t, r.workspace) {
		if was, there := before[name]; !there {
			made[name] = strings.Join(strings.Fields(now)[:3], " ")
		} else if was != now {
			t.Errorf("%s was %s and is %s", name, was, now)
		}
		delete(before, name)
	}
	for name := range before {
		t.Errorf("%s is gone", name)
	}
	want := map[string]string{}
	for _, name := range written {
		want[name] = "-rw-r--r-- of 0"
		for folder := filepath.Dir(name); folder != "."; folder = filepath.Dir(folder) {
			want[folder] = "drwxrwxrwx of 0"
		}
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("what the workspace was to have beside (-) and has (+):\n%s", diff)
	}
	if left := len(listing(t, r.home)) + len(listing(t, r.temp)) - 2; left > 0 {
		t.Errorf("%d files are left in the home and the folder for temporary files", left)
	}
	if diff := cmp.Diff([]string{"", "env", "output", "path", "state", "summary"}, slices.Sorted(maps.Keys(listing(t, r.commands)))); diff != "" {
		t.Errorf("the runner's files:\n%s", diff)
	}
	for _, name := range []string{"env", "path", "state"} {
		if text := read(t, filepath.Join(r.commands, name)); text != "" {
			t.Errorf("the step has written %q to the runner's file %s", text, name)
		}
	}
}

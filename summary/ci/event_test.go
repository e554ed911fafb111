package ci

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Commits of the tests' events.
var (
	headSHA  = strings.Repeat("a1", 20)
	baseSHA  = strings.Repeat("b2", 20)
	mergeSHA = strings.Repeat("c3", 20)
)

// The payloads keep the shape of GitHub's webhooks, with what is read and some of what is not.
func pullRequestPayload(headRepo string) string {
	return fmt.Sprintf(`{"action": "synchronize", "number": 12, "pull_request": {"id": 99, "number": 12, "state": "open", "title": "::error::x",
		"head": {"label": "octo:patch", "ref": "patch", "sha": %q, "repo": %s}, "base": {"ref": "main", "sha": %q, "repo": {"id": 1000, "full_name": "o/r"}},
		"merge_commit_sha": %q, "author_association": "NONE"}, "repository": {"id": 1000, "full_name": "o/r", "owner": {"login": "o"}}, "sender": {"login": "octo"}}`,
		headSHA, headRepo, baseSHA, mergeSHA)
}

func workflowRunPayload(headRepo, pulls string) string {
	return fmt.Sprintf(`{"action": "completed", "workflow_run": {"id": 9031, "name": "CI", "run_number": 31, "run_attempt": 2, "event": "pull_request",
		"status": "completed", "conclusion": "failure", "head_branch": "patch", "head_sha": %q, "head_repository": %s, "pull_requests": %s},
		"workflow": {"id": 5, "name": "CI"}, "repository": {"id": 1000, "full_name": "o/r"}}`, headSHA, headRepo, pulls)
}

// actionsEnv is the environment of a step, with a payload in a file.
func actionsEnv(t testing.TB, event, payload string, more map[string]string) func(string) string {
	t.Helper()
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "o/r", "GITHUB_ACTOR": "octo",
		"GITHUB_RUN_ID": "9050", "GITHUB_RUN_NUMBER": "50", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "Check", "GITHUB_SHA": mergeSHA, "GITHUB_REF": "refs/heads/main",
		"GITHUB_EVENT_PATH": filepath.Join(t.TempDir(), "event.json"),
	}
	if err := os.WriteFile(env["GITHUB_EVENT_PATH"], []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range more {
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

func TestReadEvent(t *testing.T) {
	here, fork := `{"id": 1000, "full_name": "o/r"}`, `{"id": 2000, "full_name": "octo/r", "fork": true}`
	from := func(isFork bool) int64 {
		if isFork {
			return 2000
		}
		return 1000
	}
	pull := func(name string, isFork bool) Event {
		return Event{Name: name, Server: "https://github.example", Repository: "o/r", PullRequest: 12, HeadSHA: headSHA, BaseSHA: baseSHA, BaseRef: "main", Fork: isFork, HeadRepository: from(isFork), files: "/blob/",
			Run: Run{ID: 9050, Number: 50, Attempt: 1, Workflow: "Check", SHA: headSHA, URL: "https://github.example/o/r/actions/runs/9050/attempts/1"}}
	}
	after := func(number int, isFork bool) Event {
		return Event{Name: "workflow_run", Server: "https://github.example", Repository: "o/r", PullRequest: number, HeadSHA: headSHA, Fork: isFork, HeadRepository: from(isFork), files: "/blob/",
			Run: Run{ID: 9031, Number: 31, Attempt: 2, Workflow: "CI", SHA: headSHA, URL: "https://github.example/o/r/actions/runs/9031/attempts/2"}}
	}
	plain := func(name string) Event {
		return Event{Name: name, Server: "https://github.example", Repository: "o/r", HeadSHA: mergeSHA, files: "/blob/",
			Run: Run{ID: 9050, Number: 50, Attempt: 1, Workflow: "Check", SHA: mergeSHA, URL: "https://github.example/o/r/actions/runs/9050/attempts/1"}}
	}
	inList := func(number int, base string) string {
		return fmt.Sprintf(`{"id": 1, "number": %d, "head": {"ref": "patch", "sha": %q, "repo": {"id": 1000}}, "base": {"ref": "main", "sha": %q, "repo": {"id": %s}}}`, number, headSHA, baseSHA, base)
	}
	dependabot := pull("pull_request", false)
	dependabot.Dependabot = true
	gone := func(e Event) Event { e.HeadRepository = NoRepository; return e }
	group := plain(MergeGroup)
	group.HeadSHA, group.Run.SHA, group.BaseSHA, group.BaseRef = headSHA, headSHA, baseSHA, "release/1"
	main := plain("push")
	main.DefaultBranch = true
	tests := []struct {
		name, event, payload string
		env                  map[string]string
		want                 Event
		readOnly             string
	}{
		{"a branch", "pull_request", pullRequestPayload(here), map[string]string{"GITHUB_REF": "refs/pull/12/merge", "GITHUB_BASE_REF": "main"}, pull("pull_request", false), ""},
		{"a fork", "pull_request", pullRequestPayload(fork), nil, pull("pull_request", true), "the pull request comes from a fork"},
		{"a fork of the same owner", "pull_request", pullRequestPayload(`{"id": 2000, "full_name": "o/r2"}`), nil, pull("pull_request", true), "the pull request comes from a fork"},
		{"a fork that was deleted", "pull_request", pullRequestPayload("null"), nil, gone(pull("pull_request", true)), "the pull request comes from a fork"},
		{"repositories that are not told", "pull_request", strings.ReplaceAll(pullRequestPayload("{}"), `{"id": 1000, "full_name": "o/r"}`, "{}"), nil, gone(pull("pull_request", true)), "the pull request comes from a fork"},
		{"Dependabot", "pull_request", pullRequestPayload(here), map[string]string{"GITHUB_ACTOR": "dependabot[bot]"}, dependabot, "Dependabot started it"},
		{"the base's own workflow, for a fork", "pull_request_target", pullRequestPayload(fork), nil, pull("pull_request_target", true), ""},
		{"after a branch's run", "workflow_run", workflowRunPayload(here, "["+inList(12, "1000")+"]"), nil, after(12, false), ""},
		{"after a fork's run", "workflow_run", workflowRunPayload(fork, "[]"), nil, after(0, true), ""}, // actions/runner#3444
		{"after a deleted fork's run", "workflow_run", workflowRunPayload("null", "[]"), nil, gone(after(0, true)), ""},
		{"after the run of two pull requests", "workflow_run", workflowRunPayload(here, "["+inList(12, "1000")+","+inList(13, "1000")+"]"), nil, after(0, false), ""},
		{"a pull request in a fork's own repository", "workflow_run", workflowRunPayload(here, "["+inList(3, "2000")+","+inList(12, "1000")+"]"), nil, after(12, false), ""},
		{"a push", "push", `{"ref": "refs/heads/main", "before": "x", "after": "y", "repository": {"id": 1000, "full_name": "o/r"}}`, nil, plain("push"), ""},
		{"a schedule", "schedule", `{"schedule": "0 5 * * 1", "workflow": ".github/workflows/audit.yml"}`, nil, plain("schedule"), ""},
		{"by hand", "workflow_dispatch", `{"inputs": {"number": "12"}, "ref": "refs/heads/main", "repository": {"id": 1000, "full_name": "o/r"}}`, nil, plain("workflow_dispatch"), ""},
		{"a merge queue", "merge_group", fmt.Sprintf(`{"action": "checks_requested", "merge_group": {"head_sha": %q, "head_ref": "refs/heads/gh-readonly-queue/release/1/pr-12-x", "base_sha": %q, "base_ref": "refs/heads/release/1"}}`, headSHA, baseSHA),
			map[string]string{"GITHUB_REF": "refs/heads/gh-readonly-queue/release/1/pr-12-x"}, group, ""},
		{"a merge queue of which nothing is told", "merge_group", `{"action": "checks_requested"}`, nil, plain("merge_group"), ""},
		{"a push to the default branch", "push", `{"ref": "refs/heads/main", "repository": {"id": 1000, "full_name": "o/r", "default_branch": "main"}}`, nil, main, ""},
		{"a push to another branch", "push", `{"repository": {"id": 1000, "full_name": "o/r", "default_branch": "main"}}`, map[string]string{"GITHUB_REF": "refs/heads/other"}, plain("push"), ""},
		{"a tag with the default branch's name", "push", `{"repository": {"id": 1000, "full_name": "o/r", "default_branch": "main"}}`, map[string]string{"GITHUB_REF": "refs/tags/main"}, plain("push"), ""},
		{"a comment, whose run is of the default branch", "issue_comment", `{"action": "created", "issue": {"number": 12, "pull_request": {"url": "x"}}, "comment": {"body": "/check"}}`, nil, plain("issue_comment"), ""},
		{"an event that names a run by chance", "push", workflowRunPayload(here, "["+inList(12, "1000")+"]"), nil, plain("push"), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadEvent(actionsEnv(t, test.event, test.payload, test.env))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(Event{})); diff != "" || err != nil {
				t.Errorf("%v, (-want +got):\n%s", err, diff)
			}
			if got.ReadOnly() != test.readOnly {
				t.Errorf("read-only because %q, want %q", got.ReadOnly(), test.readOnly)
			}
		})
	}
}

// TestHostileEvents: what goes into an address is checked, and what cannot be used is said.
func TestHostileEvents(t *testing.T) {
	replaced := func(old, new string) string {
		return strings.ReplaceAll(pullRequestPayload(`{"id": 1000}`), old, new)
	}
	tests := []struct {
		name, event, payload, want string
		check                      func(Event) bool
	}{
		{"a head that is no commit", "pull_request", replaced(headSHA, `HEAD\n::error::x`), `pull_request.head.sha "HEAD\n::error::x" is not a commit`, func(e Event) bool { return e.HeadSHA == "" && e.BaseSHA == baseSHA }},
		{"a base that is no commit", "pull_request", replaced(baseSHA, "../../x"), `pull_request.base.sha "../../x" is not a commit`, func(e Event) bool { return e.BaseSHA == "" }},
		{"a negative number", "pull_request", replaced(`"number": 12`, `"number": -12`), "pull_request.number -12 is not a number that counts", func(e Event) bool { return e.PullRequest == 0 }},
		{"a huge number", "pull_request", replaced(`"number": 12`, `"number": 9223372036854775807`), "is not a number that counts", func(e Event) bool { return e.PullRequest == 0 }},
		{"a number beyond all", "pull_request", replaced(`"number": 12`, `"number": 1e400`), "is not the JSON of an event", func(e Event) bool { return e.PullRequest == 0 }},
		{"a number as text", "pull_request", replaced(`"number": 12`, `"number": "12"`), "is not the JSON of an event", func(e Event) bool { return e.PullRequest == 0 }},
		{"a run before all", "workflow_run", strings.ReplaceAll(workflowRunPayload("null", "[]"), "9031", "-1"), "workflow_run.id -1", func(e Event) bool { return e.Run.ID == 0 && e.Run.URL == "" }},
		{"a run without a commit", "workflow_run", strings.ReplaceAll(workflowRunPayload("null", "[]"), headSHA, ""), "", func(e Event) bool { return e.HeadSHA == "" && e.Run.SHA == "" }},
		{"a base of a queue that is no commit", "merge_group", `{"merge_group": {"head_sha": "", "base_sha": "main"}}`, `merge_group.base_sha "main" is not a commit`, func(e Event) bool { return e.BaseSHA == "" && e.HeadSHA == mergeSHA }},
		{"two things at once", "pull_request", strings.ReplaceAll(replaced(headSHA, "x"), baseSHA, "y"), `"x" is not a commit; pull_request.base.sha "y" is not`, nil},
		{"not JSON", "push", "<html>", "is not the JSON of an event", func(e Event) bool { return e.Repository == "o/r" && e.HeadSHA == mergeSHA && e.Run.ID == 9050 }},
		{"a list", "push", "[]", "is not the JSON of an event", nil},
		{"nothing", "push", "", "is not the JSON of an event", nil},
		{"null", "push", "null", "", nil},
		{"no pull request in it", "pull_request", `{"pull_request": null}`, "", func(e Event) bool { return e.PullRequest == 0 }},
		{"a deep one", "push", strings.Repeat(`{"a":`, 100_000), "is not the JSON of an event", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, err := ReadEvent(actionsEnv(t, test.event, test.payload, nil))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "GITHUB_EVENT_PATH")) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has two lines", err)
			}
			if test.check != nil && !test.check(e) {
				t.Errorf("%+v", e)
			}
		})
	}
	for name, value := range map[string]string{
		"GITHUB_REPOSITORY": "o/r/../x", "GITHUB_SHA": "main", "GITHUB_RUN_ID": "99999999999999999999", "GITHUB_RUN_NUMBER": "-3", "GITHUB_RUN_ATTEMPT": "1e3",
		"GITHUB_SERVER_URL": "javascript:alert(1)//",
	} {
		e, err := ReadEvent(actionsEnv(t, "push", "{}", map[string]string{name: value}))
		if err != nil || strings.Contains(fmt.Sprintf("%+v", e), value) {
			t.Errorf("%s=%s: %v, %+v", name, value, err, e)
		}
	}
	for server, want := range map[string]string{
		"https://git.example:8443/sub/": "https://git.example:8443/sub", "http://localhost:3000": "http://localhost:3000", "": "", "https://me:secret@git.example": "", "https://": "",
		"https://git.example/?a=": "", "https://git.example/#x": "", "data:text/html,x": "", "git.example": "", "https://a b": "", "//git.example": "",
	} {
		if got := serverAddress(server); got != want {
			t.Errorf("server %q is %q, want %q", server, got, want)
		}
	}
}

func TestEventFiles(t *testing.T) {
	env := func(file string) func(string) string {
		return actionsEnv(t, "pull_request", "{}", map[string]string{"GITHUB_EVENT_PATH": file, "GITHUB_REF": "refs/pull/12/merge", "GITHUB_BASE_REF": "main"})
	}
	large := filepath.Join(t.TempDir(), "large.json")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxPayload + 1); err != nil { // a file of zeros that takes no room
		t.Fatal(err)
	}
	f.Close()
	for file, want := range map[string]string{
		"":                                      "GITHUB_EVENT_PATH is not set",
		filepath.Join(t.TempDir(), "gone.json"): "cannot be read: no such file or directory",
		t.TempDir():                             "cannot be read: it is not a regular file",
		large:                                   "is larger than 30 MiB",
	} {
		e, err := ReadEvent(env(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
		// The environment tells as much; its commit is of what would be merged, and of no push.
		if e.PullRequest != 12 || e.BaseRef != "main" || e.HeadSHA != mergeSHA || e.Run.SHA != "" {
			t.Errorf("%s: %+v", file, e)
		}
	}
	for ref, want := range map[string]int{"refs/pull/12/merge": 12, "refs/pull/0/merge": 0, "refs/pull/x/merge": 0, "refs/heads/refs/pull/12/merge": 0, "refs/pull/99999999999/merge": 0, "": 0} {
		if e, _ := ReadEvent(actionsEnv(t, "pull_request", "{}", map[string]string{"GITHUB_REF": ref})); e.PullRequest != want {
			t.Errorf("%s: %d, want %d", ref, e.PullRequest, want)
		}
	}
}

func TestRunAddresses(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "https://github.example/o/r/actions/runs/9050/attempts/1"},
		{map[string]string{"GITHUB_RUN_ATTEMPT": ""}, "https://github.example/o/r/actions/runs/9050"},
		{map[string]string{"GITHUB_RUN_ATTEMPT": "2"}, "https://github.example/o/r/actions/runs/9050/attempts/2"},
		{map[string]string{"GITEA_ACTIONS": "true", "GITHUB_RUN_ATTEMPT": "2"}, "https://github.example/o/r/actions/runs/9050"},
		// A run's page goes by its number there (forgejo/forgejo#611).
		{map[string]string{"FORGEJO_ACTIONS": "true", "GITHUB_RUN_ATTEMPT": "2"}, "https://github.example/o/r/actions/runs/50"},
		{map[string]string{"FORGEJO_ACTIONS": "true", "GITHUB_RUN_NUMBER": ""}, ""},
		{map[string]string{"GITHUB_RUN_ID": ""}, ""},
		{map[string]string{"GITHUB_SERVER_URL": ""}, ""},
		{map[string]string{"GITHUB_REPOSITORY": ""}, ""},
	} {
		if e, err := ReadEvent(actionsEnv(t, "push", "{}", test.env)); e.Run.URL != test.want || err != nil {
			t.Errorf("%v: %q, %v; want %q", test.env, e.Run.URL, err, test.want)
		}
	}
	e := Event{Server: "https://github.example", Repository: "o/r", HeadSHA: headSHA}
	blob := "https://github.example/o/r/blob/" + headSHA + "/"
	for _, test := range []struct {
		file string
		line int
		want string
	}{
		{"policy.yaml", 17, blob + "policy.yaml#L17"}, {"./a//b.yaml", 0, blob + "a/b.yaml"}, {"ü #?%/x).yaml", -1, blob + "%C3%BC%20%23%3F%25/x%29.yaml"},
		{"", 1, ""}, {"../x", 1, ""}, {"/etc/passwd", 1, ""}, {".", 0, ""},
	} {
		if got := e.FileURL(test.file, test.line); got != test.want {
			t.Errorf("%q: %q, want %q", test.file, got, test.want)
		}
	}
	e.BaseSHA = baseSHA
	if got, want := e.BaseURL("policy.yaml", 3), "https://github.example/o/r/blob/"+baseSHA+"/policy.yaml#L3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Gitea and Forgejo have files elsewhere.
	for _, platform := range []string{"GITEA_ACTIONS", "FORGEJO_ACTIONS"} {
		e, err := ReadEvent(actionsEnv(t, "push", "{}", map[string]string{platform: "true"}))
		if got, want := e.FileURL("a/b.yaml", 2), "https://github.example/o/r/src/commit/"+mergeSHA+"/a/b.yaml#L2"; got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	for _, less := range []Event{{Server: "x", Repository: "o/r"}, {Server: "x", HeadSHA: headSHA}, {Repository: "o/r", HeadSHA: headSHA}} {
		if got := less.FileURL("policy.yaml", 1); got != "" {
			t.Errorf("%+v: %q", less, got)
		}
	}
	for run, want := range map[Run]string{
		{}: "", {Number: 812, SHA: "0a1b2c3d4e"}: "run 812, attempt 1, commit 0a1b2c3", {Number: 812, Attempt: 3}: "run 812, attempt 3", {Number: 1, SHA: "abc"}: "run 1, attempt 1, commit abc",
	} {
		if got := run.String(); got != want {
			t.Errorf("%+v: %q, want %q", run, got, want)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add("pull_request", pullRequestPayload("null"))
	f.Add("workflow_run", workflowRunPayload(`{"id": 1000}`, `[{"number": 3}]`))
	f.Fuzz(func(t *testing.T, name, payload string) {
		e, _ := ReadEvent(actionsEnv(t, name, payload, nil))
		if e.PullRequest < 0 || e.Run.ID < 0 || e.Run.Number < 0 || e.Run.Attempt < 0 {
			t.Fatalf("%+v", e)
		}
		for _, sha := range []string{e.HeadSHA, e.BaseSHA, e.Run.SHA} {
			if sha != "" && !commitID().MatchString(sha) {
				t.Fatalf("%q", sha)
			}
		}
		if e.Repository != "o/r" || e.Run.URL != "" && !strings.HasPrefix(e.Run.URL, "https://github.example/o/r/actions/runs/") {
			t.Fatalf("%+v", e)
		}
	})
}

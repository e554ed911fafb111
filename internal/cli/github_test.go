package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The repository and the commits of the tests. Only their equality counts.
const (
	testRepository = "owner/name"
	headCommit     = "1111111111111111111111111111111111111111"
	baseCommit     = "2222222222222222222222222222222222222222"
	otherCommit    = "3333333333333333333333333333333333333333"
)

// note is a comment or an issue on the server.
type note struct {
	id           int
	issue        bool
	title, body  string
	state        string
	pull         int // of a comment
	lastModified int // counts up with every change of any note
}

// github is the part of GitHub's API that a run speaks to, in memory.
type github struct {
	url string

	mu       sync.Mutex
	notes    []*note
	files    map[string]string // by "COMMIT:PATH"
	heads    map[int]string    // the newest commit of each pull request
	from     map[int]int       // the id of the repository that each pull request comes from; a fork's, 2, where it is not there
	readOnly bool              // the token may not write
	// answer, where it is not nil, answers a request in place of the server: it returns whether it has.
	answer   func(w http.ResponseWriter, r *http.Request) bool
	requests []string // "METHOD /path?query"
	tokens   map[string]bool
	changes  int
}

func newGitHub(t testing.TB) *github {
	t.Helper()
	g := &github{files: map[string]string{}, heads: map[int]string{}, from: map[int]int{}, tokens: map[string]bool{}}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// noSleep is how tests wait: not at all.
func noSleep(context.Context, time.Duration) {}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests = append(g.requests, r.Method+" "+r.URL.RequestURI())
	g.tokens[r.Header.Get("Authorization")] = true
	if g.answer != nil && g.answer(w, r) {
		return
	}
	path, found := strings.CutPrefix(r.URL.Path, "/repos/"+testRepository+"/")
	parts := strings.Split(path, "/")
	number := func(i int) int {
		n, err := strconv.Atoi(parts[min(i, len(parts)-1)])
		if err != nil {
			return -1
		}
		return n
	}
	send := struct{ Title, Body, State string }{}
	if r.Method != http.MethodGet {
		if g.readOnly {
			g.refuse(w, http.StatusForbidden, "Resource not accessible by integration")
			return
		}
		text, err := io.ReadAll(r.Body)
		if err != nil || len(text) > 0 && json.Unmarshal(text, &send) != nil {
			g.refuse(w, http.StatusBadRequest, "Problems parsing JSON")
			return
		}
	}
	switch route := r.Method + " " + strings.Join(parts[:min(2, len(parts))], "/"); {
	case !found:
		g.refuse(w, http.StatusNotFound, "Not Found")
	case parts[0] == "contents" && r.Method == http.MethodGet:
		text, there := g.files[r.URL.Query().Get("ref")+":"+strings.TrimPrefix(path, "contents/")]
		if !there {
			g.refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		_, _ = io.WriteString(w, text)
	case parts[0] == "pulls" && len(parts) == 2 && r.Method == http.MethodGet:
		head, there := g.heads[number(1)]
		if !there {
			g.refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"number": number(1), "head": map[string]any{"sha": head, "repo": map[string]any{"id": cmp.Or(g.from[number(1)], 2)}}})
	case route == "GET git/commits" && slices.Contains([]string{baseCommit, headCommit, otherCommit}, parts[len(parts)-1]):
		writeJSON(w, http.StatusOK, map[string]any{"sha": parts[2]})
	case route == "GET issues/comments" || route == "PATCH issues/comments" || route == "DELETE issues/comments":
		g.one(w, r, number(2), false, send.Title, send.Body, send.State)
	case len(parts) == 3 && parts[0] == "issues" && parts[2] == "comments" && r.Method == http.MethodGet:
		g.list(w, func(n *note) bool { return !n.issue && n.pull == number(1) })
	case len(parts) == 3 && parts[0] == "issues" && parts[2] == "comments" && r.Method == http.MethodPost:
		g.create(w, note{pull: number(1), body: send.Body})
	case path == "issues" && r.Method == http.MethodGet:
		state := cmp.Or(r.URL.Query().Get("state"), "open")
		g.list(w, func(n *note) bool { return n.issue && n.state == state })
	case path == "issues" && r.Method == http.MethodPost:
		g.create(w, note{issue: true, title: send.Title, body: send.Body, state: "open"})
	case len(parts) == 2 && parts[0] == "issues":
		g.one(w, r, number(1), true, send.Title, send.Body, send.State)
	default:
		g.refuse(w, http.StatusNotFound, "Not Found")
	}
}

func (g *github) create(w http.ResponseWriter, n note) {
	g.changes++
	n.id, n.lastModified = 100+len(g.notes), g.changes
	g.notes = append(g.notes, &n)
	writeJSON(w, http.StatusCreated, n.json())
}

func (g *github) list(w http.ResponseWriter, want func(*note) bool) {
	list := []any{}
	for _, n := range g.notes {
		if want(n) {
			list = append(list, n.json())
		}
	}
	writeJSON(w, http.StatusOK, list)
}

// one reads, changes or removes one comment or issue.
func (g *github) one(w http.ResponseWriter, r *http.Request, id int, issue bool, title, body, state string) {
	at := slices.IndexFunc(g.notes, func(n *note) bool { return n.id == id && n.issue == issue })
	if at < 0 {
		g.refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	n := g.notes[at]
	switch r.Method {
	case http.MethodPatch:
		g.changes++
		n.title, n.body, n.state, n.lastModified = cmp.Or(title, n.title), cmp.Or(body, n.body), cmp.Or(state, n.state), g.changes
	case http.MethodDelete:
		g.notes = slices.Delete(g.notes, at, at+1)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeJSON(w, http.StatusOK, n.json())
}

func (n *note) json() map[string]any {
	bot := map[string]any{"login": "github-actions[bot]", "type": "Bot"}
	if n.issue {
		return map[string]any{"id": n.id, "number": n.id, "title": n.title, "body": n.body, "state": n.state, "html_url": fmt.Sprintf("https://github.example/issues/%d", n.id), "user": bot}
	}
	return map[string]any{"id": n.id, "body": n.body, "html_url": n.address(), "user": bot}
}

// address is a comment's page.
func (n *note) address() string {
	return fmt.Sprintf("https://github.example/pull/%d#comment-%d", n.pull, n.id)
}

func (g *github) refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"message": message})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// wrote lists the requests that would change something.
func (g *github) wrote() (list []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.requests {
		if !strings.HasPrefix(r, "GET ") {
			list = append(list, r)
		}
	}
	return list
}

// onGitHub lets a step know its server and a run's number. Its event is none yet.
func (s *step) onGitHub(g *github) *step {
	for name, value := range map[string]string{
		"GITHUB_API_URL": g.url, "GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": testRepository, "INPUT_GITHUB-TOKEN": "a-token",
		"GITHUB_RUN_ID": "9011", "GITHUB_RUN_NUMBER": "11", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "Model update", "GITHUB_SHA": headCommit,
	} {
		s.env[name] = value
	}
	return s
}

// event gives a step its event.
func (s *step) event(name string, payload map[string]any) *step {
	s.t.Helper()
	payload["repository"] = map[string]any{"id": 1, "full_name": testRepository, "default_branch": "main"}
	text, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	s.env["GITHUB_EVENT_NAME"], s.env["GITHUB_EVENT_PATH"] = name, filepath.Join(s.runner, "event.json")
	writeFile(s.t, s.env["GITHUB_EVENT_PATH"], string(text))
	return s
}

// pulled is a payload of pull request 7, from the repository with the given id: 1 is the base's own.
func pulled(headRepository int) map[string]any {
	repo := func(id int) map[string]any { return map[string]any{"id": id, "full_name": "some/one"} }
	return map[string]any{"number": 7, "pull_request": map[string]any{
		"number": 7,
		"head":   map[string]any{"ref": "change", "sha": headCommit, "repo": repo(headRepository)},
		"base":   map[string]any{"ref": "main", "sha": baseCommit, "repo": repo(1)},
	}}
}

// pullRequest is a step in pull request 7, of a policy that is the same on the base branch.
func pullRequest(t *testing.T, policy string) (*step, *github) {
	t.Helper()
	g := newGitHub(t)
	s := newStep(t).onGitHub(g).event("pull_request", pulled(1))
	g.files[baseCommit+":"+policy] = s.text(policy)
	g.heads[7] = headCommit
	s.env["INPUT_POLICY"], s.env["INPUT_DECISIONS"] = policy, "data/decisions.csv"
	return s, g
}

// next is the same step in a later run, with its outputs and logs empty again.
func (s *step) next(number int) *step {
	s.t.Helper()
	s.env["GITHUB_RUN_NUMBER"], s.env["GITHUB_RUN_ID"] = strconv.Itoa(number), strconv.Itoa(9000+number)
	writeFile(s.t, s.env["GITHUB_OUTPUT"], "")
	writeFile(s.t, s.env["GITHUB_STEP_SUMMARY"], "")
	s.stdout.Reset()
	s.stderr.Reset()
	return s
}

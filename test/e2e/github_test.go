package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// remark is a comment, as the API shows it.
type remark struct {
	ID      int64          `json:"id"`
	Body    string         `json:"body"`
	HTMLURL string         `json:"html_url"`
	User    map[string]any `json:"user"`
	Issue   int            `json:"-"`
}

// issue is an issue, as the API shows it.
type issue struct {
	Number  int              `json:"number"`
	Title   string           `json:"title"`
	Body    string           `json:"body"`
	State   string           `json:"state"`
	HTMLURL string           `json:"html_url"`
	User    map[string]any   `json:"user"`
	Labels  []map[string]any `json:"labels"`
}

// pull is a pull request.
type pull struct {
	number     int
	head, base string // commits
	fork       bool   // its head is in another repository
	files      map[string]string
}

// gitHub is the part of GitHub that the action speaks to, in memory: comments and issues are kept, so that a
// second run meets what the first one wrote. Every request is also shown to Prism, which holds it against
// GitHub's own description of its API.
type gitHub struct {
	t        *testing.T
	url      string
	prism    string // the address of Prism
	readOnly bool   // the token may not write, as a fork's
	// racing, where there is one, is called once, just before a comment is made: another run that comes in between.
	racing func()

	mu       sync.Mutex
	comments []remark
	issues   []issue
	pulls    []pull
	requests []string // "METHOD /path", without the query
	nextID   int64
}

// repository is the one that the tests speak of, with the id that tells it from a fork of the same name.
const (
	repository   = "oloproof/oloproof"
	repositoryID = 1000
	forkID       = 2000
)

// newGitHub starts a server on this machine's own address. act shares the host's network with the container
// that it runs the action in.
func newGitHub(t *testing.T) *gitHub {
	t.Helper()
	g := &gitHub{t: t, prism: prism(t), nextID: 100}
	repo := "^/repos/" + repository
	routes := []struct {
		method string
		path   *regexp.Regexp // what it holds in parentheses is the path value "id"
		serve  http.HandlerFunc
	}{
		{"GET", regexp.MustCompile(repo + `/issues/(\d+)/comments$`), g.listComments},
		{"POST", regexp.MustCompile(repo + `/issues/(\d+)/comments$`), g.createComment},
		{"GET", regexp.MustCompile(repo + `/issues/comments/(\d+)$`), g.comment},
		{"PATCH", regexp.MustCompile(repo + `/issues/comments/(\d+)$`), g.comment},
		{"DELETE", regexp.MustCompile(repo + `/issues/comments/(\d+)$`), g.comment},
		{"GET", regexp.MustCompile(repo + `/issues()$`), g.listIssues},
		{"POST", regexp.MustCompile(repo + `/issues()$`), g.createIssue},
		{"GET", regexp.MustCompile(repo + `/issues/(\d+)$`), g.issue},
		{"PATCH", regexp.MustCompile(repo + `/issues/(\d+)$`), g.issue},
		{"GET", regexp.MustCompile(repo + `/pulls/(\d+)$`), g.pull},
		{"GET", regexp.MustCompile(repo + `/contents/(.+)$`), g.contents},
		{"GET", regexp.MustCompile(repo + `/git/commits/([0-9a-f]{40})$`), g.commit},
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, route := range routes {
			if m := route.path.FindStringSubmatch(r.URL.Path); m != nil && route.method == r.Method {
				r.SetPathValue("id", m[1])
				route.serve(w, r)
				return
			}
		}
		t.Errorf("a request that the test's GitHub does not know: %s %s", r.Method, r.URL)
		g.refuse(w, http.StatusNotFound, "Not Found")
	})
	server := httptest.NewServer(g.checked(serve))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// checked shows a request to Prism before it is answered. Prism's answer is made up from the description; what
// counts is whether the request kept to it.
func (g *gitHub) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			g.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		if violation := violation(g.prism, r.Method, r.URL.RequestURI(), r.Header, body); violation != "" {
			g.t.Errorf("%s %s %s\nbreaks the description of the API: %s", r.Method, r.URL, body, violation)
		}
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") && !strings.HasPrefix(r.Header.Get("Authorization"), "token ") {
			g.t.Errorf("%s %s has no token", r.Method, r.URL)
		}
		if accept := r.Header.Get("Accept"); accept != "application/vnd.github+json" && accept != "application/vnd.github.raw+json" {
			g.t.Errorf("%s %s accepts %q", r.Method, r.URL, accept)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests = append(g.requests, r.Method+" "+r.URL.Path)
		if g.readOnly && r.Method != http.MethodGet {
			g.refuse(w, http.StatusForbidden, "Resource not accessible by integration")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// violation returns what Prism has against a request, "" for nothing.
func violation(prism, method, uri string, header http.Header, body []byte) string {
	request, err := http.NewRequest(method, prism+uri, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header = header.Clone()
	request.Header.Del("Accept-Encoding")
	request.Header.Set("Accept", "*/*") // the description has no word of GitHub's own media types
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	// Prism also tells what its own made-up answer lacks, which is no fault of the request.
	var told []struct {
		Location []string
		Message  string
	}
	if header := answer.Header.Get("Sl-Violations"); header != "" {
		if err := json.Unmarshal([]byte(header), &told); err != nil {
			return err.Error()
		}
	}
	for _, v := range told {
		if len(v.Location) == 0 || v.Location[0] != "response" {
			return v.Message
		}
	}
	if answer.StatusCode >= 500 && len(told) > 0 {
		return ""
	}
	if answer.StatusCode >= 400 {
		return fmt.Sprintf("%d %s", answer.StatusCode, text)
	}
	return ""
}

func (g *gitHub) refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}

func (g *gitHub) answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		g.t.Error(err)
	}
}

// page cuts a list as GitHub does, and names the next page.
func page[T any](g *gitHub, w http.ResponseWriter, r *http.Request, all []T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	size, n := min(number("per_page", 30), 100), number("page", 1)
	from := min((n-1)*size, len(all))
	to := min(from+size, len(all))
	if to < len(all) {
		next := *r.URL
		query := next.Query()
		query.Set("page", strconv.Itoa(n+1))
		next.RawQuery = query.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, g.url, next.RequestURI()))
	}
	g.answer(w, http.StatusOK, append([]T{}, all[from:to]...))
}

func (g *gitHub) listComments(w http.ResponseWriter, r *http.Request) {
	var list []remark
	for _, c := range g.comments {
		if strconv.Itoa(c.Issue) == r.PathValue("id") {
			list = append(list, c)
		}
	}
	page(g, w, r, list)
}

func (g *gitHub) createComment(w http.ResponseWriter, r *http.Request) {
	if racing := g.racing; racing != nil {
		g.racing = nil
		racing()
	}
	number, err := strconv.Atoi(r.PathValue("id"))
	var in struct{ Body string }
	if err != nil || json.NewDecoder(r.Body).Decode(&in) != nil || in.Body == "" || len(in.Body) > 65_536 {
		g.refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	g.nextID++
	c := remark{ID: g.nextID, Body: in.Body, Issue: number, User: bot(),
		HTMLURL: fmt.Sprintf("https://github.com/%s/pull/%d#issuecomment-%d", repository, number, g.nextID)}
	g.comments = append(g.comments, c)
	g.answer(w, http.StatusCreated, c)
}

func (g *gitHub) comment(w http.ResponseWriter, r *http.Request) {
	for i := range g.comments {
		c := &g.comments[i]
		if strconv.FormatInt(c.ID, 10) != r.PathValue("id") {
			continue
		}
		switch r.Method {
		case http.MethodDelete:
			g.comments = append(g.comments[:i], g.comments[i+1:]...)
			w.WriteHeader(http.StatusNoContent)
			return
		case http.MethodPatch:
			if json.NewDecoder(r.Body).Decode(c) != nil {
				g.refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
				return
			}
		}
		g.answer(w, http.StatusOK, c)
		return
	}
	g.refuse(w, http.StatusNotFound, "Not Found")
}

func (g *gitHub) listIssues(w http.ResponseWriter, r *http.Request) {
	state := r.URL.Query().Get("state")
	var list []any
	for _, p := range g.pulls { // a pull request is an issue, too
		if state != "closed" {
			list = append(list, p.json())
		}
	}
	for _, i := range g.issues {
		if state == "all" || i.State == state || state == "" && i.State == "open" {
			list = append(list, i)
		}
	}
	page(g, w, r, list)
}

func (g *gitHub) createIssue(w http.ResponseWriter, r *http.Request) {
	var in struct{ Title, Body string }
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Title == "" {
		g.refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	number := len(g.issues) + len(g.pulls) + 1
	i := issue{Number: number, Title: in.Title, Body: in.Body, State: "open", User: bot(),
		HTMLURL: fmt.Sprintf("https://github.com/%s/issues/%d", repository, number)}
	g.issues = append(g.issues, i)
	g.answer(w, http.StatusCreated, i)
}

func (g *gitHub) issue(w http.ResponseWriter, r *http.Request) {
	for n := range g.issues {
		i := &g.issues[n]
		if strconv.Itoa(i.Number) != r.PathValue("id") {
			continue
		}
		if r.Method == http.MethodPatch {
			var in struct{ Title, Body, State *string }
			if json.NewDecoder(r.Body).Decode(&in) != nil {
				g.refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
				return
			}
			for into, value := range map[*string]*string{&i.Title: in.Title, &i.Body: in.Body, &i.State: in.State} {
				if value != nil {
					*into = *value
				}
			}
		}
		g.answer(w, http.StatusOK, i)
		return
	}
	g.refuse(w, http.StatusNotFound, "Not Found")
}

func (g *gitHub) pull(w http.ResponseWriter, r *http.Request) {
	for _, p := range g.pulls {
		if strconv.Itoa(p.number) == r.PathValue("id") {
			g.answer(w, http.StatusOK, p.json())
			return
		}
	}
	g.refuse(w, http.StatusNotFound, "Not Found")
}

// contents gives files of a pull request's base commit, as they are: Accept asks for the raw form.
func (g *gitHub) contents(w http.ResponseWriter, r *http.Request) {
	for _, p := range g.pulls {
		if text, found := p.files[r.PathValue("id")]; found && r.URL.Query().Get("ref") == p.base {
			if r.Header.Get("Accept") != "application/vnd.github.raw+json" {
				g.t.Errorf("%s asks for %q", r.URL, r.Header.Get("Accept"))
			}
			w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
			_, _ = io.WriteString(w, text)
			return
		}
	}
	g.refuse(w, http.StatusNotFound, "Not Found")
}

// commit gives the commits of pull requests, by their ids alone.
func (g *gitHub) commit(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	for _, p := range g.pulls {
		if id == p.head || id == p.base {
			g.answer(w, http.StatusOK, map[string]any{"sha": id})
			return
		}
	}
	g.refuse(w, http.StatusNotFound, "Not Found")
}

// json is the pull request as the API and the event show it.
func (p pull) json() map[string]any {
	here := map[string]any{"id": repositoryID, "full_name": repository, "fork": false}
	head := here
	if p.fork {
		head = map[string]any{"id": forkID, "full_name": "someone/oloproof", "fork": true}
	}
	return map[string]any{
		"number": p.number, "state": "open", "pull_request": map[string]any{}, "html_url": fmt.Sprintf("https://github.com/%s/pull/%d", repository, p.number),
		"head": map[string]any{"sha": p.head, "ref": "change", "label": "x:change", "repo": head},
		"base": map[string]any{"sha": p.base, "ref": "main", "label": "oloproof:main", "repo": here},
	}
}

func bot() map[string]any {
	return map[string]any{"login": "github-actions[bot]", "id": 41898282, "type": "Bot"}
}

// said returns the comments under a pull request.
func (g *gitHub) said(number int) []remark {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []remark
	for _, c := range g.comments {
		if c.Issue == number {
			list = append(list, c)
		}
	}
	return list
}

// opened returns the issues.
func (g *gitHub) opened() []issue {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]issue(nil), g.issues...)
}

// asked returns how often each kind of request came: "METHOD /path" with NUMBER for digits.
func (g *gitHub) asked() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := map[string]int{}
	for _, r := range g.requests {
		parts := strings.Split(r, "/")
		for i, part := range parts {
			if _, err := strconv.Atoi(part); err == nil {
				parts[i] = "NUMBER"
			}
		}
		counts[strings.Join(parts, "/")]++
	}
	return counts
}

// prismServer is the one Prism of a run of the tests: it takes some ten seconds to start. It ends when its standard
// input does, which is when the tests do, however they end.
var prismServer struct {
	once  sync.Once
	stdin io.Closer
	url   string
	err   error
}

// prism returns the address of Prism with GitHub's description of its API, which it starts where it does not run.
func prism(t *testing.T) string {
	t.Helper()
	prismServer.once.Do(func() { prismServer.url, prismServer.err = startPrism() })
	if prismServer.err != nil {
		t.Fatal(prismServer.err)
	}
	return prismServer.url
}

func startPrism() (string, error) {
	folder := os.Getenv("OLOPROOF_PRISM")
	if folder == "" {
		return "", fmt.Errorf("OLOPROOF_PRISM does not say where @stoplight/prism-cli and @octokit/openapi are installed")
	}
	modules := filepath.Join(folder, "node_modules")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := free.Close(); err != nil {
		return "", err
	}
	description, err := readDescription(filepath.Join(modules, "@octokit/openapi/generated/api.github.com.json"))
	if err != nil {
		return "", err
	}
	defer os.Remove(description) // Prism has read it once it answers
	command := exec.Command("node", "--import", "data:text/javascript,process.stdin.on('end',()=>process.exit()).resume()",
		filepath.Join(modules, "@stoplight/prism-cli/dist/index.js"), "mock", "--host", "127.0.0.1", "--port", port, "--errors", description)
	if prismServer.stdin, err = command.StdinPipe(); err != nil {
		return "", err
	}
	if err := command.Start(); err != nil {
		return "", fmt.Errorf("prism: %w", err)
	}
	for range 600 { // a bound on waiting, far above what a busy machine needs
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return "http://" + address, connection.Close()
		}
		time.Sleep(200 * time.Millisecond)
	}
	return "", fmt.Errorf("prism does not answer on %s", address)
}

// readDescription copies GitHub's description of its API into a file of a form that Prism checks whole. Where a
// schema is "nullable" without a "type", as parts of an issue's are, Prism's validator gives up, and Prism lets
// every body pass: there null becomes one of the alternatives.
func readDescription(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	var description any
	if err := json.Unmarshal(text, &description); err != nil {
		return "", err
	}
	repaired := 0
	var repair func(node any)
	repair = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, child := range node {
				repair(child)
			}
		case map[string]any:
			for _, child := range node {
				repair(child)
			}
			if _, typed := node["type"].(string); typed || node["nullable"] != true {
				return
			}
			for _, key := range []string{"oneOf", "anyOf"} {
				if alternatives, ok := node[key].([]any); ok {
					node[key] = append(alternatives, map[string]any{"enum": []any{nil}})
				}
			}
			delete(node, "nullable")
			repaired++
		}
	}
	repair(description)
	if repaired == 0 {
		return "", fmt.Errorf("%s has nothing to repair any more: take it as it is", name)
	}
	if text, err = json.Marshal(description); err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "api.*.json")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Close())
}

// TestPrism shows that the judge judges: what breaks GitHub's description is told, what keeps to it is not.
func TestPrism(t *testing.T) {
	wanted(t)
	url := prism(t)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/vnd.github+json"}, "Authorization": {"Bearer x"}}
	for _, c := range []struct {
		name, method, uri, body string
		right                   bool
	}{
		{"a comment", "POST", "/repos/o/r/issues/1/comments", `{"body": "x"}`, true},
		{"a comment without a body", "POST", "/repos/o/r/issues/1/comments", `{"text": "x"}`, false},
		{"a number for a body", "PATCH", "/repos/o/r/issues/comments/1", `{"body": 1}`, false},
		{"a word for a number", "GET", "/repos/o/r/issues/one/comments", ``, false},
		{"a state", "PATCH", "/repos/o/r/issues/1", `{"state": "closed", "state_reason": "completed"}`, true},
		{"an issue", "POST", "/repos/o/r/issues", `{"title": "x", "body": "x"}`, true},
		{"an issue without a title", "POST", "/repos/o/r/issues", `{"body": "x"}`, false},
		{"a state that is none", "PATCH", "/repos/o/r/issues/1", `{"state": "done"}`, false},
		{"no such path", "GET", "/repos/o/r/remarks", ``, false},
		{"a page that is no number", "GET", "/repos/o/r/issues/1/comments?page=x", ``, false},
	} {
		if got := violation(url, c.method, c.uri, header, []byte(c.body)); (got == "") != c.right {
			t.Errorf("%s: Prism says %q", c.name, got)
		}
	}
}

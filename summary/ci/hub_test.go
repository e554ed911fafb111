package ci

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// hubToken is the token of every test: what it must not turn up in is searched for it.
const hubToken = "ghs_secret0123456789"

// account is a user of the hub. Association is "" where the hub has none, as Gitea.
type account struct {
	ID          int64
	Type        string
	Association string
}

var (
	jobToken  = account{41898282, "Bot", "NONE"} // github-actions[bot]
	owner     = account{7, "User", "OWNER"}
	member    = account{8, "User", "CONTRIBUTOR"} // of the organization, who keeps that private
	stranger  = account{9, "User", "NONE"}
	giteaUser = account{3, "", ""}
)

// entry is a comment or an issue on the hub.
type entry struct {
	ID     int64
	Thread int // the pull request of a comment; 0 for an issue
	Number int // of an issue
	Title  string
	Body   string
	State  string
	Reason string
	Author account
	Pull   bool // an issue that is a pull request
}

// hub is the part of GitHub that the client speaks to, in memory. Its fields may be set before requests come, and by hooks.
type hub struct {
	t        testing.TB
	base     string // what stands before every path, such as /api/v3
	gitea    bool   // answers as Gitea does
	account  account
	comments []*entry
	issues   []*entry
	heads    map[int]string    // of pull requests, by number
	from     map[int]int64     // the ids of the repositories that they come from; 0: it is gone
	commits  map[string]bool   // that the token may see
	files    map[string]string // by "REF PATH"

	// before is called for every request, before it has had an effect; where it returns a handler, that one answers instead.
	before func(r *http.Request) http.HandlerFunc
	// after is called once a request has had its effect; where it reports true, the connection is dropped without an answer.
	after func(r *http.Request) bool

	mu       sync.Mutex
	requests []string // METHOD PATH, without base
	lastID   int64
}

func newHub(t testing.TB) *hub {
	return &hub{t: t, account: jobToken, heads: map[int]string{}, from: map[int]int64{}, commits: map[string]bool{}, files: map[string]string{}, lastID: 100}
}

// made counts the requests of a method.
func (h *hub) made(method string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		if strings.HasPrefix(r, method+" ") {
			n++
		}
	}
	return n
}

// comment puts a comment on pull request 12.
func (h *hub) comment(by account, body string) *entry {
	h.lastID++
	e := &entry{ID: h.lastID, Thread: 12, Body: body, Author: by}
	h.comments = append(h.comments, e)
	return e
}

// issue puts an issue on the hub.
func (h *hub) issue(by account, state, body string) *entry {
	h.lastID++
	e := &entry{ID: h.lastID, Number: int(h.lastID) - 100, Body: body, Author: by, State: state}
	h.issues = append(h.issues, e)
	return e
}

// ours lists the comments and issues with a marker.
func (h *hub) ours() (list []*entry) {
	for _, e := range slices.Concat(h.comments, h.issues) {
		if strings.HasPrefix(e.Body, "<!-- oloproof:") {
			list = append(list, e)
		}
	}
	return list
}

func (h *hub) json(e *entry) map[string]any {
	user := map[string]any{"id": e.Author.ID, "login": "somebody"}
	out := map[string]any{"id": e.ID, "body": e.Body, "user": user, "html_url": fmt.Sprintf("https://github.example/o/r/pull/12#issuecomment-%d", e.ID)}
	if !h.gitea {
		out["author_association"] = e.Author.Association
		user["type"] = e.Author.Type
	}
	if e.Thread == 0 {
		out["number"], out["title"], out["state"] = e.Number, e.Title, e.State
		out["html_url"] = fmt.Sprintf("https://github.example/o/r/issues/%d", e.Number)
		if e.Pull {
			out["pull_request"] = map[string]any{"url": "x"}
		} else if h.gitea {
			out["pull_request"] = nil
		}
	}
	return out
}

func hubSays(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// refusing answers with a status, a message and headers, given as name, value, name, value.
func refusing(status int, message string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		hubSays(w, status, map[string]any{"message": message})
	}
}

var hubPaths = regexp.MustCompile(`^/(?:repos/o/r/(issues/comments|issues|pulls|contents|git/commits)(?:/([^/]+))?(/comments|/.*)?|(user))$`)

// ServeHTTP answers a request.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, want := range map[string]string{"Authorization": "Bearer " + hubToken, "User-Agent": "oloproof/1.2.3", "X-GitHub-Api-Version": "2022-11-28"} {
		if got := r.Header.Get(name); got != want {
			h.t.Errorf("%s %s: header %s is %q, want %q", r.Method, r.URL, name, got, want)
		}
	}
	place, ok := strings.CutPrefix(r.URL.Path, h.base)
	if !ok {
		h.t.Errorf("%s %s is not below %s", r.Method, r.URL, h.base)
	}
	h.mu.Lock()
	h.requests = append(h.requests, r.Method+" "+place)
	before, after := h.before, h.after
	h.mu.Unlock()
	if before != nil {
		if instead := before(r); instead != nil {
			instead(w, r)
			return
		}
	}
	answer := httptest.NewRecorder()
	h.mu.Lock()
	h.serve(answer, r, place)
	h.mu.Unlock()
	if after != nil && after(r) {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request, place string) {
	m := hubPaths.FindStringSubmatch(place)
	if m == nil {
		h.t.Errorf("the hub has no %s %s", r.Method, r.URL)
		hubSays(w, 404, map[string]any{"message": "Not Found"})
		return
	}
	id, _ := strconv.ParseInt(m[2], 10, 64)
	sent := map[string]string{}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			h.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		if utf8.RuneCountInString(sent["body"]) > 65_536 { // telia-oss/github-pr-resource#259
			hubSays(w, 422, map[string]any{"message": "Validation Failed: body is too long (maximum is 65536 characters)"})
			return
		}
	}
	create := func(e *entry) *entry {
		h.lastID++
		e.ID, e.Body, e.Author = h.lastID, sent["body"], h.account
		hubSays(w, 201, h.json(e))
		return e
	}
	switch {
	case m[4] == "user":
		if h.account.Type == "Bot" { // a job's token is of no user
			hubSays(w, 403, map[string]any{"message": "Resource not accessible by integration"})
			return
		}
		hubSays(w, 200, map[string]any{"id": h.account.ID})
	case m[1] == "contents":
		h.contents(w, r, m[2]+m[3])
	case m[1] == "pulls":
		head, ok := h.heads[int(id)]
		if !ok {
			hubSays(w, 404, map[string]any{"message": "Not Found"})
			return
		}
		side := map[string]any{"sha": head, "repo": nil}
		if from := h.from[int(id)]; from != 0 {
			side["repo"] = map[string]any{"id": from}
		}
		hubSays(w, 200, map[string]any{"number": id, "head": side})
	case m[1] == "git/commits":
		if !h.commits[m[2]] {
			hubSays(w, 404, map[string]any{"message": "Not Found"})
			return
		}
		hubSays(w, 200, map[string]any{"sha": m[2]})
	case m[1] == "issues" && m[3] == "/comments" && r.Method == http.MethodGet:
		h.page(w, r, slices.DeleteFunc(slices.Clone(h.comments), func(e *entry) bool { return e.Thread != int(id) }))
	case m[1] == "issues" && m[3] == "/comments":
		h.comments = append(h.comments, create(&entry{Thread: int(id)}))
	case m[1] == "issues" && m[2] == "" && r.Method == http.MethodGet:
		if kind := r.URL.Query().Get("type"); kind != "" && !h.gitea { // the name of a type of issues, which none has here
			hubSays(w, 200, []any{})
			return
		}
		list := slices.DeleteFunc(slices.Clone(h.issues), func(e *entry) bool { return e.State != r.URL.Query().Get("state") })
		slices.Reverse(list) // the newest first
		h.page(w, r, list)
	case m[1] == "issues" && m[2] == "":
		h.issues = append(h.issues, create(&entry{Number: int(h.lastID) - 99, Title: sent["title"], State: "open"}))
	default:
		h.one(w, r, m[1], id, sent)
	}
}

// one reads, changes or removes one comment or issue.
func (h *hub) one(w http.ResponseWriter, r *http.Request, kind string, id int64, sent map[string]string) {
	list := &h.issues
	i := slices.IndexFunc(h.issues, func(e *entry) bool { return int64(e.Number) == id })
	if kind == "issues/comments" {
		list = &h.comments
		i = slices.IndexFunc(h.comments, func(e *entry) bool { return e.ID == id })
	}
	if i < 0 {
		hubSays(w, 404, map[string]any{"message": "Not Found"})
		return
	}
	e := (*list)[i]
	switch r.Method {
	case http.MethodDelete:
		*list = slices.Delete(*list, i, i+1)
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPatch:
		for name, into := range map[string]*string{"title": &e.Title, "body": &e.Body, "state": &e.State, "state_reason": &e.Reason} {
			if value, given := sent[name]; given {
				*into = value
			}
		}
	}
	hubSays(w, 200, h.json(e))
}

// page answers with a part of a list. GitHub names the next part in a header; Gitea gives all comments at once.
func (h *hub) page(w http.ResponseWriter, r *http.Request, all []*entry) {
	query := r.URL.Query()
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(query.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	size, n := min(number("per_page", 30), 100), number("page", 1)
	if h.gitea {
		size = len(all) + 1
	}
	from := min((n-1)*size, len(all))
	to := min(from+size, len(all))
	if to < len(all) {
		query.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.example/repositories/1?page=1>; rel="prev", <https://elsewhere.example/repositories/1/x?%s>; rel="next", <https://elsewhere.example/?page=9>; rel="last"`, query.Encode()))
	}
	list := []any{}
	for _, e := range all[from:to] {
		list = append(list, h.json(e))
	}
	hubSays(w, 200, list)
}

// contents answers with a file: as it is, with a list for the text "/", and a text that begins with { is an answer of its own.
func (h *hub) contents(w http.ResponseWriter, r *http.Request, file string) {
	text, ok := h.files[r.URL.Query().Get("ref")+" "+file]
	switch {
	case !ok:
		hubSays(w, 404, map[string]any{"message": "Not Found"})
	case text == "/":
		hubSays(w, 200, []any{map[string]any{"type": "file", "name": "a"}})
	case strings.HasPrefix(text, "{"):
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, text)
	default:
		w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

// inProcess makes the hub answer without a network.
type inProcess struct{ h *hub }

// RoundTrip hands a request to the hub.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if aborted := p.serve(answer, r); aborted {
		return nil, io.ErrUnexpectedEOF
	}
	return answer.Result(), nil
}

func (p inProcess) serve(w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		if recovered := recover(); recovered == http.ErrAbortHandler {
			aborted = true
		} else if recovered != nil {
			panic(recovered)
		}
	}()
	p.h.ServeHTTP(w, r)
	return false
}

// hubNow is the time of every test.
var hubNow = time.Unix(1_800_000_000, 0)

// client is a client of the hub for which no time passes; slept, where it is not nil, gets what it waits.
func (h *hub) client(slept *[]time.Duration) *Client {
	h.t.Helper()
	c, err := NewClient(ClientOptions{
		API: "https://api.example" + h.base, Repository: "o/r", Token: hubToken, Version: "1.2.3", HTTP: &http.Client{Transport: inProcess{h}},
		Sleep: func(_ context.Context, d time.Duration) {
			if slept != nil {
				*slept = append(*slept, d)
			}
		},
		Now: func() time.Time { return hubNow },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// ofRun is what run n posts: a FAIL whose text says so.
func ofRun(n int) Posting {
	return Posting{
		Key: "policy.yaml human-ai", Run: Run{ID: int64(9000 + n), Number: n, Attempt: 1, Workflow: "CI", SHA: fmt.Sprintf("%040x", n)},
		Subject: fmt.Sprintf("subject-%d", n), Verdict: report.Fail, Failing: []string{"a-rule"}, Create: true,
		Body: func(previous *summary.Previous, _ int) (string, error) {
			text := fmt.Sprintf("This is run %d.", n)
			if previous != nil {
				text += fmt.Sprintf(" Before: %s, %v, %q.", previous.Run, previous.Verdict, previous.Failing)
			}
			return text, nil
		},
	}
}

// marked is a comment of a run as it stands on a hub.
func marked(kind string, p Posting) string {
	text, _ := p.Body(nil, commentBytes)
	return p.stamp().marker(kind) + text
}

// says checks that exactly one comment or issue of ours is on the hub, and what it says.
func (h *hub) says(t testing.TB, want string) {
	t.Helper()
	list := h.ours()
	if len(list) != 1 {
		var bodies []string
		for _, e := range list {
			bodies = append(bodies, e.Body)
		}
		t.Fatalf("%d are there, want 1: %q\nrequests: %q", len(list), bodies, h.requests)
	}
	if _, text, _ := strings.Cut(list[0].Body, "\n"); text != want {
		t.Errorf("it says %q, want %q", text, want)
	}
}

// quiet checks that nothing was to be told.
func quiet(t testing.TB, o Outcome) {
	t.Helper()
	if len(o.Notes)+len(o.Problems) > 0 {
		t.Errorf("notes %q, problems %q; want none", o.Notes, o.Problems)
	}
}

// only checks that there is one text in a list, and that it holds all parts.
func only(t testing.TB, what string, list []string, parts ...string) {
	t.Helper()
	if len(list) != 1 {
		t.Errorf("%s: %q, want one", what, list)
		return
	}
	for _, part := range parts {
		if !strings.Contains(list[0], part) {
			t.Errorf("%s: %q has no %q", what, list[0], part)
		}
	}
	if strings.Contains(list[0], hubToken) {
		t.Errorf("%s: the token is in %q", what, list[0])
	}
}

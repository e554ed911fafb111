package ci

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestNewClient(t *testing.T) {
	good := ClientOptions{Repository: "o/r", Token: hubToken}
	for name, test := range map[string]struct {
		change func(*ClientOptions)
		want   string // of the error; "" for none
	}{
		"github.com":           {func(*ClientOptions) {}, ""},
		"no token":             {func(o *ClientOptions) { o.Token = "" }, ""},
		"GitHub Enterprise":    {func(o *ClientOptions) { o.API = "https://git.example/api/v3/" }, ""},
		"no address":           {func(o *ClientOptions) { o.API = "git.example" }, "GITHUB_API_URL"},
		"another scheme":       {func(o *ClientOptions) { o.API = "file:///etc/passwd" }, "GITHUB_API_URL"},
		"a user in it":         {func(o *ClientOptions) { o.API = "https://" + hubToken + "@git.example" }, "GITHUB_API_URL"},
		"not parsed":           {func(o *ClientOptions) { o.API = "https://" + hubToken + " \x7f" }, "GITHUB_API_URL"},
		"no repository":        {func(o *ClientOptions) { o.Repository = "" }, "GITHUB_REPOSITORY"},
		"a hostile repository": {func(o *ClientOptions) { o.Repository = "o/r/../../user" }, "GITHUB_REPOSITORY"},
		"a token of two lines": {func(o *ClientOptions) { o.Token = hubToken + "\nX-Other: 1" }, "characters that no token has"},
	} {
		o := good
		test.change(&o)
		c, err := NewClient(o)
		if test.want == "" && (err != nil || c == nil) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), hubToken) {
			t.Errorf("%s: the token is in %v", name, err)
		}
	}
}

// served starts a server on this machine, and a client of it for which no time passes.
func served(t *testing.T, handler http.Handler, base string) (c *Client, slept *[]time.Duration) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	slept = &[]time.Duration{}
	c, err := NewClient(ClientOptions{API: server.URL + base, Repository: "o/r", Token: hubToken, Version: "1.2.3",
		Sleep: func(_ context.Context, d time.Duration) { *slept = append(*slept, d) }, Now: func() time.Time { return hubNow }})
	if err != nil {
		t.Fatal(err)
	}
	return c, slept
}

// TestOverTheNetwork writes a comment through a real connection, below the path of GitHub Enterprise's API.
func TestOverTheNetwork(t *testing.T) {
	h := newHub(t)
	h.base = "/api/v3"
	c, _ := served(t, h, "/api/v3/")
	for n := 1; n <= 2; n++ {
		quiet(t, c.PostComment(context.Background(), 12, ofRun(n)))
	}
	h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
}

// TestReportingLimitsNeverChangeTheVerdict: whatever the API does is a problem or a note of the posting, waited for within its
// limit, and nothing else (reviewdog's forks: python-tooling#549, vale-action#89).
func TestReportingLimitsNeverChangeTheVerdict(t *testing.T) {
	s := time.Second
	tests := []struct {
		name   string
		answer http.HandlerFunc
		times  int // how often it answers so; then the hub does
		slept  []time.Duration
		want   string // of the problem; "" for none
	}{
		{"429 with seconds", refusing(429, "", "Retry-After", "7"), 2, []time.Duration{7 * s, 7 * s}, ""},
		{"429 with a date", refusing(429, "", "Retry-After", hubNow.Add(9*s).UTC().Format(http.TimeFormat)), 1, []time.Duration{9 * s}, ""},
		{"429 with a date long past", refusing(429, "", "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), 1, []time.Duration{s}, ""},
		{"429 without a word", refusing(429, ""), 1, []time.Duration{60 * s}, ""},
		{"429 without a word, twice", refusing(429, ""), 2, []time.Duration{60 * s}, "asks to wait 60 seconds"},
		{"429 with nonsense", refusing(429, "", "Retry-After", "soon"), 1, []time.Duration{60 * s}, ""},
		{"403 with Retry-After", refusing(403, "secondary", "Retry-After", "3"), 1, []time.Duration{3 * s}, ""},
		{"403 with a reset", refusing(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(hubNow.Unix()+11)), 1, []time.Duration{11 * s}, ""},
		{"403 that says so in words only", refusing(403, "You have exceeded a secondary rate limit."), 1, []time.Duration{60 * s}, ""},
		{"403 with a reset far away", refusing(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(hubNow.Unix()+3000)), 1, nil, "status 403, the API's limit is met, and it asks to wait 3000 seconds"},
		{"403 with a reset beyond all times", refusing(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(math.MaxInt64)), 1, nil, "the API's limit is met"},
		{"403 with requests left", refusing(403, "no", "X-RateLimit-Remaining", "10", "X-RateLimit-Reset", "1"), 1, nil, "status 403, no"},
		{"a wait over the limit", refusing(429, "", "Retry-After", "61"), 1, nil, "asks to wait 61 seconds"},
		{"waits over the limit together", refusing(429, "", "Retry-After", "25"), 9, []time.Duration{25 * s, 25 * s}, "asks to wait 25 seconds"},
		{"a wait beyond all times", refusing(429, "", "Retry-After", "9999999999999999999"), 1, []time.Duration{60 * s}, ""},
		{"a negative wait", refusing(429, "", "Retry-After", "-5"), 1, []time.Duration{s}, ""},
		{"502 once", refusing(502, ""), 1, []time.Duration{s}, ""},
		{"503 for ever", refusing(503, "down\nfor \x1b[2Jmaintenance"), 99, []time.Duration{s, 2 * s}, `status 503, down`},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2, []time.Duration{s, 2 * s}, ""},
		{"broken connections for ever", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 99, []time.Duration{s, 2 * s}, "EOF"},
		{"a body that ends early", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "[")
		}, 1, []time.Duration{s}, ""},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 1, nil, "the answer is not what the API describes"},
		{"not a list", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, 1, nil, "the answer is not what the API describes"},
		{"what was sent comes back", func(w http.ResponseWriter, r *http.Request) {
			refusing(400, "bad "+r.Header.Get("Authorization"))(w, r)
		}, 1, nil, "status 400, bad Bearer ***"},
		{"an endless answer", func(w http.ResponseWriter, _ *http.Request) {
			for range answerBytes>>20 + 1 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		}, 99, nil, "the answer is larger than 64 MiB"},
		{"a long message", refusing(400, strings.Repeat("long ", 10_000)), 1, nil, "long l …"},
		{"a redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:1/elsewhere", http.StatusTemporaryRedirect)
		}, 1, nil, "the API redirects to another address"},
		{"a redirect in a circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		}, 99, nil, "the API redirects to another address"},
		{"a redirect on the same host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusMovedPermanently) // as of a repository that was renamed
		}, 1, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHub(t)
			var asked atomic.Int64 // a broken connection's handler may still be running when the next one begins
			h.before = func(*http.Request) http.HandlerFunc {
				if asked.Add(1) <= int64(test.times) {
					return test.answer
				}
				return nil
			}
			c, slept := served(t, h, "")
			out := c.PostComment(context.Background(), 12, ofRun(1))
			want := test.slept
			if test.want == "" {
				quiet(t, out)
				h.says(t, "This is run 1.")
				want = append(slices.Clone(want), settlePause)
			} else {
				only(t, "problems", out.Problems, "comment: ", "GET /repos/o/r/issues/12/comments", test.want)
				if len(out.Problems) == 1 && len(out.Problems[0]) > 500 {
					t.Errorf("a problem of %d bytes", len(out.Problems[0]))
				}
			}
			if !slices.Equal(*slept, want) {
				t.Errorf("slept %v, want %v", *slept, want)
			}
			if strings.ContainsAny(fmt.Sprint(out.Problems), "\n\x1b") {
				t.Errorf("%q obeys what the server sent", out.Problems)
			}
		})
	}
}

// TestRedirectedWrites: a redirect makes a GET of a PATCH, whose answer is good, and nothing is written.
func TestRedirectedWrites(t *testing.T) {
	for _, status := range []int{301, 302, 303} {
		h := newHub(t)
		c := h.comment(jobToken, marked("comment", ofRun(1)))
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method != http.MethodPatch {
				return nil
			}
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, status) }
		}
		only(t, "problems", post(h, ofRun(2)).Problems, "comment: could not write it", "the API redirects to another address")
		if !strings.Contains(c.Body, "This is run 1.") {
			t.Errorf("%d: %q", status, c.Body)
		}
	}
}

// TestTheTokenGoesNowhereElse: a redirect to another host is not followed at all.
func TestTheTokenGoesNowhereElse(t *testing.T) {
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked++
		t.Errorf("%s was asked with %q", r.URL, r.Header)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := newHub(t)
		h.before = func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL+"/x", status) }
		}
		c, slept := served(t, h, "")
		_, err := c.File(context.Background(), "policy.yaml", "main")
		if !errors.Is(err, errRedirect) || len(*slept) > 0 || len(h.requests) != 1 {
			t.Errorf("%d: %v, slept %v, requests %q", status, err, *slept, h.requests)
		}
	}
}

// TestNoNetworkCostsSeconds: where there is no network, what is optional is given up soon, and each further request at once.
func TestNoNetworkCostsSeconds(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	timeout := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "i/o timeout", Name: "api.example", IsTimeout: true}}
	for name, test := range map[string]struct {
		err     error
		tries   []int // of the first request, of the second
		seconds int   // waited in all
	}{
		"nobody there":   {refused, []int{3, 1}, 3},
		"no name server": {timeout, []int{1, 1}, 0}, // each such try has taken connectTime
		"a broken pipe":  {io.ErrUnexpectedEOF, []int{3, 1}, 3},
	} {
		asked, there := 0, false
		var slept time.Duration
		h := newHub(t)
		c, err := NewClient(ClientOptions{Repository: "o/r", Token: hubToken, Version: "1.2.3",
			HTTP: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				if asked++; there {
					return inProcess{h}.RoundTrip(r)
				}
				return nil, test.err
			})},
			Sleep: func(_ context.Context, d time.Duration) { slept += d }})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.tries {
			asked = 0
			if _, err := c.File(context.Background(), "policy.yaml", "main"); err == nil || !strings.Contains(err.Error(), test.err.Error()) {
				t.Errorf("%s: %v", name, err)
			}
			if asked != want {
				t.Errorf("%s: request %d was tried %d times, want %d", name, i, asked, want)
			}
		}
		if slept != time.Duration(test.seconds)*time.Second {
			t.Errorf("%s: waited %v", name, slept)
		}
		there = true
		if quiet(t, c.PostComment(context.Background(), 12, ofRun(1))); c.tries != tries {
			t.Errorf("%s: the API is back, and is tried %d times", name, c.tries)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTimeout: a server that does not answer is given up, without the token in what is said of it.
func TestTimeout(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	c, err := NewClient(ClientOptions{API: server.URL, Repository: "o/r", Token: hubToken, HTTP: &http.Client{Timeout: 20 * time.Millisecond}, Sleep: func(context.Context, time.Duration) {}})
	if err != nil {
		t.Fatal(err)
	}
	only(t, "problems", c.PostComment(context.Background(), 12, ofRun(1)).Problems, "could not read it", "GET /repos/o/r/issues/12/comments", "exceeded")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.File(ctx, "policy.yaml", "main"); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled: %v", err)
	}
}

// TestDefaults: the clock's sleep ends with its context, and the transport keeps the standard library's proxies.
func TestDefaults(t *testing.T) {
	c, err := NewClient(ClientOptions{Repository: "o/r"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.Sleep(ctx, time.Hour) // else the test does not end
	if transport, ok := c.HTTP.Transport.(*http.Transport); !ok || transport.Proxy == nil || c.HTTP.Timeout != requestTime {
		t.Errorf("%+v", c.HTTP)
	}
	if c.Now().IsZero() || c.base.Host != "api.github.com" {
		t.Errorf("%v, %v", c.Now(), c.base)
	}
}

func TestNextPage(t *testing.T) {
	for link, want := range map[string]string{
		"": "-",
		`<https://api.example/x?page=2>; rel="next"`:                                             "page=2",
		`<https://api.example/x?page=1>; rel="prev", <https://api.example/x?page=9>; rel="last"`: "-",
		`<https://a/x?page=1>; rel="prev", <https://a/x?after=Y3%3D&page=3>; rel="next"`:         "after=Y3%3D&page=3",
		`<https://evil.example/x?page=2>;  type="x"; rel="next"`:                                 "page=2",
		`<:%zz>; rel="next"`: "-",
		`rel="next"`:         "-",
	} {
		got := "-"
		if query, more := nextPage(http.Header{"Link": {link}}); more {
			got = query.Encode()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// TestPathsWithoutDot: "./" before a path, which the API does not know, is taken from it, and no path leads to something else of
// the API.
func TestPathsWithoutDot(t *testing.T) {
	h := newHub(t)
	h.files["base policy.yaml"] = "rules: []\n"
	h.files["base a b/ü#?%.yaml"] = "rules: [] # ü\n"
	for file, want := range map[string]string{
		"policy.yaml": "rules: []\n", "./policy.yaml": "rules: []\n", "x/../policy.yaml": "rules: []\n", "a b//ü#?%.yaml": "rules: [] # ü\n",
	} {
		if got, err := h.client(nil).File(context.Background(), file, "base"); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	asked := len(h.requests)
	for _, file := range []string{"", ".", "..", "../../../user", "a/../../issues", "/etc/passwd"} {
		if got, err := h.client(nil).File(context.Background(), file, "base"); err == nil || len(h.requests) != asked {
			t.Errorf("%q: %q, %v", file, got, err)
		}
	}
}

func TestFile(t *testing.T) {
	wrapped := func(kind, encoding, content string) string {
		return fmt.Sprintf(`{"type": %q, "encoding": %q, "content": %q}`, kind, encoding, content)
	}
	h := newHub(t)
	h.files["c0ffee here.yaml"] = "rules: []\n"
	h.files["c0ffee folder"] = "/"
	h.files["c0ffee gitea.yaml"] = wrapped("file", "base64", "cnVs\nZXM6\r\nIFtdCg==\n") // lines of a limited length, as some servers write them
	h.files["c0ffee link"] = wrapped("symlink", "", "")
	h.files["c0ffee module"] = wrapped("submodule", "", "")
	h.files["c0ffee large"] = wrapped("file", "none", "")
	h.files["c0ffee garbled"] = wrapped("file", "base64", "!!!")
	h.files["c0ffee long.yaml"] = strings.Repeat("#", fileBytes+100)
	h.files["c0ffee long-gitea.yaml"] = wrapped("file", "base64", base64.StdEncoding.EncodeToString(make([]byte, fileBytes+100)))
	h.files["ref&x=y/# policy.yaml"] = "rules: []\n"
	for file, want := range map[string]string{
		"here.yaml": "", "gitea.yaml": "", "folder": "it is a folder", "link": "it is not a file", "module": "it is not a file",
		"large": "it may be too large", "garbled": "not what the API describes",
	} {
		got, err := h.client(nil).File(context.Background(), file, "c0ffee")
		switch {
		case want == "" && (string(got) != "rules: []\n" || err != nil):
			t.Errorf("%s: %q, %v", file, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	for _, file := range []string{"long.yaml", "long-gitea.yaml"} { // a reader of at most 1 MiB can tell that there is more
		if got, err := h.client(nil).File(context.Background(), file, "c0ffee"); len(got) != 1<<20+1 || err != nil {
			t.Errorf("%s: %d bytes, %v", file, len(got), err)
		}
	}
	if _, err := h.client(nil).File(context.Background(), "gone.yaml", "c0ffee"); !errors.Is(err, ErrNotThere) {
		t.Errorf("a file that is not there: %v", err)
	}
	// A token that may not read the repository gets the same answer as who asks for a file that is not there.
	h.commits[baseSHA] = true
	if _, err := h.client(nil).File(context.Background(), "gone.yaml", baseSHA); !errors.Is(err, ErrNoFile) {
		t.Errorf("a file that a commit does not have: %v", err)
	}
	if _, err := h.client(nil).File(context.Background(), "gone.yaml", headSHA); !errors.Is(err, ErrNoAccess) || errors.Is(err, ErrNotThere) {
		t.Errorf("a commit that cannot be seen: %v", err)
	}
	if got, err := h.client(nil).File(context.Background(), "policy.yaml", "ref&x=y/#"); string(got) != "rules: []\n" || err != nil {
		t.Errorf("a hostile branch: %q, %v", got, err)
	}
}

// TestCheckHead: a number from a stranger's file is believed only where the pull request is at the commit that the run was on
// (microsoft/playwright#23456 keeps it in a file, for the event has none for forks: actions/runner#3444).
func TestCheckHead(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	h := newHub(t)
	h.heads[12], h.heads[13], h.heads[14], h.heads[16] = sha, strings.Repeat("cd", 20), "::error::x\n", sha
	h.from[12], h.from[13] = 2000, 2000
	const moved = "the newest commit of pull request 13 is cdcdcdcdcdcd, and the report is about abababababab"
	for _, test := range []struct {
		number     int
		sha        string
		repository int64
		want       string
	}{
		{12, sha, 0, ""},
		{12, sha, 2000, ""},
		// A second pull request, of another fork, can have the commit of this one.
		{12, sha, 3000, "pull request 12 comes from another repository than the run that the report is of"},
		{12, sha, NoRepository, "comes from another repository"},
		{16, sha, NoRepository, ""}, // its repository has been deleted, as the run's
		{16, sha, 2000, "comes from another repository"},
		{13, sha, 0, moved},
		{13, sha, 3000, moved},
		{13, sha, 2000, "the pull request has moved on: " + moved},
		{14, sha, 0, "the answer is not what the API describes"}, // and whatever it gives for a commit is not shown
		{15, sha, 0, "it is not there"},
		{12, "", 0, "which commit the report is about is not known"},
	} {
		err := h.client(nil).CheckHead(context.Background(), test.number, test.sha, test.repository)
		if errors.Is(err, ErrMovedOn) != (test.number == 13 && test.repository == 2000) {
			t.Errorf("%d of %d: moved on? %v", test.number, test.repository, err)
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%d: %v, want %q", test.number, err, test.want)
		}
	}
}

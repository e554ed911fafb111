package cli

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oloproof/oloproof/summary/ci"
)

// theToken is the token of these tests: eight characters of it in a row are taken for a leak.
const theToken = "ghs_Zx81TqLm0R4vWb7Ny2KcUe5HdJ9aPf3S"

// leaks returns the first piece of the token that a text holds, as it is or encoded; "" for none.
func leaks(text string) string {
	for _, secret := range []string{theToken, base64.StdEncoding.EncodeToString([]byte(theToken)), base64.StdEncoding.EncodeToString([]byte("x-access-token:" + theToken))} {
		for i := range len(secret) - 8 {
			if piece := secret[i : i+8]; piece != "eC1hY2Nl" && !strings.Contains("eC1hY2Nlc3MtdG9rZW46", piece) && strings.Contains(text, piece) {
				return piece
			}
		}
	}
	return ""
}

// echo is a server that answers each request with the same bytes, whatever is asked. They hold the token wherever TOKEN stands.
func echo(t *testing.T, answer string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, strings.ReplaceAll(answer, "TOKEN", theToken))
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// answered is a whole answer of HTTP.
func answered(status, header, body string) string {
	body = strings.ReplaceAll(body, "TOKEN", theToken)
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, header, len(body), body)
}

// badAnswers are the ways in which a server can answer, each with the token in it.
func badAnswers(elsewhere string) map[string]string {
	const said = `{"message": "Bad credentials: Bearer TOKEN ` + "\\u001b[31m\\n::error::TOKEN" + `", "documentation_url": "https://x/TOKEN"}`
	const headers = "X-Token: TOKEN\r\nWww-Authenticate: Bearer TOKEN\r\nX-TOKEN: x\r\n"
	list := map[string]string{
		"nothing":                     "",
		"not HTTP":                    "TOKEN\r\n\r\n",
		"a status that is none":       "HTTP/1.1 TOKEN what\r\n\r\n",
		"a protocol that is none":     "TOKEN/9 200 OK\r\n\r\n",
		"a header that is none":       "HTTP/1.1 200 OK\r\nTOKEN\r\n\r\n",
		"a header's name that is bad": "HTTP/1.1 200 OK\r\nTO KEN TOKEN: x\r\n\r\n",
		"a length that is none":       "HTTP/1.1 200 OK\r\nContent-Length: TOKEN\r\n\r\n",
		"an encoding that is none":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: TOKEN\r\n\r\n",
		"chunks that are none":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nTOKEN\r\nTOKEN",
		"a body that breaks off":      "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n[{\"body\": \"TOKEN\"",
		"two lengths":                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2TOKEN\r\n\r\nx",
		"no JSON":                     answered("200 OK", "", "TOKEN"),
		"JSON of another kind":        answered("200 OK", "", `{"head": {"sha": "TOKEN", "repo": {"id": "TOKEN"}}, "id": "TOKEN"}`),
		"the token for everything": answered("200 OK", "", `{"id": 1, "number": 7, "head": {"sha": "TOKEN", "repo": {"id": 2, "full_name": "TOKEN"}}, "base": {"ref": "TOKEN"},`+
			`"html_url": "https://github.example/TOKEN", "body": "TOKEN", "user": {"login": "TOKEN", "type": "Bot"}, "type": "file", "encoding": "base64", "content": "TOKEN"}`),
		"lists of the token":      answered("200 OK", "Link: <http://127.0.0.1:1/TOKEN?page=TOKEN>; rel=\"next\"\r\n", `[{"id": 1, "html_url": "https://github.example/TOKEN", "title": "TOKEN", "body": "TOKEN"}]`),
		"an address that is none": answered("302 Found", "Location: http://[TOKEN\r\n", said),
		"an address of control":   answered("302 Found", "Location: http://x/\x7fTOKEN\r\n", said),
		"another scheme":          answered("302 Found", "Location: ftp://TOKEN@127.0.0.1/TOKEN\r\n", said),
		"a wait for the token":    answered("429 Too Many Requests", "Retry-After: TOKEN\r\n", said),
		"a long wait":             answered("403 Forbidden", "Retry-After: 86400\r\nX-Ratelimit-Remaining: TOKEN\r\n", said),
	}
	for _, status := range []string{"400 TOKEN", "401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone", "413 Too Large", "418 TOKEN", "422 Unprocessable", "500 TOKEN", "502 Bad Gateway", "503 TOKEN"} {
		list[status] = answered(status, headers, said)
		list[status+", no JSON"] = answered(status, headers, "<html>TOKEN</html>")
	}
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		list[status+" elsewhere"] = answered(status+" Moved", "Location: "+elsewhere+"/TOKEN?TOKEN\r\n", said)
	}
	return list
}

// everything is all that a step has written anywhere: the logs, the runner's files, the workspace.
func (s *step) everything() string {
	s.t.Helper()
	all := s.stdout.String() + s.stderr.String()
	for _, folder := range []string{s.workspace, s.runner} {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			all += "\n" + name
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(name)
			all += "\n" + string(text)
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return all
}

// TestTokenIsNowhere runs everything that speaks to GitHub's API against servers that fail in every way: whatever they answer, the
// token is in no log, output, summary, report or other file, goes to no other address, and the verdict stays.
func TestTokenIsNowhere(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var mu sync.Mutex
	var strangers []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		strangers = append(strangers, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header))
	}))
	defer elsewhere.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // that a client does not trust it
	untrusted.StartTLS()
	defer untrusted.Close()
	plainAddress := echo(t, answered("400 Bad Request", "", "TOKEN"))

	apis := map[string]string{
		"nobody there": closed.URL, "an unknown certificate": untrusted.URL, "no TLS": strings.Replace(plainAddress, "http:", "https:", 1),
		"a token in the address": "https://x-access-token:" + theToken + "@127.0.0.1:1", "a token for an address": theToken, "a token as a query": closed.URL + "/?" + theToken,
		"a token as a port": "http://127.0.0.1:" + theToken, "a token as a scheme": theToken + "://127.0.0.1",
	}
	for name, answer := range badAnswers(elsewhere.URL) {
		apis[name] = echo(t, answer)
	}
	// A server that answers as it should up to a request, and from then on breaks: writing meets what reading did not.
	late := map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"writes are refused": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				return false
			}
			writeJSON(w, 422, map[string]string{"message": "Authorization: " + r.Header.Get("Authorization")})
			return true
		},
		"writes are sent elsewhere": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				return false
			}
			http.Redirect(w, r, elsewhere.URL+"/"+theToken, http.StatusTemporaryRedirect)
			return true
		},
		"writes are answered with the token": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				return false
			}
			writeJSON(w, 201, map[string]any{"id": 5, "html_url": "https://github.example/" + theToken, "body": theToken})
			return true
		},
	}

	earlier := newStep(t)
	earlier.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "json", "report.json")
	steps := map[string]struct {
		run    func(s *step) int
		status []int // the exit statuses that are right, whatever the API says
	}{
		"a pull request": {func(s *step) int {
			s.event("pull_request", pulled(1))
			return s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "comment", "always", "json", "report.json", "html", "report.html")
		}, []int{1}},
		"a pull request by the policy of its base": {func(s *step) int {
			s.event("pull_request_target", pulled(2))
			return s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "comment", "always", "json", "report.json")
		}, []int{1, 2}}, // it cannot be read, or the server had one
		"an issue": {func(s *step) int {
			s.event("schedule", map[string]any{})
			return s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "issue", "problems", "json", "report.json")
		}, []int{1}},
		"a report from a fork": {func(s *step) int {
			s.event("workflow_run", map[string]any{"workflow_run": map[string]any{"id": 9001, "name": "Gate", "run_number": 1, "run_attempt": 1, "head_sha": headCommit, "head_repository": map[string]any{"id": 2}}})
			return s.run("from-report", "report.json", "pr-number", "7", "comment", "always")
		}, []int{0, 2}},
		"the command comment": {func(s *step) int {
			s.event("workflow_run", map[string]any{"workflow_run": map[string]any{"id": 9001, "name": "Gate", "run_number": 1, "run_attempt": 1, "head_sha": headCommit, "head_repository": map[string]any{"id": 2}}})
			env := maps.Clone(s.env)
			env["GITHUB_TOKEN"] = theToken
			status, out := commentWith(env, "--report", filepath.Join(s.workspace, "report.json"), "--pr", "7", "--mode", "always")
			s.stdout.WriteString(out)
			return status
		}, []int{0, 2}},
	}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		test := steps[name]
		run := func(how string, g *github, api string) {
			s := newStep(t).onGitHub(g)
			s.put("report.json", earlier.text("report.json"))
			s.env["GITHUB_API_URL"], s.env["INPUT_GITHUB-TOKEN"] = api, theToken
			status := test.run(s)
			if !slices.Contains(test.status, status) {
				t.Errorf("%s, %s: exit %d\n%s%s", name, how, status, &s.stdout, &s.stderr)
			}
			if piece := leaks(s.everything()); piece != "" {
				t.Errorf("%s, %s: %q of the token is in\n%s", name, how, piece, s.everything())
			}
		}
		silent := newGitHub(t)
		for how, api := range apis {
			run(how, silent, api)
		}
		for how, answer := range late {
			g := newGitHub(t)
			g.heads[7], g.answer = headCommit, answer
			g.files[baseCommit+":fail.yaml"] = earlier.text("fail.yaml")
			run(how, g, g.url)
		}
	}
	if len(strangers) > 0 {
		t.Errorf("another address was asked: %q", strangers)
	}
	if left := names(t, temp); len(left) > 0 {
		t.Errorf("temporary files: %q", left)
	}
}

// TestHugeAnswer: an answer without an end is given up, and what it repeats is not told.
func TestHugeAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		part := []byte(strings.Repeat(theToken, 1<<15))
		for range 65<<20/len(part) + 1 { // one more than a client reads: 64 MiB
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	s := newStep(t).onGitHub(newGitHub(t)).event("pull_request", pulled(1))
	s.env["GITHUB_API_URL"], s.env["INPUT_GITHUB-TOKEN"] = server.URL, theToken
	s.check(s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "comment", "always"), 1, "FAIL")
	if piece := leaks(s.everything()); piece != "" || !strings.Contains(s.stdout.String(), "larger than 64 MiB") {
		t.Errorf("%q of the token is in\n%s", piece, s.everything())
	}
}

// TestOtherPlatformsTokens: what the other platforms hand a job as secrets is not even asked for, and is nowhere in what is written.
func TestOtherPlatformsTokens(t *testing.T) {
	secret := regexp.MustCompile(`(?i)token|secret|passw|credential|_key|_url$|_uri$|_repo$`)
	known := map[string]bool{"JENKINS_URL": true, "GITHUB_SERVER_URL": true} // looked at, never shown where it holds a user
	for _, platform := range ci.PlatformNames() {
		t.Run(platform, func(t *testing.T) {
			temp := t.TempDir()
			t.Chdir(t.TempDir())
			writeFile(t, "d.csv", singles(40, 38))
			writeFile(t, "p.yaml", "rules:\n  - {id: a, metric: accuracy_with, maximum: 0.5}\n  - {id: b, metric: accuracy_with, minimum: 0.5}\n")
			writeFile(t, ".git/config", "[remote \"origin\"]\n\turl = https://x-access-token:"+theToken+"@github.example/owner/name\n")
			writeFile(t, filepath.Join(temp, "output"), "")
			writeFile(t, filepath.Join(temp, "summary"), "")
			env := map[string]string{"AGENT_TEMPDIRECTORY": temp, "GITHUB_OUTPUT": filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"), "GITLAB_CI": "true"}
			var asked []string
			getenv := func(name string) string {
				if value, set := env[name]; set || name == "BUILD_SOURCESDIRECTORY" || name == "GITHUB_WORKSPACE" {
					return value
				}
				if secret.MatchString(name) && !known[name] {
					asked = append(asked, name)
				}
				return "https://x-access-token:" + theToken + "@host.example" // in every variable there may be
			}
			for _, args := range [][]string{
				{"human-ai", "gate", "d.csv", "--policy", "p.yaml", "--ci", platform, "--format", "json:out/r.json", "--format", "html:out/r.html", "--format", "junit:out/r.xml"},
				{"human-ai", "gate", "absent.csv", "--policy", "p.yaml", "--ci", platform},
				{"policy", "check", "p.yaml"},
			} {
				var out bytes.Buffer
				world := inMemory().World
				world.Stdout, world.Stderr, world.Getenv = &out, &out, getenv
				if status := Main(args, world); status == 0 && args[0] != "policy" {
					t.Errorf("%q passes\n%s", args, &out)
				}
				s := &step{t: t, workspace: "out", runner: temp}
				if args[0] == "policy" || strings.HasPrefix(args[2], "absent") {
					s.workspace = temp
				}
				if all := out.String() + s.everything(); leaks(all) != "" {
					t.Errorf("%q of the token is in\n%s", leaks(all), all)
				}
			}
			if len(asked) > 0 {
				t.Errorf("variables of secrets were asked for: %q", asked)
			}
		})
	}
}

// TestSecretsByMistake: where a file is given that is none of ours, such as one with credentials, the errors show of it no more than
// the value that is wrong, cut at 60 characters, and never another one.
func TestSecretsByMistake(t *testing.T) {
	quoted, err := json.Marshal(strings.Repeat(theToken, 4))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".git/config":      "[core]\n\tbare = false\n[http \"https://github.example/\"]\n\textraheader = AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+theToken)) + "\n",
		"environ":          "PATH=/bin\x00GITHUB_TOKEN=" + theToken + "\x00HOME=/root\x00",
		".env":             "GITHUB_TOKEN=" + theToken + "\nOTHER=1\n",
		"keys.txt":         theToken + "\n" + theToken + "\n",
		"credentials.json": "{\"type\": \"service_account\", \"private_key\": " + string(quoted) + ",\n \"id\": " + string(quoted) + "}\n",
		"one-line.json":    "{\"type\": \"service_account\", \"private_key\": " + string(quoted) + "}\n",
		"list.json":        "[" + string(quoted) + "]\n",
		"netrc":            "machine github.example login x password " + theToken + "\n",
		"key.pem":          "-----BEGIN PRIVATE KEY-----\n" + theToken + "\n" + theToken + "\n-----END PRIVATE KEY-----\n",
		"secrets.yaml":     "token: " + theToken + "\nlist:\n  - " + theToken + "\n",
		"table.csv":        "user,password\nroot," + theToken + "\n",
	} {
		for _, where := range []string{"policy", "declaration", "decisions", "tally", "assignment", "draw", "baseline-report", "ledger", "from-report"} {
			s := newStep(t)
			s.put(name, text)
			inputs := map[string]string{"policy": "pass.yaml", "decisions": "data/decisions.csv"}
			switch where {
			case "from-report":
				s.onGitHub(newGitHub(t)).event("workflow_run", map[string]any{"workflow_run": map[string]any{"id": 1, "run_number": 1, "head_sha": headCommit}})
				inputs = map[string]string{}
			case "draw", "tally", "declaration":
				delete(inputs, "decisions")
			}
			inputs[where] = name
			var args []string
			for _, input := range slices.Sorted(maps.Keys(inputs)) {
				args = append(args, input, inputs[input])
			}
			if status := s.run(args...); status != 2 {
				t.Errorf("%s as %s: exit %d\n%s%s", name, where, status, &s.stdout, &s.stderr)
			}
			s.workspace = s.runner // which is all that was written
			if piece := leaks(s.everything()); piece != "" {
				t.Errorf("%s as %s: %q is shown:\n%s%s", name, where, piece, &s.stdout, &s.stderr)
			}
		}
	}
}

package ci

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// Event is what a step may know of the event that started it, on GitHub or a platform that speaks its language. What is
// not known is empty or 0. Texts that go into addresses have been checked.
type Event struct {
	Name       string // such as "pull_request"
	Server     string // the address of the platform's pages, such as https://github.example
	Repository string // OWNER/NAME
	Run        Run    // this run; after workflow_run the one that it is about, of which everything is told

	PullRequest      int
	HeadSHA, BaseSHA string
	BaseRef          string // the branch that the pull request is to be merged into
	Fork             bool   // the pull request, or the run that this one follows, comes from another repository
	Dependabot       bool   // started by Dependabot, whose token can only read
}

// Run is one run of a workflow.
type Run struct {
	ID       int64
	Number   int
	Attempt  int
	Workflow string
	SHA      string // the commit that a person would look for: of a pull request its newest one
	URL      string // its page, "" where it is not known
}

// String names the run as summary.CommentOptions.Run has it; it is empty where the run has no number.
func (r Run) String() string {
	if r.Number == 0 {
		return ""
	}
	text := fmt.Sprintf("run %d, attempt %d", r.Number, max(r.Attempt, 1))
	if r.SHA != "" {
		text += fmt.Sprintf(", commit %.7s", r.SHA)
	}
	return text
}

// maxPayload is how large an event's payload may be, in bytes; GitHub's webhooks end at 25 MB.
const maxPayload = 30 << 20

// payload is the part of an event's payload that is read.
type payload struct {
	Number      int64        `json:"number"`
	PullRequest *pullRequest `json:"pull_request"`
	Repository  repository   `json:"repository"`
	WorkflowRun *struct {
		ID             int64         `json:"id"`
		Name           string        `json:"name"`
		Number         int64         `json:"run_number"`
		Attempt        int64         `json:"run_attempt"`
		HeadSHA        string        `json:"head_sha"`
		HeadRepository *repository   `json:"head_repository"`
		PullRequests   []pullRequest `json:"pull_requests"`
	} `json:"workflow_run"`
}

type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

type pullRequest struct {
	Number int64 `json:"number"`
	Head   side  `json:"head"`
	Base   side  `json:"base"`
}

// side is one of the two branches of a pull request. Repo is nil where the repository has been deleted.
type side struct {
	Ref  string      `json:"ref"`
	SHA  string      `json:"sha"`
	Repo *repository `json:"repo"`
}

// fork reports whether a pull request comes from another repository. Its owner does not tell: one may own both.
func (p *pullRequest) fork() bool {
	return p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID
}

// largest is the greatest number that is believed to be one of a run or a pull request: what is larger could not be told from its
// neighbours once it has been through a program that keeps numbers as floating-point ones.
const largest = 1 << 53

var (
	repositoryName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+$`)
	commitID       = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	pullRef        = regexp.MustCompile(`^refs/pull/([1-9][0-9]{0,9})/`)
)

// ReadEvent reads the event from the environment and from the file GITHUB_EVENT_PATH. Its error says what of the payload
// cannot be used; what the environment alone tells is known all the same.
func ReadEvent(getenv func(string) string) (Event, error) {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(getenv(name), 10, 64)
		if err != nil || n < 0 || n > largest {
			return 0
		}
		return n
	}
	e := Event{Name: getenv("GITHUB_EVENT_NAME"), Dependabot: getenv("GITHUB_ACTOR") == "dependabot[bot]"}
	e.Run = Run{ID: number("GITHUB_RUN_ID"), Number: int(number("GITHUB_RUN_NUMBER")), Attempt: int(number("GITHUB_RUN_ATTEMPT")), Workflow: getenv("GITHUB_WORKFLOW")}
	if name := getenv("GITHUB_REPOSITORY"); repositoryName.MatchString(name) {
		e.Repository = name
	}
	if sha := getenv("GITHUB_SHA"); commitID.MatchString(sha) {
		e.HeadSHA = sha
	}
	e.Server = serverAddress(getenv("GITHUB_SERVER_URL"))
	if m := pullRef.FindStringSubmatch(getenv("GITHUB_REF")); m != nil {
		e.PullRequest, _ = strconv.Atoi(m[1]) // at most ten digits
	}
	e.BaseRef = getenv("GITHUB_BASE_REF")

	p, err := readPayload(getenv("GITHUB_EVENT_PATH"))
	if err == nil {
		err = e.take(p)
	}
	e.Run.SHA = e.HeadSHA
	e.Run.URL = e.runURL(Detect(getenv))
	return e, err
}

// serverAddress returns the address of a platform's pages without a slash at its end, "" where it is none.
func serverAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return strings.TrimSuffix(u.String(), "/")
}

// readPayload reads a payload; an empty name is one that is not there.
func readPayload(name string) (*payload, error) {
	if name == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the event's payload (GITHUB_EVENT_PATH) cannot be read: %w", errors.Unwrap(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPayload+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the event's payload (GITHUB_EVENT_PATH) cannot be read: %w", errors.Unwrap(err))
	case len(data) > maxPayload:
		return nil, fmt.Errorf("the event's payload (GITHUB_EVENT_PATH) is larger than %d MiB", maxPayload>>20)
	}
	p := &payload{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, errors.New("the event's payload (GITHUB_EVENT_PATH) is not the JSON of an event")
	}
	return p, nil
}

// take takes over what a payload tells.
func (e *Event) take(p *payload) error {
	var wrong []string
	sha := func(what, text string) string {
		if text != "" && !commitID.MatchString(text) {
			wrong = append(wrong, what+" "+diag.Quote(text)+" is not a commit")
			return ""
		}
		return text
	}
	if e.Repository == "" && repositoryName.MatchString(p.Repository.FullName) {
		e.Repository = p.Repository.FullName
	}
	number := func(what string, n int64) int64 {
		if n < 0 || n > largest {
			wrong = append(wrong, fmt.Sprintf("%s %d is not a number that counts", what, n))
			return 0
		}
		return n
	}
	if pr := p.PullRequest; pr != nil {
		e.PullRequest = int(number("pull_request.number", cmp.Or(pr.Number, p.Number)))
		e.HeadSHA, e.BaseSHA = sha("pull_request.head.sha", pr.Head.SHA), sha("pull_request.base.sha", pr.Base.SHA)
		e.BaseRef = pr.Base.Ref
		e.Fork = pr.fork()
	}
	if w := p.WorkflowRun; w != nil && e.Name == "workflow_run" {
		e.HeadSHA = sha("workflow_run.head_sha", w.HeadSHA)
		e.Run = Run{ID: number("workflow_run.id", w.ID), Number: int(number("workflow_run.run_number", w.Number)),
			Attempt: int(number("workflow_run.run_attempt", w.Attempt)), Workflow: w.Name}
		e.Fork = w.HeadRepository == nil || w.HeadRepository.ID != p.Repository.ID
		// Of a fork's run the list is empty, and a pull request of one fork to another may stand in it.
		here := slices.DeleteFunc(w.PullRequests, func(pr pullRequest) bool {
			return pr.Base.Repo != nil && pr.Base.Repo.ID != p.Repository.ID
		})
		e.PullRequest = 0
		if len(here) == 1 {
			e.PullRequest = int(number("workflow_run.pull_requests.number", here[0].Number))
		}
	}
	if wrong != nil {
		return errors.New("the event's payload (GITHUB_EVENT_PATH) cannot be used: " + strings.Join(wrong, "; "))
	}
	return nil
}

// ReadOnly says in a few words why the token cannot be expected to write; "" where nothing says so.
func (e Event) ReadOnly() string {
	switch {
	case e.Name == "pull_request_target" || e.Name == "workflow_run": // these run with the repository's own token
		return ""
	case e.Fork && e.PullRequest != 0:
		return "the pull request comes from a fork"
	case e.Dependabot:
		return "Dependabot started it"
	}
	return ""
}

// runURL is the page of the run; "" where it is not known.
func (e Event) runURL(on Platform) string {
	if e.Server == "" || e.Repository == "" || e.Run.ID == 0 {
		return ""
	}
	runs := e.Server + "/" + e.Repository + "/actions/runs/"
	id := strconv.FormatInt(e.Run.ID, 10)
	switch {
	case on == PlatformForgejo && e.Run.Number == 0:
		return ""
	case on == PlatformForgejo: // there a run's page goes by its number
		return runs + strconv.Itoa(e.Run.Number)
	case on == PlatformGitea || e.Run.Attempt <= 1:
		return runs + id
	}
	return runs + id + "/attempts/" + strconv.Itoa(e.Run.Attempt)
}

// FileURL is the page of a line of a file of the repository, at the commit that the run is about; line 0 is the whole file.
// It is "" where it is not known, or the file is not in the repository.
func (e Event) FileURL(file string, line int) string {
	place, ok := escapePath(file)
	if !ok || e.Server == "" || e.Repository == "" || e.HeadSHA == "" {
		return ""
	}
	address := e.Server + "/" + e.Repository + "/blob/" + e.HeadSHA + "/" + place
	if line > 0 {
		address += "#L" + strconv.Itoa(line)
	}
	return address
}

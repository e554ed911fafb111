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
	"sync"

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
	BaseRef          string // the branch that the pull request, or the merge queue's group, is to be merged into
	HeadRepository   int64  // the id of the repository that HeadSHA was pushed to; 0: the event does not speak of one; NoRepository
	Fork             bool   // the pull request, or the run that this one follows, comes from another repository
	Dependabot       bool   // started by Dependabot, whose token can only read
	DefaultBranch    bool   // the run is on the repository's default branch, as far as is told

	files string // what stands between the repository and a commit in the address of a file's page
}

// NoRepository is the id of a repository that has been deleted, or that a payload says nothing of.
const NoRepository = -1

// MergeGroup is the event of a merge queue: what is merged is several pull requests together.
const MergeGroup = "merge_group"

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
	MergeGroup  *struct {
		HeadSHA string `json:"head_sha"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
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
	Default  string `json:"default_branch"`
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

// id is the repository's, NoRepository where it is not told.
func (r *repository) id() int64 {
	if r == nil || r.ID <= 0 {
		return NoRepository
	}
	return r.ID
}

// fork reports whether one repository is another than a second one, as it must be taken to be where either is not told. The
// owner does not tell: one may own both.
func fork(head, base *repository) bool { return head.id() != base.id() || head.id() == NoRepository }

// largest is the greatest number that is believed to be one of a run or a pull request: what is larger could not be told from its
// neighbours once it has been through a program that keeps numbers as floating-point ones.
const largest = 1 << 53

var (
	repositoryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+$`) })
	commitID       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })
	pullRef        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^refs/pull/([1-9][0-9]{0,9})/`) })
)

// IsCommit reports whether a text is the whole id of a commit: 40 or 64 hexadecimal digits in lower case.
func IsCommit(text string) bool { return commitID().MatchString(text) }

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
	e := Event{Name: getenv("GITHUB_EVENT_NAME"), files: "/blob/", Dependabot: getenv("GITHUB_ACTOR") == "dependabot[bot]"}
	e.Run = Run{ID: number("GITHUB_RUN_ID"), Number: int(number("GITHUB_RUN_NUMBER")), Attempt: int(number("GITHUB_RUN_ATTEMPT")), Workflow: getenv("GITHUB_WORKFLOW")}
	if name := getenv("GITHUB_REPOSITORY"); repositoryName().MatchString(name) {
		e.Repository = name
	}
	if sha := getenv("GITHUB_SHA"); commitID().MatchString(sha) {
		e.HeadSHA = sha
	}
	e.Server = serverAddress(getenv("GITHUB_SERVER_URL"))
	if m := pullRef().FindStringSubmatch(getenv("GITHUB_REF")); m != nil {
		e.PullRequest, _ = strconv.Atoi(m[1]) // at most ten digits
	}
	e.BaseRef = getenv("GITHUB_BASE_REF")

	p, err := readPayload(getenv("GITHUB_EVENT_PATH"))
	if err == nil {
		err = e.take(p)
	}
	// Where only GITHUB_REF tells of a pull request, GITHUB_SHA is of what would be merged and of no push.
	if e.PullRequest == 0 || p != nil && (p.PullRequest != nil || p.WorkflowRun != nil) {
		e.Run.SHA = e.HeadSHA
	}
	e.DefaultBranch = p != nil && p.Repository.Default != "" && getenv("GITHUB_REF") == "refs/heads/"+p.Repository.Default
	on := Detect(getenv)
	if on == PlatformGitea || on == PlatformForgejo {
		e.files = "/src/commit/"
	}
	e.Run.URL = e.runURL(on)
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
	// Opening a named pipe would wait for its writer.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("the event's payload (GITHUB_EVENT_PATH) cannot be read: it is not a regular file")
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
		if text != "" && !commitID().MatchString(text) {
			wrong = append(wrong, what+" "+diag.Quote(text)+" is not a commit")
			return ""
		}
		return text
	}
	if e.Repository == "" && repositoryName().MatchString(p.Repository.FullName) {
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
		e.HeadRepository = pr.Head.Repo.id()
		e.Fork = fork(pr.Head.Repo, pr.Base.Repo)
	}
	if g := p.MergeGroup; g != nil && e.Name == MergeGroup {
		e.HeadSHA, e.BaseSHA = cmp.Or(sha("merge_group.head_sha", g.HeadSHA), e.HeadSHA), sha("merge_group.base_sha", g.BaseSHA)
		e.BaseRef = strings.TrimPrefix(g.BaseRef, "refs/heads/")
	}
	if w := p.WorkflowRun; w != nil && e.Name == "workflow_run" {
		e.HeadSHA = sha("workflow_run.head_sha", w.HeadSHA)
		e.Run = Run{ID: number("workflow_run.id", w.ID), Number: int(number("workflow_run.run_number", w.Number)),
			Attempt: int(number("workflow_run.run_attempt", w.Attempt)), Workflow: w.Name}
		e.HeadRepository = w.HeadRepository.id()
		e.Fork = fork(w.HeadRepository, &p.Repository)
		// Of a fork's run the list is empty, and a pull request of one fork to another may stand in it.
		here := slices.DeleteFunc(w.PullRequests, func(pr pullRequest) bool {
			return pr.Base.Repo != nil && pr.Base.Repo.id() != p.Repository.id()
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
	case on == PlatformGitea || e.Run.Attempt == 0:
		return runs + id // without an attempt GitHub shows the newest one
	}
	return runs + id + "/attempts/" + strconv.Itoa(e.Run.Attempt)
}

// FileURL is the page of a line of a file of the repository, at the commit that the run is about; line 0 is the whole file.
// It is "" where it is not known, or the file is not in the repository.
func (e Event) FileURL(file string, line int) string { return e.fileURL(e.HeadSHA, file, line) }

// BaseURL is the same on the branch that is merged into, as that was when the event happened.
func (e Event) BaseURL(file string, line int) string { return e.fileURL(e.BaseSHA, file, line) }

func (e Event) fileURL(sha, file string, line int) string {
	place, ok := escapePath(file)
	if !ok || e.Server == "" || e.Repository == "" || sha == "" {
		return ""
	}
	address := e.Server + "/" + e.Repository + cmp.Or(e.files, "/blob/") + sha + "/" + place
	if line > 0 {
		address += "#L" + strconv.Itoa(line)
	}
	return address
}

package ci

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
)

// The client's limits.
const (
	tries        = 3                // of one request that the network or the server failed
	patience     = 60 * time.Second // how long all of a run's waiting to try again may take
	unhinted     = 60 * time.Second // to wait for a limit that says nothing of when it ends, as GitHub asks
	requestTime  = 30 * time.Second // of one request, its answer included
	connectTime  = 4 * time.Second  // to reach the API at all: where there is no network nobody waits for long
	answerBytes  = 64 << 20         // of one answer: a hundred comments of 65,536 characters that JSON writes as six bytes each take 39 MB
	fileBytes    = 1<<20 + 1        // of a file: one more than a policy may have
	perPage      = 100
	maxPages     = 100
	smallestWait = time.Second
)

// ErrNotThere is the error of a file, a comment or a pull request that the API says is not there, or that the token may not
// see.
var ErrNotThere = errors.New("it is not there, or the token may not see it")

// ErrNoFile is the error of a file that a commit does not have, where the token could have seen it.
var ErrNoFile = errors.New("that commit has no such file")

// ErrMovedOn is the error of a pull request whose newest commit is another one by now, pushed to the same repository.
var ErrMovedOn = errors.New("the pull request has moved on")

// ErrNoAccess is the error of a request that the token may not make.
var ErrNoAccess = errors.New("the token may not do that")

// ErrRefused is the error of a request whose content the API does not take.
var ErrRefused = errors.New("the API does not take it")

// errWaited is the error of a write that met a limit of the API and waited for it: it had no effect, and what it rests on
// has to be read again.
var errWaited = errors.New("the API's limit was met, and has been waited for")

// The errors of what does not get better by asking again.
var (
	errRedirect = errors.New("the API redirects to another address")
	errTooLarge = fmt.Errorf("the answer is larger than %d MiB", answerBytes>>20)
)

// refusal is the error of a request that the API has answered: where its status is under 500, the request had no effect.
type refusal struct {
	status int
	said   string // by the API, for a person
}

// Error says what the status means, and what the API said.
func (r *refusal) Error() string {
	text := fmt.Sprintf("status %d", r.status)
	if r.said != "" {
		text += ", " + r.said
	}
	switch meaning := r.Unwrap(); {
	case meaning != nil:
		return fmt.Sprintf("%v (%s)", meaning, text)
	case r.status == http.StatusUnauthorized:
		return "the token is not valid, or not any more (" + text + ")"
	}
	return text
}

// Unwrap is what the status means to the program, nil for nothing.
func (r *refusal) Unwrap() error {
	switch r.status {
	case http.StatusForbidden:
		return ErrNoAccess
	case http.StatusNotFound, http.StatusGone:
		return ErrNotThere
	case http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return ErrRefused
	}
	return nil
}

// requestError is the error of a request in words for a person. They may hold what whoever answered has sent, so the token is taken out.
type requestError struct {
	words string
	err   error
}

func (r *requestError) Error() string { return r.words }
func (r *requestError) Unwrap() error { return r.err }

// ClientOptions is what a Client takes from outside. Repository and Token are needed.
type ClientOptions struct {
	API        string // the address of the API, "" for that of github.com
	Server     string // the address of the platform's pages, on which those of comments and issues have to be; "" where it is not known
	Repository string // OWNER/NAME
	Token      string
	Version    string                               // of this program
	HTTP       *http.Client                         // nil: one with time limits
	Sleep      func(context.Context, time.Duration) // nil: the clock's
	Now        func() time.Time                     // nil: the clock's
}

// Client speaks to the API of GitHub, or of a platform that has the same: GitHub Enterprise, Gitea and Forgejo. The token
// goes to that address only, and is in no error. It is not safe for concurrent use.
type Client struct {
	ClientOptions
	base    *url.URL
	waited  time.Duration
	tries   int   // of a request, before it is given up
	account int64 // of the token's own user; 0 where it has not been asked for, -1 where it has none
}

// NewClient returns a client, or an error that says what of the options cannot be used.
func NewClient(o ClientOptions) (*Client, error) {
	if o.API == "" {
		o.API = "https://api.github.com"
	}
	base, err := url.Parse(strings.TrimSuffix(o.API, "/"))
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("GITHUB_API_URL is not the address of an API")
	}
	if !repositoryName().MatchString(o.Repository) {
		return nil, errors.New("which repository this is (GITHUB_REPOSITORY) is not known")
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token holds characters that no token has")
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: requestTime, Transport: transport()}
	}
	inner := *o.HTTP
	inner.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		// A POST or a PATCH that is redirected may become a GET, whose good answer would be taken for that of a write.
		if len(via) >= 5 || r.Method != via[0].Method || r.URL.Host != base.Host || r.URL.Scheme != base.Scheme {
			return errRedirect
		}
		return nil
	}
	o.HTTP = &inner
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, d time.Duration) {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{ClientOptions: o, base: base, tries: tries}, nil
}

// transport is the standard library's, proxies included, with less time to connect.
func transport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // somebody has put another one in its place
		return http.DefaultTransport
	}
	t := standard.Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	return t
}

// answer is what the API answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request and returns a good answer. place begins with a slash, and what it holds is escaped; into, where it is
// not nil, is decoded from the answer.
//
// A request that only reads is tried again where the network or the server failed it, or a limit of the API has passed. One
// that writes is made once: meanwhile another run may have written, or this one after all, so the caller has to look again.
// Its error is errWaited where a limit was met and waited for.
func (c *Client) do(ctx context.Context, method, place string, query url.Values, send, into any, accept string) (*answer, error) {
	var body []byte
	if send != nil {
		var err error
		if body, err = json.Marshal(send); err != nil {
			return nil, err
		}
	}
	// The address is left out of what errors say: the place tells it, and the query is long.
	failed := func(err error) error {
		return &requestError{fmt.Sprintf("%s %s: %s", method, place, diag.Cause(c.withoutToken(err.Error()))), err}
	}
	for try := 1; ; try++ {
		request, err := http.NewRequestWithContext(ctx, method, c.base.String()+place, bytes.NewReader(body))
		if err != nil {
			return nil, failed(withoutAddress(err))
		}
		request.URL.RawQuery = query.Encode()
		request.Header.Set("Accept", accept)
		request.Header.Set("X-GitHub-Api-Version", "2022-11-28")
		request.Header.Set("User-Agent", "oloproof/"+c.Version)
		if c.Token != "" {
			request.Header.Set("Authorization", "Bearer "+c.Token)
		}
		if send != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		a, err := c.send(request)
		if err == nil {
			c.tries = tries // the API is there
			if a.status < 300 {
				if into != nil && json.Unmarshal(a.body, into) != nil {
					return nil, failed(errors.New("the answer is not what the API describes"))
				}
				return a, nil
			}
			if wait, limited := c.limited(a); limited {
				switch {
				case !c.wait(ctx, wait):
					return nil, failed(&refusal{a.status, fmt.Sprintf("the API's limit is met, and it asks to wait %d seconds", int(wait.Seconds()))})
				case method != http.MethodGet:
					return nil, failed(errWaited)
				}
				try-- // the request has not been looked at
				continue
			}
			err = &refusal{a.status, c.said(a)}
		}
		err = withoutAddress(err)
		if isAnswer(err) || errors.Is(err, errRedirect) || errors.Is(err, errTooLarge) || method != http.MethodGet {
			return nil, failed(err)
		}
		if connectTimedOut(err) || try >= c.tries || !c.wait(ctx, time.Duration(try)*smallestWait) {
			if a == nil {
				c.tries = 1 // the next request need not find out again, for some seconds each time
			}
			return nil, failed(err)
		}
	}
}

// isAnswer reports whether an error is the API's clear answer that a request had no effect.
func isAnswer(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.status < 500
}

// connectTimedOut reports whether an error is that nobody answered at the API's address, or at its name server's.
func connectTimedOut(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && op.Timeout()
}

// send makes one request.
func (c *Client) send(r *http.Request) (*answer, error) {
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > answerBytes {
		return nil, errTooLarge
	}
	return &answer{response.StatusCode, response.Header, body}, nil
}

// withoutAddress is an error of the network without the address, which may be long and is known.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// limited reports whether the API asks to come again later, and in how long.
func (c *Client) limited(a *answer) (time.Duration, bool) {
	after, exhausted := a.header.Get("Retry-After"), a.header.Get("X-Ratelimit-Remaining") == "0"
	switch {
	case a.status == http.StatusTooManyRequests:
	case a.status != http.StatusForbidden:
		return 0, false
	// A 403 is a limit as well where it says so, if only in words.
	case after == "" && !exhausted && !strings.Contains(strings.ToLower(c.said(a)), "rate limit"):
		return 0, false
	}
	wait := unhinted
	aDayAtMost := func(seconds int64) time.Duration { return time.Duration(min(max(seconds, 0), 86400)) * time.Second }
	if seconds, err := strconv.ParseInt(after, 10, 64); err == nil {
		wait = aDayAtMost(seconds)
	} else if at, err := http.ParseTime(after); err == nil {
		wait = at.Sub(c.Now())
	} else if reset, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && exhausted {
		wait = aDayAtMost(reset - c.Now().Unix())
	}
	return max(wait, smallestWait), true
}

// wait waits and counts it. It reports false, at once, where that would be too long.
func (c *Client) wait(ctx context.Context, d time.Duration) bool {
	if d > patience-c.waited || ctx.Err() != nil {
		return false
	}
	c.waited += d
	c.Sleep(ctx, d)
	return ctx.Err() == nil
}

// said is what the API says to a person in an answer; "" where it says nothing.
func (c *Client) said(a *answer) string {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(a.body, &said) != nil {
		return ""
	}
	return cut(neutral(c.withoutToken(said.Message)), 200)
}

// withoutToken is a text of whoever answers, who may say again what it was sent.
func (c *Client) withoutToken(text string) string {
	if c.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, c.Token, "***")
}

const (
	acceptJSON = "application/vnd.github+json"
	acceptRaw  = "application/vnd.github.raw+json"
)

// repo is the path of something of the repository.
func (c *Client) repo(format string, args ...any) string {
	return "/repos/" + c.Repository + fmt.Sprintf(format, args...)
}

// pages goes through all pages of a list and gives each to take, which decodes it.
func (c *Client) pages(ctx context.Context, place string, query url.Values, take func(body []byte) error) error {
	query.Set("per_page", strconv.Itoa(perPage))
	query.Set("limit", "50") // Gitea's name for it, and the most it gives
	for range maxPages {
		a, err := c.do(ctx, http.MethodGet, place, query, nil, nil, acceptJSON)
		if err != nil {
			return err
		}
		if take(a.body) != nil {
			return fmt.Errorf("GET %s: the answer is not what the API describes", place)
		}
		next, more := nextPage(a.header)
		if !more {
			return nil
		}
		query = next
	}
	return fmt.Errorf("GET %s: there are more than %d pages", place, maxPages)
}

// nextLink is the address of the next page in a header Link.
var nextLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([^<>]*)>\s*;[^<]*\brel="next"`) })

// nextPage returns the query of the next page, which may hold a number or a place in a long list; more is false where there is
// none. Only the query is taken: where requests go is not the answer's to say.
func nextPage(header http.Header) (query url.Values, more bool) {
	m := nextLink().FindStringSubmatch(strings.Join(header.Values("Link"), ","))
	if m == nil {
		return nil, false
	}
	address, err := url.Parse(m[1])
	if err != nil {
		return nil, false
	}
	return address.Query(), true
}

// remark is a comment, or an issue, as far as it is read.
type remark struct {
	ID          int64  `json:"id"`
	Number      int    `json:"number"` // of an issue
	Title       string `json:"title"`
	Body        string `json:"body"`
	URL         string `json:"html_url"`
	State       string `json:"state"`
	Association string `json:"author_association"`
	User        *struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"user"`
	PullRequest *struct{} `json:"pull_request"` // an issue that is one
}

// believed reports whether what a comment's hidden marker says may be believed: its author can write to the repository, is a
// bot that was let in, or is the token's own account. Else anybody could write a marker of a run that is far ahead, and
// silence all that follow. Where the API says nothing of its authors, as Gitea's, there is nothing to go by.
func (c *Client) believed(ctx context.Context, r *remark) bool {
	switch r.Association {
	case "", "OWNER", "MEMBER", "COLLABORATOR":
		return true
	}
	if r.User == nil {
		return false
	}
	if r.User.Type == "Bot" {
		return true
	}
	self := c.self(ctx) // a member of an organization who keeps that private is called a mere contributor
	return self > 0 && r.User.ID == self
}

// self is the id of the token's own account, -1 where it has none, as a job's own token, or cannot be asked.
func (c *Client) self(ctx context.Context) int64 {
	if c.account == 0 {
		var user struct {
			ID int64 `json:"id"`
		}
		if _, err := c.do(ctx, http.MethodGet, "/user", nil, nil, &user, acceptJSON); err != nil || user.ID <= 0 {
			user.ID = -1
		}
		c.account = user.ID
	}
	return c.account
}

// page is the address of a comment's or an issue's page where it is one of the platform's, else "": it is the API's to say,
// and is passed on as an output.
func (c *Client) page(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsFunc(address, hidden):
		return ""
	case c.Server != "" && !strings.HasPrefix(address, c.Server+"/"):
		return ""
	case c.Token != "" && strings.Contains(address, c.Token):
		return ""
	}
	return address
}

// comments lists the comments of a pull request.
func (c *Client) comments(ctx context.Context, number int) (list []remark, err error) {
	err = c.pages(ctx, c.repo("/issues/%d/comments", number), url.Values{}, func(body []byte) error {
		var page []remark
		err := json.Unmarshal(body, &page)
		list = append(list, page...)
		return err
	})
	return list, err
}

// openIssues lists the open issues, without pull requests.
func (c *Client) openIssues(ctx context.Context) (list []remark, err error) {
	err = c.pages(ctx, c.repo("/issues"), url.Values{"state": {"open"}}, func(body []byte) error {
		var page []remark
		err := json.Unmarshal(body, &page)
		list = append(list, withoutPulls(page)...)
		return err
	})
	return list, err
}

// withoutPulls takes from a list of issues those that are pull requests. No parameter of the request does so everywhere:
// "type" is something else on GitHub than on Gitea.
func withoutPulls(list []remark) []remark {
	return slices.DeleteFunc(list, func(r remark) bool { return r.PullRequest != nil })
}

// CheckHead reports whether a pull request's newest commit is the given one, in the repository with the given id; 0 for any,
// NoRepository for one that is gone. The commit alone does not tell: anybody can open a second pull request with the commit of
// somebody else's. An error says why it cannot be told to be; it is ErrMovedOn where only the commit differs.
func (c *Client) CheckHead(ctx context.Context, number int, sha string, repository int64) error {
	if sha == "" {
		return errors.New("which commit the report is about is not known")
	}
	pr, err := c.pull(ctx, number)
	if err != nil {
		return err
	}
	other := repository != 0 && pr.Head.Repo.id() != repository
	switch {
	case !IsCommit(pr.Head.SHA):
		return fmt.Errorf("GET /repos/%s/pulls/%d: the answer is not what the API describes", c.Repository, number)
	case pr.Head.SHA != sha && !other && repository > 0:
		return fmt.Errorf("%w: the newest commit of pull request %d is %.12s, and the report is about %.12s", ErrMovedOn, number, pr.Head.SHA, sha)
	case pr.Head.SHA != sha:
		return fmt.Errorf("the newest commit of pull request %d is %.12s, and the report is about %.12s", number, pr.Head.SHA, sha)
	case other:
		return fmt.Errorf("pull request %d comes from another repository than the run that the report is of", number)
	}
	return nil
}

// pull reads a pull request.
func (c *Client) pull(ctx context.Context, number int) (*pullRequest, error) {
	pr := &pullRequest{}
	_, err := c.do(ctx, http.MethodGet, c.repo("/pulls/%d", number), nil, nil, pr, acceptJSON)
	return pr, err
}

// File returns a file of the repository as it is at a commit or branch, at most 1 MiB and a byte of it. The error is
// ErrNoFile where a commit has none, and ErrNoAccess where the token may not see the commit either; at a branch the two
// cannot be told apart, and it is ErrNotThere.
func (c *Client) File(ctx context.Context, file, ref string) ([]byte, error) {
	place, ok := escapePath(file)
	if !ok {
		return nil, errors.New("it is not a path inside the repository")
	}
	a, err := c.do(ctx, http.MethodGet, c.repo("/contents/")+place, url.Values{"ref": {ref}}, nil, nil, acceptRaw)
	if errors.Is(err, ErrNotThere) && commitID().MatchString(ref) {
		return nil, c.missing(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	data := a.body
	// Gitea answers with the file inside a document whatever is accepted, and every server does for what is no file.
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		var wrapped struct {
			Type     string `json:"type"`
			Encoding string `json:"encoding"`
			Content  string `json:"content"`
		}
		switch err := json.Unmarshal(a.body, &wrapped); {
		case err != nil: // a list
			return nil, errors.New("it is a folder")
		case wrapped.Type != "file":
			return nil, errors.New("it is not a file")
		case wrapped.Encoding != "base64":
			return nil, errors.New("the API does not give what is in it; it may be too large")
		}
		if data, err = base64.StdEncoding.DecodeString(wrapped.Content); err != nil { // line ends in it are passed over
			return nil, errors.New("the answer is not what the API describes")
		}
	}
	return data[:min(len(data), fileBytes)], nil
}

// missing says why a file is not there at a commit: a token that may not read the repository is told the same as who asks for
// a file that does not exist.
func (c *Client) missing(ctx context.Context, sha string) error {
	_, err := c.do(ctx, http.MethodGet, c.repo("/git/commits/%s", sha), nil, nil, nil, acceptJSON)
	switch {
	case err == nil:
		return ErrNoFile
	case errors.Is(err, ErrNotThere):
		return fmt.Errorf("%w: it sees neither the file nor the commit %.7s; give the job `permissions: contents: read`", ErrNoAccess, sha)
	}
	return err
}

// escapePath writes a path of the repository as a part of an address; ok is false where it is none.
func escapePath(file string) (escaped string, ok bool) {
	file = path.Clean(file)
	if file == "." || file == ".." || strings.HasPrefix(file, "../") || path.IsAbs(file) {
		return "", false
	}
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/"), true
}

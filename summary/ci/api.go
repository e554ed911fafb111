package ci

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The client's limits.
const (
	tries        = 3                // of one request that the network or the server failed
	patience     = 60 * time.Second // how long all of a run's waiting for limits of the API may take
	answerBytes  = 32 << 20         // of one answer
	fileBytes    = 1<<20 + 1        // of a file: one more than a policy may have
	perPage      = 100
	maxPages     = 100
	smallestWait = time.Second
)

// ErrNotThere is the error of a file or a pull request that the API says is not there, or that the token may not see.
var ErrNotThere = errors.New("it is not there, or the token may not see it")

// ErrNoAccess is the error of a request that the token may not make.
var ErrNoAccess = errors.New("the token may not do that")

// ErrRefused is the error of a request whose content the API does not take.
var ErrRefused = errors.New("the API does not take it")

// ClientOptions is what a Client takes from outside. Repository and Token are needed.
type ClientOptions struct {
	API        string // the address of the API, "" for that of github.com
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
	base   *url.URL
	waited time.Duration
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
	if !repositoryName.MatchString(o.Repository) {
		return nil, errors.New("which repository this is (GITHUB_REPOSITORY) is not known")
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token holds characters that no token has")
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	inner := *o.HTTP
	inner.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("too many redirects")
		}
		if r.URL.Host != base.Host || r.URL.Scheme != base.Scheme {
			return errors.New("a redirect to another address")
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
	return &Client{ClientOptions: o, base: base}, nil
}

// answer is what the API answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request and returns a good answer. path begins with a slash; into, where it is not nil, is decoded from
// the answer. A request that makes something new (POST) is made once only where its failure does not tell whether it
// took effect: the caller looks.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, send, into any, accept string) (*answer, error) {
	address := *c.base
	address.RawQuery = query.Encode()
	var body []byte
	if send != nil {
		var err error
		if body, err = json.Marshal(send); err != nil {
			return nil, err
		}
	}
	what := method + " " + path
	for try := 1; ; try++ {
		// The path holds names that are escaped already.
		request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.base.String(), "/")+path, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, withoutAddress(err))
		}
		request.URL.RawQuery = address.RawQuery
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
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", what, withoutAddress(err))
		case a.status < 300:
			if into == nil {
				return a, nil
			}
			if err := json.Unmarshal(a.body, into); err != nil {
				return nil, fmt.Errorf("%s: the answer is not what the API describes", what)
			}
			return a, nil
		default:
			if wait, limited := c.limited(a); limited {
				if c.waited+wait > patience {
					return nil, fmt.Errorf("%s: the API's limit is met (status %d), and it asks to wait %d seconds", what, a.status, int(wait.Seconds()))
				}
				c.wait(ctx, wait)
				if ctx.Err() != nil {
					return nil, fmt.Errorf("%s: %w", what, ctx.Err())
				}
				try-- // the request has not been looked at
				continue
			}
			err = fmt.Errorf("%s: %w", what, a.err())
			if a.status < 500 {
				return a, err
			}
		}
		if try == tries || method == http.MethodPost || ctx.Err() != nil {
			return nil, err
		}
		c.Sleep(ctx, time.Duration(try)*smallestWait)
	}
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
		return nil, fmt.Errorf("the answer is larger than %d MiB", answerBytes>>20)
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
	if a.status != http.StatusTooManyRequests && (a.status != http.StatusForbidden || after == "" && !exhausted) {
		return 0, false
	}
	wait := 5 * time.Second
	if seconds, err := strconv.Atoi(after); err == nil {
		wait = time.Duration(min(max(seconds, 0), 86400)) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		wait = at.Sub(c.Now())
	} else if reset, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && exhausted {
		wait = time.Unix(reset, 0).Sub(c.Now())
	}
	return max(wait, smallestWait), true
}

// wait waits and counts it.
func (c *Client) wait(ctx context.Context, d time.Duration) {
	c.waited += d
	c.Sleep(ctx, d)
}

// err is what an answer other than a good one means.
func (a *answer) err() error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.body, &said) // an answer without a message is told by its status
	text := fmt.Sprintf("status %d", a.status)
	if said.Message != "" {
		text += ", " + cut(neutral(said.Message), 200)
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w (%s)", ErrNoAccess, text)
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%w (%s)", ErrNotThere, text)
	case http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w (%s)", ErrRefused, text)
	}
	return errors.New(text)
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
func (c *Client) pages(ctx context.Context, path string, query url.Values, take func(body []byte) error) error {
	query.Set("per_page", strconv.Itoa(perPage))
	query.Set("limit", "50") // Gitea's name for it, and the most it gives
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		a, err := c.do(ctx, http.MethodGet, path, query, nil, nil, acceptJSON)
		if err != nil {
			return err
		}
		if err := take(a.body); err != nil {
			return fmt.Errorf("GET %s: the answer is not what the API describes", path)
		}
		if !strings.Contains(a.header.Get("Link"), `rel="next"`) {
			return nil
		}
		if page == maxPages {
			return fmt.Errorf("GET %s: there are more than %d pages", path, maxPages)
		}
	}
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
		Type string `json:"type"`
	} `json:"user"`
	PullRequest *struct{} `json:"pull_request"` // an issue that is one
}

// trusted reports whether what a comment's hidden marker says may be believed: its author can write to the repository, or
// is a bot that was let in. Else anybody could write a marker of a run that is far ahead, and silence all that follow.
// Where the API says nothing of its authors, as Gitea's, there is nothing to go by.
func (r *remark) trusted() bool {
	switch r.Association {
	case "", "OWNER", "MEMBER", "COLLABORATOR":
		return true
	}
	return r.User != nil && r.User.Type == "Bot"
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
	query := url.Values{"state": {"open"}}
	err = c.pages(ctx, c.repo("/issues"), query, func(body []byte) error {
		var page []remark
		err := json.Unmarshal(body, &page)
		for _, r := range page {
			if r.PullRequest == nil {
				list = append(list, r)
			}
		}
		return err
	})
	return list, err
}

// CheckHead reports whether a pull request's newest commit is the given one: an error says why it cannot be told to be.
func (c *Client) CheckHead(ctx context.Context, number int, sha string) error {
	if sha == "" {
		return errors.New("which commit the report is about is not known")
	}
	var pr pullRequest
	if _, err := c.do(ctx, http.MethodGet, c.repo("/pulls/%d", number), nil, nil, &pr, acceptJSON); err != nil {
		return err
	}
	if pr.Head.SHA != sha {
		return fmt.Errorf("the newest commit of pull request %d is %.12s, and the report is about %.12s", number, neutral(pr.Head.SHA), sha)
	}
	return nil
}

// File returns a file of the repository as it is at a commit or branch, at most 1 MiB and a byte of it. The error is
// ErrNotThere where there is none.
func (c *Client) File(ctx context.Context, file, ref string) ([]byte, error) {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	a, err := c.do(ctx, http.MethodGet, c.repo("/contents/")+strings.Join(parts, "/"), url.Values{"ref": {ref}}, nil, nil, acceptRaw)
	if err != nil {
		return nil, err
	}
	data := a.body
	var wrapped struct {
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Content  string `json:"content"`
	}
	// Gitea answers with the file inside a document whatever is accepted.
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
		switch err := json.Unmarshal(a.body, &wrapped); {
		case err != nil:
			return nil, errors.New("it is a folder")
		case wrapped.Type != "file" || wrapped.Encoding != "base64":
			return nil, errors.New("it is not a file")
		}
		if data, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(wrapped.Content, "\n", "")); err != nil {
			return nil, errors.New("the answer is not what the API describes")
		}
	}
	return data[:min(len(data), fileBytes)], nil
}

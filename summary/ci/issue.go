package ci

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// PostIssue keeps one open issue with the posting's key, as PostComment does a comment: it is opened where p.Create says
// so, updated while it is open, and closed where p.Create does not hold any more. A closed issue is history: the next problem opens a
// new one.
func (c *Client) PostIssue(ctx context.Context, title string, p Posting) Outcome {
	found, outcome := c.settle(ctx, &tracker{c, title, !p.Create}, p)
	if found != nil {
		outcome.IssueURL = c.page(found.URL)
	}
	return outcome
}

// tracker is the issues of a repository.
type tracker struct {
	c     *Client
	title string
	close bool // all is well again
}

func (t *tracker) kind() string { return "issue" }

func (t *tracker) remedy() string {
	return "give the job `permissions: issues: write`, and see that the repository has issues switched on"
}

// list lists the open issues, and the hundred that were changed last of the closed ones: an older run that is late must not
// open again what a newer one has closed.
func (t *tracker) list(ctx context.Context) ([]remark, error) {
	all, err := t.c.openIssues(ctx)
	if err != nil {
		return nil, err
	}
	query := url.Values{"state": {"closed"}, "sort": {"updated"}, "direction": {"desc"}, "per_page": {strconv.Itoa(perPage)}}
	var closed []remark
	if _, err := t.c.do(ctx, http.MethodGet, t.c.repo("/issues"), query, nil, &closed, acceptJSON); err != nil {
		return nil, err
	}
	return append(all, withoutPulls(closed)...), nil
}

func (t *tracker) one(r remark) string { return t.c.repo("/issues/%d", r.Number) }

func (t *tracker) get(ctx context.Context, r remark) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodGet, t.one(r), nil, nil, into, acceptJSON)
	return into, err
}

func (t *tracker) create(ctx context.Context, body string) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodPost, t.c.repo("/issues"), nil, map[string]string{"title": t.title, "body": body}, into, acceptJSON)
	return into, err
}

func (t *tracker) update(ctx context.Context, r remark, body string) (*remark, error) {
	send := map[string]string{"title": t.title, "body": body}
	if t.close {
		send["state"], send["state_reason"] = "closed", "completed"
	}
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodPatch, t.one(r), nil, send, into, acceptJSON)
	return into, err
}

// remove closes an issue that this run opened beside another one.
func (t *tracker) remove(ctx context.Context, r remark) error {
	_, err := t.c.do(ctx, http.MethodPatch, t.one(r), nil, map[string]string{"state": "closed", "state_reason": "not_planned"}, nil, acceptJSON)
	return err
}

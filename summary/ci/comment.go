package ci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// Mode is when a comment is written.
type Mode string

// The modes of a comment.
const (
	Never    Mode = "never"
	Problems Mode = "problems" // while a rule does not pass; then it is updated
	Changes  Mode = "changes"  // when a verdict has changed; then it is updated
	Always   Mode = "always"
)

// ParseMode reads a mode in any letter case; an empty text is Never.
func ParseMode(text string) (Mode, error) {
	all := []string{string(Never), string(Problems), string(Changes), string(Always)}
	mode := strings.ToLower(strings.TrimSpace(text))
	switch {
	case mode == "":
		return Never, nil
	case slices.Contains(all, mode):
		return Mode(mode), nil
	}
	hint := ""
	if near := diag.Nearest(mode, all); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return Never, fmt.Errorf("%s is not allowed; write one of %s%s", diag.Quote(text), strings.Join(all, ", "), hint)
}

// Posting is what a comment or an issue says, and of which run.
type Posting struct {
	Key     string // what tells it from those of other steps
	Run     Run
	Subject string // a digest of what the run decided: two steps of one run that use the same key differ in it
	Verdict report.Verdict
	Failing []string // ids of the counting rules that did not pass
	Create  bool     // write it where there is none; one that is there is always updated
	// Body writes it, within so many bytes; previous is what it takes the place of, nil where there is none.
	Body     func(previous *summary.Previous, maxBytes int) (string, error)
	ReadOnly string // why the token cannot be expected to write; "" where nothing says so
}

// Outcome is what came of writing a comment or an issue. Notes are for a person to know; Problems are what should have
// been done and could not be.
type Outcome struct {
	CommentURL, IssueURL string
	Notes, Problems      []string
}

// The sizes of a comment, in bytes. GitHub takes 65,536 characters.
const (
	commentBytes = 60_000
	refusedBytes = 10_000 // once the API has refused a longer one
	failingBytes = 2_000  // of the ids that a marker remembers
)

// rounds is how often a comment is written again where an older run has come in between.
const rounds = 5

// settlePause is how long after writing the comment is looked at again: longer than another run's time between reading
// and writing.
const settlePause = time.Second

// stamp says which run wrote a comment, and what a later one has to know of it. It is written into the comment, where nobody
// sees it.
type stamp struct {
	key, workflow, sha, subject string
	number, attempt             int
	id                          int64
	verdict                     string
	failing                     []string
}

func (p *Posting) stamp() stamp {
	s := stamp{key: p.Key, workflow: p.Run.Workflow, sha: p.Run.SHA, subject: p.Subject, number: p.Run.Number, attempt: p.Run.Attempt, id: p.Run.ID, verdict: p.Verdict.String()}
	left := failingBytes
	for _, id := range p.Failing {
		if left -= len(encode(id)) + 1; left < 0 {
			break
		}
		s.failing = append(s.failing, id)
	}
	return s
}

// order is -1 where s is of an older run than o, 1 where it is of a newer one. A run's number counts within its workflow; the
// ids of runs go up across workflows.
func (s stamp) order(o stamp) int {
	if s.workflow == o.workflow {
		return cmp.Or(cmp.Compare(s.number, o.number), cmp.Compare(s.attempt, o.attempt))
	}
	return cmp.Or(cmp.Compare(s.id, o.id), cmp.Compare(s.attempt, o.attempt))
}

// previous is what the comment said, for the one that takes its place.
func (s stamp) previous() *summary.Previous {
	p := &summary.Previous{Run: fmt.Sprintf("run %d", s.number), Failing: s.failing}
	if v, err := report.ParseVerdict(s.verdict); err == nil {
		p.Verdict = v
	}
	return p
}

// encode writes a value of a marker, which nothing in it can end.
func encode(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "-", "%2D") }

// marker writes a stamp as the first line of a comment; kind is what it stands in: comment or issue.
func (s stamp) marker(kind string) string {
	var failing []string
	for _, id := range s.failing {
		failing = append(failing, encode(id))
	}
	return fmt.Sprintf("<!-- oloproof:%s key=%s run=%d attempt=%d id=%d workflow=%s sha=%s subject=%s verdict=%s failing=%s -->\n",
		kind, encode(s.key), s.number, s.attempt, s.id, encode(s.workflow), encode(s.sha), encode(s.subject), encode(s.verdict), strings.Join(failing, ","))
}

var markerLine = regexp.MustCompile(`^<!-- oloproof:(comment|issue) key=([\w.~%+]*) run=(\d{1,9}) attempt=(\d{1,9}) id=(\d{1,18}) workflow=([\w.~%+]*) sha=([\w.~%+]*) subject=([\w.~%+]*) verdict=([\w.~%+]*) failing=([\w.~%+,]*) -->\r?$`)

// readMarker reads the stamp of a comment; ok is false where its first line is no marker of that kind.
func readMarker(kind, body string) (s stamp, ok bool) {
	first, _, _ := strings.Cut(body, "\n")
	m := markerLine.FindStringSubmatch(first)
	if m == nil || m[1] != kind {
		return s, false
	}
	ok = true
	decode := func(text string) string {
		value, err := url.QueryUnescape(text)
		ok = ok && err == nil
		return value
	}
	s = stamp{key: decode(m[2]), workflow: decode(m[6]), sha: decode(m[7]), subject: decode(m[8]), verdict: decode(m[9])}
	s.number, _ = strconv.Atoi(m[3]) // at most nine digits, as the next, and 18
	s.attempt, _ = strconv.Atoi(m[4])
	s.id, _ = strconv.ParseInt(m[5], 10, 64)
	for text := range strings.SplitSeq(m[10], ",") {
		if text != "" {
			s.failing = append(s.failing, decode(text))
		}
	}
	return s, ok
}

// board is where comments or issues stand.
type board interface {
	kind() string // comment or issue, as in the marker
	list(ctx context.Context) ([]remark, error)
	get(ctx context.Context, r remark) (*remark, error)
	create(ctx context.Context, body string) (*remark, error)
	update(ctx context.Context, r remark, body string) (*remark, error)
	remove(ctx context.Context, r remark) error
	permission() string // what the workflow has to grant
}

// posted is a remark with our marker.
type posted struct {
	remark
	stamp stamp
}

// closed reports whether it is history.
func (p posted) closed() bool { return p.State == "closed" }

// find returns the open remarks with the key, the oldest first, and the newest run's of all, closed ones included.
func find(b board, key string, all []remark) (open []posted, newest *posted) {
	for _, r := range all {
		s, ok := readMarker(b.kind(), r.Body)
		if !ok || s.key != key || !r.trusted() {
			continue
		}
		p := posted{r, s}
		if newest == nil || newest.stamp.order(s) < 0 {
			newest = &p
		}
		if !p.closed() {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, func(x, y posted) int { return cmp.Compare(x.ID, y.ID) })
	return open, newest
}

// PostComment writes a pull request's comment: one with the posting's key, found by its hidden marker alone, never by its
// author or its words.
//
// A run writes only over older ones. The API cannot write on a condition, so between reading a comment and writing it
// another run may write too. The comment is therefore read again just before it is written and again a second after,
// and written anew where an older run's stands there. So the newest run's comment is there in the end, unless an older run takes
// more than that second from its last reading to its writing. Of two comments that were created at once the older one
// stays, and each run removes only its own.
func (c *Client) PostComment(ctx context.Context, number int, p Posting) Outcome {
	found, outcome := c.settle(ctx, &thread{c, number}, p)
	if found != nil {
		outcome.CommentURL = found.URL
	}
	return outcome
}

// settle brings a board to say what the posting says; nil where there is nothing of ours on it.
func (c *Client) settle(ctx context.Context, b board, p Posting) (*remark, Outcome) {
	var out Outcome
	mine := p.stamp()
	failed := func(doing string, err error) {
		switch {
		case (errors.Is(err, ErrNoAccess) || errors.Is(err, ErrNotThere)) && p.ReadOnly != "":
			out.Notes = append(out.Notes, fmt.Sprintf("No %s was written: %s, and this run's token can only read. docs/recipes.md says how to comment on such pull requests.", b.kind(), p.ReadOnly))
		case errors.Is(err, ErrNoAccess) || errors.Is(err, ErrNotThere):
			out.Problems = append(out.Problems, fmt.Sprintf("%s: the token may not %s it; give the job `permissions: %s` (%v)", b.kind(), doing, b.permission(), err))
		default:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: could not %s it: %v", b.kind(), doing, err))
		}
	}

	var previous *summary.Previous
	var last *remark  // as it was read or written last
	var created int64 // the one that this run made
	uncertain := 0    // times that it is not known whether one was made
	most := commentBytes
	write := func(to *posted) (bool, error) {
		marker := mine.marker(b.kind())
		body, err := p.Body(previous, most-len(marker))
		if err != nil {
			return false, err
		}
		var r *remark
		if to != nil {
			r, err = b.update(ctx, to.remark, marker+body)
		} else if r, err = b.create(ctx, marker+body); err == nil {
			created = r.ID
		}
		if errors.Is(err, ErrRefused) && most == commentBytes {
			most = refusedBytes
			return true, nil
		}
		if err == nil {
			last = r
		}
		return false, err
	}

	for round := 0; ; round++ {
		all, err := b.list(ctx)
		if err != nil {
			failed("read", err)
			return last, out
		}
		open, newest := find(b, p.Key, all)
		if newest != nil && last == nil {
			if len(open) > 0 {
				last = &open[0].remark
				previous = newest.stamp.previous()
			}
		}
		switch {
		case newest != nil && newest.stamp.order(mine) > 0:
			out.Notes = append(out.Notes, fmt.Sprintf("The %s is of a newer run (%d) already, and stays.", b.kind(), newest.stamp.number))
			c.removeOwn(ctx, b, open, created)
			return last, out
		case newest != nil && newest.stamp.order(mine) == 0 && newest.stamp.subject != mine.subject:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: another step of this run has written it under the key %s; give each step a comment-key of its own", b.kind(), diag.Quote(p.Key)))
			c.removeOwn(ctx, b, open, created)
			return last, out
		case len(open) == 0 && newest != nil && newest.stamp.order(mine) == 0: // it has been closed by this run
			return last, out
		case len(open) == 0 && !p.Create:
			return last, out
		case len(open) > 0 && open[0].stamp.order(mine) == 0 && round > 0: // it stands
			last = &open[0].remark
			c.removeOwn(ctx, b, open, created)
			return last, out
		case round == rounds:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: other runs keep writing over it", b.kind()))
			return last, out
		}
		var to *posted
		if len(open) > 0 {
			to = &open[0]
			// Once more, just before it is written.
			switch now, err := b.get(ctx, to.remark); {
			case errors.Is(err, ErrNotThere):
				continue // it was deleted meanwhile
			case err != nil:
				failed("read", err)
				return last, out
			default:
				if s, ok := readMarker(b.kind(), now.Body); ok && s.order(mine) > 0 {
					continue
				}
			}
		}
		again, err := write(to)
		switch {
		case again:
			round--
			continue
		case err == nil:
		case to != nil && errors.Is(err, ErrNotThere): // it was deleted meanwhile
		case to == nil && !isAnswer(err) && uncertain < tries: // it may have been written all the same
			uncertain++
		default:
			failed("write", err)
			return last, out
		}
		c.Sleep(ctx, settlePause)
	}
}

// isAnswer reports whether an error is the API's clear answer that a request had no effect.
func isAnswer(err error) bool {
	return errors.Is(err, ErrNoAccess) || errors.Is(err, ErrNotThere) || errors.Is(err, ErrRefused)
}

// removeOwn removes the remark that this run made, where an older one with the key stands beside it.
func (c *Client) removeOwn(ctx context.Context, b board, open []posted, created int64) {
	for _, p := range open[min(1, len(open)):] {
		if p.ID == created {
			_ = b.remove(ctx, p.remark) // it says the same, and the next run meets it again
		}
	}
}

// thread is the comments of a pull request.
type thread struct {
	c      *Client
	number int
}

func (t *thread) kind() string       { return "comment" }
func (t *thread) permission() string { return "pull-requests: write" }

func (t *thread) list(ctx context.Context) ([]remark, error) { return t.c.comments(ctx, t.number) }

func (t *thread) one(r remark) string { return t.c.repo("/issues/comments/%d", r.ID) }

func (t *thread) get(ctx context.Context, r remark) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodGet, t.one(r), nil, nil, into, acceptJSON)
	return into, err
}

func (t *thread) create(ctx context.Context, body string) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodPost, t.c.repo("/issues/%d/comments", t.number), nil, map[string]string{"body": body}, into, acceptJSON)
	return into, err
}

func (t *thread) update(ctx context.Context, r remark, body string) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodPatch, t.one(r), nil, map[string]string{"body": body}, into, acceptJSON)
	return into, err
}

func (t *thread) remove(ctx context.Context, r remark) error {
	_, err := t.c.do(ctx, http.MethodDelete, t.one(r), nil, nil, nil, acceptJSON)
	return err
}

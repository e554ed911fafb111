package ci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	KeyName  string // what the person who chose Key calls it; "": comment-key
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

// markerText is the longest text in a marker, in bytes; of a longer one there is a digest.
const markerText = 200

// rounds is how often a comment is looked at again: it is written anew where an older run's has come in between.
const rounds = 10

// settlePause is how long after writing the comment is looked at again: longer than another run's time between reading
// and writing.
const settlePause = time.Second

// postingTime is how long all of it may take.
const postingTime = 3 * time.Minute

// stamp says which run wrote a comment, and what a later one has to know of it. It is written into the comment, where nobody
// sees it.
type stamp struct {
	key, workflow, sha, subject string
	number, attempt             int
	id                          int64
	verdict                     string
	failing                     []string
}

func (p Posting) stamp() stamp {
	s := stamp{
		key: short(p.Key), workflow: short(p.Run.Workflow), sha: short(p.Run.SHA), subject: short(p.Subject),
		number: max(p.Run.Number, 0), attempt: max(p.Run.Attempt, 0), id: max(p.Run.ID, 0), verdict: p.Verdict.String(),
	}
	left := failingBytes
	for _, id := range p.Failing {
		if left -= len(encode(id)) + 1; left < 0 {
			break
		}
		s.failing = append(s.failing, id)
	}
	return s
}

// short returns a text, or a digest of it where it is long.
func short(text string) string {
	if len(text) <= markerText {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256." + hex.EncodeToString(sum[:])
}

// order is -1 where s is of an older run than o, 1 where it is of a newer one. The ids of runs go up over all of a server's
// workflows; a run's number counts within its workflow, and begins anew where that is renamed, so it tells only runs apart
// that have no ids of their own.
func (s stamp) order(o stamp) int {
	return cmp.Or(cmp.Compare(s.id, o.id), cmp.Compare(s.number, o.number), cmp.Compare(s.attempt, o.attempt))
}

// same reports whether s is of the same run as o, and of the same decision in it.
func (s stamp) same(o stamp) bool { return s.order(o) == 0 && s.subject == o.subject }

// run names the run for a person; it is empty where it has no number.
func (s stamp) run() string {
	switch {
	case s.number == 0:
		return ""
	case s.attempt > 1:
		return fmt.Sprintf("run %d, attempt %d", s.number, s.attempt)
	}
	return fmt.Sprintf("run %d", s.number)
}

// aside is the run in parentheses, with its workflow; "" where neither is known.
func (s stamp) aside() string {
	text := s.run()
	if s.workflow != "" {
		text = strings.TrimPrefix(text+" of "+diag.Quote(s.workflow), " ")
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// previous is what the comment said, for that of mine, which takes its place. An earlier attempt of the same run is named as one.
func (s stamp) previous(mine stamp) *summary.Previous {
	p := &summary.Previous{Run: s.run(), Failing: s.failing}
	if s.number != 0 && s.number == mine.number && s.attempt == 1 {
		p.Run += ", attempt 1"
	}
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

var markerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<!-- oloproof:(comment|issue)((?: [a-z]+=[^\s<>=]*)+) -->\r?$`)
})

// readMarker reads the stamp of a comment; ok is false where its first line is no marker of that kind with a key. What else
// is in it is read as far as it can be: a later version may have added to it, and a comment that is not found would be begun
// a second time. One whose run cannot be read is older than any.
func readMarker(kind, body string) (s stamp, ok bool) {
	m := markerLine().FindStringSubmatch(firstLine(body))
	if m == nil || m[1] != kind {
		return stamp{}, false
	}
	text := func(written string) string {
		value, err := url.QueryUnescape(written)
		if err != nil {
			return ""
		}
		return value
	}
	broken := false
	number := func(written string) int64 {
		value, err := strconv.ParseInt(written, 10, 64)
		broken = broken || err != nil || value < 0
		return value
	}
	for _, field := range strings.Fields(m[2]) {
		name, written, _ := strings.Cut(field, "=")
		switch name {
		case "key":
			var err error
			s.key, err = url.QueryUnescape(written)
			ok = err == nil
		case "run":
			s.number = int(number(written))
		case "attempt":
			s.attempt = int(number(written))
		case "id":
			s.id = number(written)
		case "workflow":
			s.workflow = text(written)
		case "sha":
			s.sha = text(written)
		case "subject":
			s.subject = text(written)
		case "verdict":
			s.verdict = text(written)
		case "failing":
			s.failing = nil
			for id := range strings.SplitSeq(written, ",") {
				if id = text(id); id != "" {
					s.failing = append(s.failing, id)
				}
			}
		}
	}
	if broken {
		s.number, s.attempt, s.id = 0, 0, 0
	}
	return s, ok
}

// firstLine is the line of a comment that its marker stands in.
func firstLine(body string) string {
	first, _, _ := strings.Cut(body, "\n")
	return first
}

// board is where comments or issues stand.
type board interface {
	kind() string // comment or issue, as in the marker
	list(ctx context.Context) ([]remark, error)
	get(ctx context.Context, r remark) (*remark, error)
	create(ctx context.Context, body string) (*remark, error)
	update(ctx context.Context, r remark, body string) (*remark, error)
	remove(ctx context.Context, r remark) error
	remedy() string // what lets the token write
}

// posted is a remark with our marker.
type posted struct {
	remark
	stamp stamp
}

// closed reports whether it is history.
func (p posted) closed() bool { return p.State == "closed" }

// find returns the remarks with the key, the oldest first: the open ones, and of all, closed ones included, the newest run's,
// nil for none. created is one that this run has made, which is believed without asking.
func (c *Client) find(ctx context.Context, b board, key string, all []remark, created int64) (open []posted, newest *posted) {
	var found []posted
	for _, r := range all {
		if s, ok := readMarker(b.kind(), r.Body); ok && s.key == key && (r.ID == created || c.believed(ctx, &r)) {
			found = append(found, posted{r, s})
		}
	}
	slices.SortFunc(found, func(x, y posted) int { return cmp.Compare(x.ID, y.ID) })
	for i, p := range found {
		if newest == nil || newest.stamp.order(p.stamp) < 0 {
			newest = &found[i]
		}
		if !p.closed() {
			open = append(open, p)
		}
	}
	return open, newest
}

// PostComment writes a pull request's comment: one with the posting's key, found by its hidden marker alone, never by its
// author or its words.
//
// A run writes only over older ones, makes at most one comment, and removes the one it made where an earlier one with the key
// stands beside it. So however the requests of several runs interleave, once all have ended without a failure exactly one
// comment with the key is there.
//
// The API cannot write on a condition, so between reading a comment and writing it another run may write too. The comment is
// therefore read again just before it is written and again a second after, and written anew where an older run's stands
// there. So the one that is left is the newest run's that wrote one, if no older run takes more than that second from its
// last reading to its writing. A run that had nothing to write leaves nothing that an older one could see; so before a run
// begins a comment it looks whether its commit, Run.SHA, is the pull request's newest, and leaves it at a note where not.
func (c *Client) PostComment(ctx context.Context, number int, p Posting) Outcome {
	found, outcome := c.settle(ctx, &thread{c, number, p.Run.SHA}, p)
	if found != nil {
		outcome.CommentURL = c.page(found.URL)
	}
	return outcome
}

// ForkHelp is the sentence for who looks for a comment on a pull request whose run has no token that can write.
const ForkHelp = "How to comment on such pull requests: https://github.com/oloproof/oloproof/blob/main/docs/recipes.md#pull-requests-from-forks"

// errBody is the error of a text that could not be written, whatever the API says.
var errBody = errors.New("its text cannot be written")

// settle brings a board to say what the posting says; nil where there is nothing of ours on it.
func (c *Client) settle(ctx context.Context, b board, p Posting) (*remark, Outcome) {
	ctx, cancel := context.WithTimeout(ctx, postingTime)
	defer cancel()
	var out Outcome
	failed := func(doing string, err error) {
		denied := errors.Is(err, ErrNoAccess) || errors.Is(err, ErrNotThere)
		switch {
		case errors.Is(err, ErrMovedOn):
			out.Notes = append(out.Notes, fmt.Sprintf("No %s was begun: %v.", b.kind(), err))
		case denied && p.ReadOnly != "":
			out.Notes = append(out.Notes, fmt.Sprintf("No %s was written: %s, and this run's token can only read. %s", b.kind(), p.ReadOnly, ForkHelp))
		case denied:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: the token may not %s it: %s (%v)", b.kind(), doing, b.remedy(), err))
		default:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: could not %s it: %v", b.kind(), doing, err))
		}
	}

	mine := p.stamp()
	var last *remark               // as it stands, as far as is known
	var previous *summary.Previous // what an older run said
	var created int64              // the one that this run made
	var touched *remark            // what this run has written last
	failures := 0                  // writes of which it is not known whether they took effect
	most := commentBytes
	write := func(to *posted) error {
		marker := mine.marker(b.kind())
		body, err := p.Body(previous, most-len(marker))
		if err != nil {
			return fmt.Errorf("%w: %w", errBody, err)
		}
		var r *remark
		if to != nil {
			r, err = b.update(ctx, to.remark, marker+body)
		} else if r, err = b.create(ctx, marker+body); err == nil {
			created = r.ID
		}
		if err == nil {
			last, touched = r, r
		}
		return err
	}
	// again looks once more at what another run wrote meanwhile. A list may lag behind: it is not asked without a pause.
	again := func(round int) {
		if round > 0 {
			c.Sleep(ctx, settlePause)
		}
	}
	removeOwn := func(open []posted, own func(posted) bool) {
		if err := c.removeOwn(ctx, b, open, own); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("A second %s of this run was begun beside another run's, and could not be removed: %v.", b.kind(), err))
		}
	}
	// own tells the one that this run made, also where the answer to that was lost.
	own := func(p posted) bool { return p.ID == created || failures > 0 && p.stamp.same(mine) }

	for round := 0; ; round++ {
		all, err := b.list(ctx)
		if err != nil {
			failed("read", err)
			return last, out
		}
		open, newest := c.find(ctx, b, mine.key, all, created)
		if len(open) == 0 && touched != nil && touched.State == "closed" {
			// What this run closed is written anew where an older run's text has come into it since.
			if now, err := b.get(ctx, *touched); err == nil {
				if s, ok := readMarker(b.kind(), now.Body); ok && s.key == mine.key && s.order(mine) < 0 {
					open, newest = []posted{{*now, s}}, nil
				}
			}
		}
		if len(open) > 0 {
			last = &open[0].remark
		}
		if before := newestBefore(open, mine); before != nil {
			previous = before.previous(mine)
			if p.Verdict == report.NoVerdict { // what had not passed is not forgotten by a run that decides nothing
				mine.failing = before.failing
			}
		}
		// Without an id there is no telling which of two runs is the newer one: the last one writes.
		ordered := mine.id != 0 || mine.number != 0
		switch {
		case newest != nil && newest.stamp.order(mine) > 0:
			out.Notes = append(out.Notes, fmt.Sprintf("The %s is of a newer run already%s, and stays.", b.kind(), newest.stamp.aside()))
			removeOwn(open, own)
			return last, out
		case newest != nil && ordered && newest.stamp.order(mine) == 0 && newest.stamp.subject != mine.subject:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: another step of this run has written it under the key %s; give each step a %s of its own", b.kind(), diag.Quote(p.Key), cmp.Or(p.KeyName, "comment-key")))
			removeOwn(open, own)
			return last, out
		case len(open) > 0 && open[0].stamp.same(mine): // it stands
			removeOwn(open, own)
			return last, out
		case len(open) == 0 && newest != nil && newest.stamp.same(mine): // this run has closed it
			return &newest.remark, out
		case len(open) == 0 && (!p.Create || created != 0): // what this run made and is not listed was removed, or comes late
			return last, out
		case round == rounds:
			out.Problems = append(out.Problems, fmt.Sprintf("%s: other runs keep writing over it", b.kind()))
			removeOwn(open, own)
			return last, out
		}
		var to *posted
		if len(open) > 0 {
			to = &open[0]
			// Once more, just before it is written.
			now, err := b.get(ctx, to.remark)
			switch {
			case errors.Is(err, ErrNotThere): // it was deleted meanwhile
				again(round)
				continue
			case err != nil:
				failed("read", err)
				return last, out
			case firstLine(now.Body) != firstLine(to.Body) || now.State != to.State: // it was written meanwhile
				again(round)
				continue
			}
		}
		switch err := write(to); {
		case err == nil:
		case errors.Is(err, errWaited):
			continue
		case errors.Is(err, ErrRefused) && most > refusedBytes:
			most = refusedBytes
			continue
		case to != nil && errors.Is(err, ErrNotThere): // it was deleted meanwhile
			again(round)
			continue
		case !isAnswer(err) && !errors.Is(err, errBody) && !errors.Is(err, ErrMovedOn) && failures < tries:
			failures++
		default:
			failed("write", err)
			return last, out
		}
		c.Sleep(ctx, settlePause)
	}
}

// newestBefore is the newest stamp that a run with the stamp mine writes over, nil for none.
func newestBefore(open []posted, mine stamp) (before *stamp) {
	for i := range open {
		s := &open[i].stamp
		if s.order(mine) <= 0 && !s.same(mine) && (before == nil || before.order(*s) < 0) {
			before = s
		}
	}
	return before
}

// removeOwn removes, of the open remarks with the key but the oldest, what this run made. The error is of the last that could
// not be.
func (c *Client) removeOwn(ctx context.Context, b board, open []posted, own func(posted) bool) (last error) {
	for _, p := range open[min(1, len(open)):] {
		if own(p) {
			if err := b.remove(ctx, p.remark); err != nil && !errors.Is(err, ErrNotThere) {
				last = err
			}
		}
	}
	return last
}

// thread is the comments of a pull request.
type thread struct {
	c      *Client
	number int
	sha    string // the commit that the run is about, "" where that is not known
}

func (t *thread) kind() string   { return "comment" }
func (t *thread) remedy() string { return "give the job `permissions: pull-requests: write`" }

func (t *thread) list(ctx context.Context) ([]remark, error) { return t.c.comments(ctx, t.number) }

func (t *thread) one(r remark) string { return t.c.repo("/issues/comments/%d", r.ID) }

func (t *thread) get(ctx context.Context, r remark) (*remark, error) {
	into := &remark{}
	_, err := t.c.do(ctx, http.MethodGet, t.one(r), nil, nil, into, acceptJSON)
	return into, err
}

func (t *thread) create(ctx context.Context, body string) (*remark, error) {
	if t.sha != "" {
		// Where the token may not read pull requests it cannot be told, and the comment is worth more.
		if pr, err := t.c.pull(ctx, t.number); err == nil && commitID().MatchString(pr.Head.SHA) && pr.Head.SHA != t.sha {
			return nil, fmt.Errorf("%w: its newest commit is %.7s, and this run is about %.7s", ErrMovedOn, pr.Head.SHA, t.sha)
		}
	}
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

package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// post writes the comment of pull request 12 and checks that the token is in nothing that is told.
func post(h *hub, p Posting) Outcome {
	h.t.Helper()
	out := h.client(nil).PostComment(context.Background(), 12, p)
	for _, text := range slices.Concat(out.Notes, out.Problems, []string{out.CommentURL}) {
		if strings.Contains(text, hubToken) {
			h.t.Errorf("the token is in %q", text)
		}
	}
	return out
}

// TestOneCommentOverManyRuns: "single, always-update comment" (benchmark-action#98, iterative/cml#719 and others that drowned
// in comments). An edit notifies nobody.
func TestOneCommentOverManyRuns(t *testing.T) {
	h := newHub(t)
	h.comment(stranger, "A nice change!")
	for n := 1; n <= 3; n++ {
		out := post(h, ofRun(n))
		quiet(t, out)
		if want := "https://github.example/o/r/pull/12#issuecomment-102"; out.CommentURL != want {
			t.Errorf("run %d: address %q, want %q", n, out.CommentURL, want)
		}
	}
	h.says(t, `This is run 3. Before: run 2, FAIL, ["a-rule"].`)
	if posts, patches := h.made("POST"), h.made("PATCH"); posts != 1 || patches != 2 {
		t.Errorf("%d made and %d edited, want 1 and 2", posts, patches)
	}
}

// A run that decides nothing hands on what had not passed, so that the next one can say that it passes now.
func TestNothingDecidedForgetsNothing(t *testing.T) {
	h := newHub(t)
	quiet(t, post(h, ofRun(1)))
	for n := 2; n <= 3; n++ {
		broken := ofRun(n)
		broken.Verdict, broken.Failing = report.NoVerdict, nil
		quiet(t, post(h, broken))
	}
	quiet(t, post(h, ofRun(4)))
	h.says(t, `This is run 4. Before: run 3, NO_VERDICT, ["a-rule"].`)
	passes := ofRun(5)
	passes.Verdict, passes.Failing = report.Pass, nil
	quiet(t, post(h, passes))
	quiet(t, post(h, ofRun(6)))
	h.says(t, `This is run 6. Before: run 5, PASS, [].`)
}

// TestCommentIsFoundWhateverItSays: a change of words made a new comment with each run (pulumi/actions#633).
func TestCommentIsFoundWhateverItSays(t *testing.T) {
	line := ofRun(1).stamp().marker("comment")
	for name, body := range map[string]string{
		"as it was":                    line + "This is run 1.",
		"other words":                  line + "### Some later version of the program speaks otherwise",
		"nothing but the mark":         strings.TrimSuffix(line, "\n"),
		"edited in a browser (CR LF)":  strings.TrimSuffix(line, "\n") + "\r\nThis is\r\nrun 1.\r\n",
		"a mark of a later line too":   line + ofRun(7).stamp().marker("comment") + "quoted",
		"words that begin as a second": line + "<!-- oloproof:comment -->",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.comment(jobToken, body)
			quiet(t, post(h, ofRun(2)))
			h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
		})
	}
}

// TestCommentIsFoundWhoeverWroteIt: to look for github-actions[bot] made duplicates with a person's token or an app's
// (FixMap#77, anthropics/claude-code-action#960, phwt/sonarqube-quality-gate-action#38).
func TestCommentIsFoundWhoeverWroteIt(t *testing.T) {
	for name, author := range map[string]account{"a job's token": jobToken, "an owner": owner, "a private member": member, "an app": {77, "Bot", "NONE"}} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.account = author
			for n := 1; n <= 3; n++ {
				quiet(t, post(h, ofRun(n)))
			}
			h.says(t, `This is run 3. Before: run 2, FAIL, ["a-rule"].`)
			if h.made("POST") != 1 {
				t.Errorf("%d were made", h.made("POST"))
			}
		})
	}
	t.Run("Gitea says nothing of authors", func(t *testing.T) {
		h := newHub(t)
		h.gitea, h.account = true, giteaUser
		quiet(t, post(h, ofRun(1)))
		quiet(t, post(h, ofRun(2)))
		h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
	})
	t.Run("one token after the other", func(t *testing.T) {
		h := newHub(t)
		for n, author := range []account{owner, jobToken, member} {
			h.account = author
			quiet(t, post(h, ofRun(n+1)))
		}
		h.says(t, `This is run 3. Before: run 2, FAIL, ["a-rule"].`)
	})
}

// TestForgedMarkersAreNotBelieved: anybody may comment, and a mark of a run that is far ahead would silence all that follow.
func TestForgedMarkersAreNotBelieved(t *testing.T) {
	ahead := ofRun(1)
	ahead.Run.ID, ahead.Run.Number = 1<<62, 999_999_999
	for _, author := range []account{stranger, member, {5, "User", "FIRST_TIME_CONTRIBUTOR"}, {5, "Mannequin", "MANNEQUIN"}, {-1, "User", "NONE"}} {
		for _, token := range []account{jobToken, owner} {
			h := newHub(t)
			h.account = token
			forged := h.comment(author, marked("comment", ahead))
			before := forged.Body
			quiet(t, post(h, ofRun(2)))
			if forged.Body != before {
				t.Errorf("%v: the stranger's comment was written over", author)
			}
			h.comments = slices.DeleteFunc(h.comments, func(e *entry) bool { return e == forged })
			h.says(t, "This is run 2.")
		}
	}
}

// TestGarbageMarkers: what only looks like a mark is passed over.
func TestGarbageMarkers(t *testing.T) {
	good := strings.TrimSuffix(ofRun(9).stamp().marker("comment"), "\n")
	for _, body := range []string{
		"", "\n" + good, " " + good, "> " + good, good + " x", strings.Replace(good, "oloproof:comment", "oloproof:issue", 1),
		strings.Replace(good, "key=", "key=%zz", 1), strings.Replace(good, "key=", "key=%", 1), strings.Replace(good, " -->", "", 1),
		strings.Replace(good, "CI", "C I", 1), "<!-- oloproof:comment -->", "<!-- oloproof:comment key= -->", strings.Replace(good, "key=", "ley=", 1),
	} {
		h := newHub(t)
		h.comment(owner, body)
		quiet(t, post(h, ofRun(2)))
		if len(h.comments) != 2 || h.comments[0].Body != body {
			t.Errorf("%q was taken for a mark", body)
		}
	}
}

// TestMarkersOfOtherVersions: a comment whose mark has more than this version knows, or less, or numbers that cannot be read, is
// found by its key, and not begun a second time. One whose run cannot be read is older than any.
func TestMarkersOfOtherVersions(t *testing.T) {
	good := strings.TrimSuffix(ofRun(1).stamp().marker("comment"), "\n")
	ahead := strings.Replace(good, "id=9001", "id=9999999", 1)
	for _, mark := range []string{
		strings.Replace(good, " -->", " more=x -->", 1), strings.Replace(good, "key=", "level=2 key=", 1), "<!-- oloproof:comment key=policy.yaml+human%2Dai -->",
		strings.Replace(ahead, "run=1", "run=", 1), strings.Replace(ahead, "run=1", "run=-1", 1), strings.Replace(ahead, "run=1", "run=99999999999999999999", 1),
		strings.Replace(good, "failing=", "failing=%GG,", 1), strings.Replace(good, "verdict=FAIL", "verdict=%", 1),
	} {
		h := newHub(t)
		c := h.comment(jobToken, mark+"\nold")
		quiet(t, post(h, ofRun(2)))
		if len(h.comments) != 1 || !strings.Contains(c.Body, "This is run 2.") {
			t.Errorf("%q was not found", mark)
		}
	}
}

// TestSecondAttemptNamesTheFirst: what it takes the place of is not the run itself.
func TestSecondAttemptNamesTheFirst(t *testing.T) {
	h := newHub(t)
	h.comment(jobToken, marked("comment", ofRun(2)))
	again := ofRun(2)
	again.Run.Attempt = 2
	quiet(t, post(h, again))
	h.says(t, `This is run 2. Before: run 2, attempt 1, FAIL, ["a-rule"].`)
}

// TestLateRunBeginsNoComment: the newest run passed and began no comment; an older one that failed ends later, and what it
// would say is of a commit that is no longer the newest. One that is there is updated all the same, and where the pull
// request cannot be read the comment is worth more.
func TestLateRunBeginsNoComment(t *testing.T) {
	h := newHub(t)
	h.heads[12] = ofRun(3).Run.SHA
	only(t, "notes", post(h, ofRun(2)).Notes, "No comment was begun", "its newest commit is 0000000, and this run is about 0000000")
	if h.made("POST") > 0 {
		t.Error("a comment was begun")
	}
	h.comment(jobToken, marked("comment", ofRun(1)))
	quiet(t, post(h, ofRun(2)))
	for name, change := range map[string]func(*hub, *Posting){
		"the newest commit":     func(h *hub, p *Posting) { h.heads[12] = p.Run.SHA },
		"no commit known":       func(_ *hub, p *Posting) { p.Run.SHA = "" },
		"a token that may not":  func(h *hub, _ *Posting) { delete(h.heads, 12) },
		"a head that is hidden": func(h *hub, _ *Posting) { h.heads[12] = "" },
	} {
		h := newHub(t)
		h.heads[12] = headSHA
		p := ofRun(2)
		change(h, &p)
		quiet(t, post(h, p))
		if len(h.ours()) != 1 {
			t.Errorf("%s: %d comments", name, len(h.ours()))
		}
	}
}

// TestSecondCommentThatStays: one comment too many is said.
func TestSecondCommentThatStays(t *testing.T) {
	h := newHub(t)
	h.before = func(r *http.Request) http.HandlerFunc {
		switch r.Method {
		case http.MethodPost: // another run's comes in between
			h.comment(jobToken, marked("comment", ofRun(1)))
		case http.MethodDelete:
			return refusing(500, "no")
		}
		return nil
	}
	only(t, "notes", post(h, ofRun(2)).Notes, "A second comment of this run was begun beside another run's, and could not be removed", "status 500")
}

// TestAddressesAreThePlatforms: what the API calls a comment's page is passed on as an output, and only where it is one.
func TestAddressesAreThePlatforms(t *testing.T) {
	c := newHub(t).client(nil)
	c.Server = "https://github.example"
	for address, good := range map[string]bool{
		"https://github.example/o/r/pull/12#issuecomment-1": true, "https://github.example.evil/x": false, "https://evil/x": false, "javascript:alert(1)": false,
		"https://github.example/\nverdict=PASS": false, "https://github.example/?t=" + hubToken: false, "https://me@github.example/x": false, "": false, "https://github.example": false,
	} {
		if got := c.page(address); got != "" != good || good && got != address {
			t.Errorf("%q: %q", address, got)
		}
	}
	c.Server = ""
	if c.page("https://evil/x") == "" || c.page("file:///x") != "" || c.page("/x") != "" {
		t.Error("where the platform is not known, any page of the web is taken, and nothing else")
	}
}

// TestOlderRunNeverOverwrites: a run that was slow wrote over a newer result (vuphongle/oss-pr-reviewer#21).
func TestOlderRunNeverOverwrites(t *testing.T) {
	tests := []struct {
		name       string
		here, late Run
		note       string
	}{
		{"an earlier run", Run{ID: 9005, Number: 5, Attempt: 1, Workflow: "CI"}, Run{ID: 9004, Number: 4, Attempt: 1, Workflow: "CI"}, `(run 5 of "CI")`},
		{"an earlier run, run again", Run{ID: 9005, Number: 5, Attempt: 1, Workflow: "CI"}, Run{ID: 9004, Number: 4, Attempt: 3, Workflow: "CI"}, `(run 5 of "CI")`},
		{"an earlier attempt", Run{ID: 9005, Number: 5, Attempt: 2, Workflow: "CI"}, Run{ID: 9005, Number: 5, Attempt: 1, Workflow: "CI"}, `(run 5, attempt 2 of "CI")`},
		{"another workflow's", Run{ID: 9005, Number: 5, Attempt: 1, Workflow: "CI"}, Run{ID: 9004, Number: 700, Attempt: 1, Workflow: "Nightly"}, `(run 5 of "CI")`},
		{"a workflow whose numbers began anew", Run{ID: 9005, Number: 1, Attempt: 1, Workflow: "CI"}, Run{ID: 9004, Number: 700, Attempt: 1, Workflow: "CI"}, `(run 1 of "CI")`},
		{"runs without ids of their own", Run{ID: 1, Number: 5, Attempt: 1}, Run{ID: 1, Number: 4, Attempt: 1}, "(run 5)"},
		{"a run that is known against one that is not", Run{ID: 9005}, Run{}, "of a newer run already, and stays"},
		{"a hostile workflow", Run{ID: 9005, Number: 5, Attempt: 1, Workflow: "a\n::error::b"}, Run{ID: 9004}, `of "a\n::error::b")`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHub(t)
			newer, older := ofRun(5), ofRun(4)
			newer.Run, older.Run = test.here, test.late
			quiet(t, post(h, newer))
			out := post(h, older)
			only(t, "notes", out.Notes, "The comment is of a newer run already", test.note)
			if len(out.Problems) > 0 || out.CommentURL == "" {
				t.Errorf("problems %q, address %q", out.Problems, out.CommentURL)
			}
			h.says(t, "This is run 5.")

			// The other way round the newer one writes.
			h = newHub(t)
			quiet(t, post(h, older))
			quiet(t, post(h, newer))
			if got := h.ours(); len(got) != 1 || !strings.Contains(got[0].Body, "This is run 5. Before: ") {
				t.Errorf("the newer run is not what stands: %q", got[0].Body)
			}
		})
	}
}

// TestMatrixLegsDoNotClobber: legs of a matrix wrote over each other's comment (langfuse/langfuse#14907).
func TestMatrixLegsDoNotClobber(t *testing.T) {
	leg := ofRun(5)
	other := ofRun(5)
	other.Subject, other.Body = "another", func(*summary.Previous, int) (string, error) { return "This is the other leg.", nil }

	h := newHub(t)
	quiet(t, post(h, leg))
	only(t, "problems", post(h, other).Problems, "another step of this run has written it", `"policy.yaml human-ai"`, "comment-key")
	h.says(t, "This is run 5.")

	other.Key = "other" // and with keys of their own each has its comment (MishaKav/pytest-coverage-comment#94)
	quiet(t, post(h, other))
	quiet(t, post(h, leg))
	if len(h.ours()) != 2 {
		t.Errorf("%d comments", len(h.ours()))
	}
}

// TestTheSameStepTwice: what stands already is not written again.
func TestTheSameStepTwice(t *testing.T) {
	h := newHub(t)
	quiet(t, post(h, ofRun(5)))
	quiet(t, post(h, ofRun(5)))
	h.says(t, "This is run 5.")
	if h.made("PATCH") != 0 {
		t.Error("it was written again")
	}
}

// TestRunsThatAreNotKnown: outside of a workflow there are no numbers, and what is written last stands.
func TestRunsThatAreNotKnown(t *testing.T) {
	h := newHub(t)
	for n := 1; n <= 3; n++ {
		p := ofRun(n)
		p.Run = Run{}
		quiet(t, post(h, p))
	}
	h.says(t, `This is run 3. Before: , FAIL, ["a-rule"].`)
}

// TestNothingIsBegunWithoutNeed: "comment only on failure" (bufbuild/buf-action#82), and a comment that is there says when all
// passes again.
func TestNothingIsBegunWithoutNeed(t *testing.T) {
	fine := func(n int) Posting {
		p := ofRun(n)
		p.Create, p.Verdict, p.Failing = false, report.Pass, nil
		return p
	}
	h := newHub(t)
	quiet(t, post(h, fine(1)))
	if len(h.comments) != 0 || h.made("POST") != 0 {
		t.Error("a comment was begun")
	}
	quiet(t, post(h, ofRun(2)))
	quiet(t, post(h, fine(3)))
	h.says(t, `This is run 3. Before: run 2, FAIL, ["a-rule"].`)
	quiet(t, post(h, fine(4)))
	h.says(t, `This is run 4. Before: run 3, PASS, [].`)
}

// TestManyCommentsPaginate: the comment is found on any page, and an address in an answer sends the token nowhere.
func TestManyCommentsPaginate(t *testing.T) {
	for _, place := range []int{0, 99, 100, 349} {
		h := newHub(t)
		for i := range 350 {
			if i == place {
				h.comment(jobToken, marked("comment", ofRun(1)))
			} else {
				h.comment(stranger, "LGTM")
			}
		}
		quiet(t, post(h, ofRun(2)))
		h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
		if lists := h.made("GET"); lists != 2*4+1 { // 350 in pages of 100, before and after, and the comment itself
			t.Errorf("%d requests read", lists)
		}
	}
	t.Run("too many", func(t *testing.T) {
		h := newHub(t)
		h.before = func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Link", `<https://api.example/x?after=Y3Vyc29y>; rel="next"`)
				hubSays(w, 200, []any{})
			}
		}
		only(t, "problems", post(h, ofRun(1)).Problems, "there are more than 100 pages")
		if len(h.requests) != maxPages || h.made("POST") > 0 {
			t.Errorf("%d requests", len(h.requests))
		}
	})
}

// TestForkIsANoticeNotAFailure: "Resource not accessible by integration" on pull requests from forks (sticky#227,
// MishaKav/pytest-coverage-comment#30 and others).
func TestForkIsANoticeNotAFailure(t *testing.T) {
	const fork = "the pull request comes from a fork"
	tests := []struct {
		status          int
		readOnly        string
		note, problem   []string
		without         string
		commentBefore   bool
		closedToReading bool
	}{
		{403, fork, []string{"No comment was written: " + fork, "can only read", "docs/recipes.md"}, nil, "permissions", false, false},
		{404, fork, []string{"No comment was written: " + fork}, nil, "permissions", false, false},
		{403, fork, []string{"No comment was written: " + fork}, nil, "permissions", true, false},
		{403, "", nil, []string{"the token may not write it", "`permissions: pull-requests: write`", "POST /repos/o/r/issues/12/comments", "status 403, Resource not accessible by integration"}, "fork", false, false},
		{404, "", nil, []string{"`permissions: pull-requests: write`", "status 404"}, "", false, false},
		{403, "", nil, []string{"the token may not read it", "GET /repos/o/r/issues/12/comments"}, "", false, true},
		{401, fork, nil, []string{"could not write it", "the token is not valid, or not any more (status 401, "}, "permissions", false, false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.status, " ", test.readOnly, test.closedToReading), func(t *testing.T) {
			h := newHub(t)
			if test.commentBefore {
				h.comment(jobToken, marked("comment", ofRun(1)))
			}
			h.before = func(r *http.Request) http.HandlerFunc {
				if r.Method == http.MethodGet && !test.closedToReading {
					return nil
				}
				return refusing(test.status, "Resource not accessible by integration")
			}
			p := ofRun(2)
			p.ReadOnly = test.readOnly
			out := post(h, p)
			if test.note != nil {
				only(t, "notes", out.Notes, test.note...)
			} else {
				only(t, "problems", out.Problems, test.problem...)
			}
			if len(out.Notes)+len(out.Problems) != 1 || test.without != "" && strings.Contains(fmt.Sprint(out.Notes, out.Problems), test.without) {
				t.Errorf("notes %q, problems %q", out.Notes, out.Problems)
			}
			if writes := h.made("POST") + h.made("PATCH"); writes > 1 {
				t.Errorf("%d tries to write", writes)
			}
		})
	}
}

// TestTooLongIsWrittenShorter: a comment above 65,536 characters is refused (pulumi/actions#482, mshick/add-pr-comment#93).
func TestTooLongIsWrittenShorter(t *testing.T) {
	for _, refused := range []int{0, 1, 2} {
		h := newHub(t)
		h.comment(jobToken, marked("comment", ofRun(1)))
		var asked, sizes []int
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method != http.MethodPatch {
				return nil
			}
			sizes = append(sizes, int(r.ContentLength))
			if len(sizes) <= refused {
				return refusing(422, "Validation Failed")
			}
			return nil
		}
		p := ofRun(2)
		p.Body = func(_ *summary.Previous, maxBytes int) (string, error) {
			asked = append(asked, maxBytes+len(p.stamp().marker("comment")))
			return strings.Repeat("x", maxBytes), nil
		}
		out := post(h, p)
		want := []int{60_000, 10_000}[:min(refused+1, 2)]
		if !slices.Equal(asked, want) {
			t.Errorf("%d refused: asked for %d bytes, want %d", refused, asked, want)
		}
		for i := range sizes {
			if i < len(want) && (sizes[i] < want[i] || sizes[i] > want[i]+200) { // the JSON around it, and its escapes of < and >
				t.Errorf("%d refused: sent %d bytes, want a bit over %d", refused, sizes, want)
			}
		}
		if refused < 2 {
			quiet(t, out)
			h.says(t, strings.Repeat("x", want[refused]-len(p.stamp().marker("comment"))))
		} else {
			only(t, "problems", out.Problems, "could not write it", "the API does not take it (status 422, Validation Failed)")
		}
	}
}

// TestDeletedMeanwhile: somebody removes the comment while it is to be written.
func TestDeletedMeanwhile(t *testing.T) {
	for _, before := range []string{http.MethodGet, http.MethodPatch} {
		for _, create := range []bool{true, false} {
			h := newHub(t)
			old := h.comment(jobToken, marked("comment", ofRun(1)))
			h.before = func(r *http.Request) http.HandlerFunc {
				if r.Method == before && strings.HasSuffix(r.URL.Path, fmt.Sprintf("/issues/comments/%d", old.ID)) {
					h.comments = nil
				}
				return nil
			}
			p := ofRun(2)
			p.Create = create
			quiet(t, post(h, p))
			if create {
				h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
			} else if len(h.comments) > 0 {
				t.Errorf("before %s: a comment was made", before)
			}
		}
	}
}

// TestNeverMadeTwice: where the list does not show what this run has made, because it is late, or somebody removed it at once,
// it is not made again.
func TestNeverMadeTwice(t *testing.T) {
	for name, hide := range map[string]func(h *hub){
		"removed": func(h *hub) { h.comments = nil },
		"late":    func(h *hub) { h.comments[0].Thread = 99 },
	} {
		h := newHub(t)
		h.after = func(r *http.Request) bool {
			if r.Method == http.MethodPost {
				hide(h)
			}
			return false
		}
		quiet(t, post(h, ofRun(1)))
		if h.made("POST") != 1 {
			t.Errorf("%s: made %d times", name, h.made("POST"))
		}
	}
}

// TestLostAnswer: a connection breaks after the comment was written, or before. It is there once.
func TestLostAnswer(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPatch} {
		for _, effect := range []bool{true, false} {
			t.Run(fmt.Sprint(method, " ", effect), func(t *testing.T) {
				h := newHub(t)
				want := "This is run 2."
				if method == http.MethodPatch {
					h.comment(jobToken, marked("comment", ofRun(1)))
					want += ` Before: run 1, FAIL, ["a-rule"].`
				}
				broken := false
				breaks := func(r *http.Request) bool {
					if r.Method != method || broken {
						return false
					}
					broken = true
					return true
				}
				if effect {
					h.after = breaks
				} else {
					h.before = func(r *http.Request) http.HandlerFunc {
						if breaks(r) {
							return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
						}
						return nil
					}
				}
				quiet(t, post(h, ofRun(2)))
				h.says(t, want)
				if tries := h.made(method); effect && tries != 1 || !effect && tries != 2 {
					t.Errorf("%d requests to write", tries)
				}
			})
		}
	}
	t.Run("and another run's stands beside it", func(t *testing.T) {
		h := newHub(t)
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodPost {
				h.comment(jobToken, marked("comment", ofRun(1)))
			}
			return nil
		}
		h.after = func(r *http.Request) bool { return r.Method == http.MethodPost }
		quiet(t, post(h, ofRun(2)))
		h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
	})
	t.Run("for ever", func(t *testing.T) {
		h := newHub(t)
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodPost {
				return refusing(502, "Bad Gateway")
			}
			return nil
		}
		only(t, "problems", post(h, ofRun(2)).Problems, "could not write it", "status 502, Bad Gateway")
		if h.made("POST") != 1+tries {
			t.Errorf("%d tries", h.made("POST"))
		}
	})
}

// TestALimitIsWaitedForAndLookedAfter: while a run waits for a limit of the API, a newer one writes.
func TestALimitIsWaitedForAndLookedAfter(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPatch} {
		h := newHub(t)
		if method == http.MethodPatch {
			h.comment(jobToken, marked("comment", ofRun(1)))
		}
		limited := false
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method != method || limited {
				return nil
			}
			limited = true
			return func(w http.ResponseWriter, r *http.Request) {
				refusing(429, "slow down", "Retry-After", "30")(w, r)
				quiet(t, h.client(nil).PostComment(context.Background(), 12, ofRun(3))) // meanwhile
			}
		}
		var slept []time.Duration
		out := h.client(&slept).PostComment(context.Background(), 12, ofRun(2))
		only(t, "notes", out.Notes, "of a newer run already (run 3")
		if len(h.ours()) != 1 || !strings.Contains(h.ours()[0].Body, "This is run 3.") {
			t.Errorf("%s: %q stands", method, h.ours()[0].Body)
		}
		if !slices.Contains(slept, 30*time.Second) {
			t.Errorf("slept %v", slept)
		}
	}
}

// TestABodyThatCannotBeWritten: a text that fails is a problem at once.
func TestABodyThatCannotBeWritten(t *testing.T) {
	h := newHub(t)
	p := ofRun(1)
	p.Body = func(*summary.Previous, int) (string, error) { return "", errors.New("not even the verdict fits") }
	only(t, "problems", post(h, p).Problems, "comment: could not write it: its text cannot be written: not even the verdict fits")
	if len(h.requests) != 1 {
		t.Errorf("requests %q", h.requests)
	}
}

// TestEarlierDuplicatesStay: of two comments with a key only the oldest is kept up to date, and only what this run made is
// removed.
func TestEarlierDuplicatesStay(t *testing.T) {
	h := newHub(t)
	h.comment(jobToken, marked("comment", ofRun(1)))
	second := h.comment(jobToken, marked("comment", ofRun(2)))
	quiet(t, post(h, ofRun(3)))
	if len(h.comments) != 2 || !strings.Contains(h.comments[0].Body, `This is run 3. Before: run 2,`) || second.Body != marked("comment", ofRun(2)) {
		t.Errorf("%d comments: %q, %q", len(h.comments), h.comments[0].Body, second.Body)
	}
}

func TestLongKeys(t *testing.T) {
	h := newHub(t)
	for _, key := range []string{strings.Repeat("é", 30_000), strings.Repeat("é", 30_000) + "x", strings.Repeat("k", markerText)} {
		for n := 1; n <= 2; n++ {
			p := ofRun(n)
			p.Key, p.Run.Workflow, p.Subject = key, strings.Repeat("w", 100_000), strings.Repeat("s", 100_000)
			quiet(t, post(h, p))
			if size := len(p.stamp().marker("comment")); size > 1500 {
				t.Errorf("a mark of %d bytes", size)
			}
		}
	}
	if len(h.ours()) != 3 {
		t.Errorf("%d comments for 3 keys", len(h.ours()))
	}
}

func TestAMarkRemembersSomeOfManyRules(t *testing.T) {
	p := ofRun(1)
	p.Failing = nil
	for i := range 1000 {
		p.Failing = append(p.Failing, fmt.Sprintf("rule_%04d", i))
	}
	line := p.stamp().marker("comment")
	if len(line) > failingBytes+500 {
		t.Errorf("a mark of %d bytes", len(line))
	}
	s, ok := readMarker("comment", line)
	if want := failingBytes / len("rule_0000,"); !ok || len(s.failing) != want || s.failing[want-1] != p.Failing[want-1] {
		t.Errorf("%v, %d rules, want %d", ok, len(s.failing), want)
	}
}

// checkMarker checks that a stamp comes back from its mark, and that nothing in it ends the mark.
func checkMarker(t failer, s stamp) {
	t.Helper()
	for _, kind := range []string{"comment", "issue"} {
		line := s.marker(kind)
		inner := strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->\n")
		if len(inner) != len(line)-len("<!--  -->\n") || strings.ContainsAny(inner, "\r\n<>\"'&`") || strings.Contains(inner, "--") || !utf8.ValidString(line) {
			t.Fatalf("%q", line)
		}
		back, ok := readMarker(kind, line+"text")
		if diff := cmp.Diff(s, back, cmp.AllowUnexported(stamp{})); !ok || diff != "" {
			t.Fatalf("%q is read as (%v):\n%s", line, ok, diff)
		}
	}
}

// TestMarkersHoldAnything: names from a policy are hostile text.
func TestMarkersHoldAnything(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"-->", "--", "a b", "a,b", "%2D", "+", "\n<!-- oloproof:comment", "\xff\x00", "--!>", "é\u2028", "="}))
	number := rapid.IntRange(0, largest)
	rapid.Check(t, func(t *rapid.T) {
		p := Posting{Key: text.Draw(t, "key"), Subject: text.Draw(t, "subject"), Verdict: report.Fail, Failing: rapid.SliceOf(text.Filter(func(s string) bool { return s != "" })).Draw(t, "failing"),
			Run: Run{ID: int64(number.Draw(t, "id")), Number: number.Draw(t, "number"), Attempt: number.Draw(t, "attempt"), Workflow: text.Draw(t, "workflow"), SHA: text.Draw(t, "sha")}}
		checkMarker(t, p.stamp())
	})
}

func FuzzMarker(f *testing.F) {
	f.Add(ofRun(1).stamp().marker("comment"), "key", "-->")
	f.Add("<!-- oloproof:comment key=%zz run=1", "--", "a b,c\n")
	f.Fuzz(func(t *testing.T, body, key, rule string) {
		if s, ok := readMarker("comment", body); ok {
			checkMarker(t, s)
		}
		p := Posting{Key: key, Failing: []string{rule + "x"}}
		checkMarker(t, p.stamp())
	})
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{"": Never, "never": Never, " Problems\n": Problems, "CHANGES": Changes, "always": Always} {
		if got, err := ParseMode(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"problem": `"problem" is not allowed; write one of never, problems, changes, always; did you mean problems?`,
		"true":    `"true" is not allowed; write one of never, problems, changes, always`,
	} {
		if got, err := ParseMode(text); got != Never || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestRunsThatKeepWriting: a run gives up in the end where an older one never stops.
func TestRunsThatKeepWriting(t *testing.T) {
	h := newHub(t)
	c := h.comment(jobToken, marked("comment", ofRun(1)))
	h.after = func(r *http.Request) bool {
		if r.Method == http.MethodPatch {
			c.Body = marked("comment", ofRun(1))
		}
		return false
	}
	only(t, "problems", post(h, ofRun(2)).Problems, "comment: other runs keep writing over it")
	if h.made("PATCH") != rounds {
		t.Errorf("written %d times", h.made("PATCH"))
	}
}

// TestWhatIsThereCannotBeRead: nothing is written over a comment that could not be read once more.
func TestWhatIsThereCannotBeRead(t *testing.T) {
	for _, which := range []string{"one", "all"} {
		h := newHub(t)
		h.comment(jobToken, marked("comment", ofRun(1)))
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodGet && (which == "all" || strings.HasSuffix(r.URL.Path, "/issues/comments/101")) {
				return refusing(500, "")
			}
			return nil
		}
		only(t, "problems", post(h, ofRun(2)).Problems, "could not read it", "status 500")
		if h.made("PATCH")+h.made("POST") > 0 {
			t.Error("it was written")
		}
	}
}

// TestWhatThisRunMadeIsItsOwn: also where the API neither shows its author as one who may write nor says who the token is of,
// it is removed again beside an earlier one.
func TestWhatThisRunMadeIsItsOwn(t *testing.T) {
	h := newHub(t)
	h.account = member
	h.before = func(r *http.Request) http.HandlerFunc {
		switch {
		case r.URL.Path == "/user":
			return refusing(403, "")
		case r.Method == http.MethodPost:
			h.comment(jobToken, marked("comment", ofRun(1)))
		}
		return nil
	}
	quiet(t, post(h, ofRun(2)))
	h.says(t, `This is run 2. Before: run 1, FAIL, ["a-rule"].`)
}

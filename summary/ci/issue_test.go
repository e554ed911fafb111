package ci

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
)

// audit keeps the issue of a scheduled audit.
func audit(h *hub, title string, p Posting) Outcome {
	h.t.Helper()
	return h.client(nil).PostIssue(context.Background(), title, p)
}

// passing is what run n posts once all is well.
func passing(n int) Posting {
	p := ofRun(n)
	p.Create, p.Verdict, p.Failing = false, report.Pass, nil
	return p
}

// TestIssueIsOpenedUpdatedAndClosed follows an audit over its runs.
func TestIssueIsOpenedUpdatedAndClosed(t *testing.T) {
	h := newHub(t)
	if out := audit(h, "All is well", passing(1)); len(h.issues) != 0 || out.IssueURL != "" {
		t.Errorf("an issue without need: %v", out)
	}

	out := audit(h, "One rule fails", ofRun(2))
	quiet(t, out)
	h.says(t, "This is run 2.")
	if i := h.issues[0]; i.Title != "One rule fails" || i.State != "open" || out.IssueURL != "https://github.example/o/r/issues/1" || out.CommentURL != "" {
		t.Errorf("%+v, %+v", i, out)
	}

	quiet(t, audit(h, "Two rules fail", ofRun(3)))
	h.says(t, `This is run 3. Before: run 2, FAIL, ["a-rule"].`)
	if i := h.issues[0]; i.Title != "Two rules fail" || i.State != "open" {
		t.Errorf("%+v", i)
	}

	out = audit(h, "All passes", passing(4))
	quiet(t, out)
	h.says(t, `This is run 4. Before: run 3, FAIL, ["a-rule"].`)
	if i := h.issues[0]; i.Title != "All passes" || i.State != "closed" || i.Reason != "completed" || out.IssueURL == "" {
		t.Errorf("%+v, %+v", i, out)
	}

	// A closed issue is history.
	closed := h.issues[0].Body
	quiet(t, audit(h, "All passes still", passing(5)))
	if len(h.issues) != 1 || h.issues[0].Body != closed || h.made("PATCH") != 2 {
		t.Errorf("%+v", h.issues[0])
	}
	quiet(t, audit(h, "It fails again", ofRun(6)))
	if len(h.issues) != 2 || h.issues[0].Body != closed || h.issues[1].State != "open" || !strings.HasSuffix(h.issues[1].Body, "\nThis is run 6.") {
		t.Errorf("%d issues, the last %+v", len(h.issues), h.issues[len(h.issues)-1])
	}
}

// TestLateAuditChangesNothing: an older run that ends late neither opens again what a newer one has closed, nor writes over or
// closes what a newer one has opened.
func TestLateAuditChangesNothing(t *testing.T) {
	for name, test := range map[string]struct{ newer, older Posting }{
		"closed":            {passing(5), ofRun(4)},
		"open":              {ofRun(5), ofRun(4)},
		"open, all is well": {ofRun(5), passing(4)},
	} {
		h := newHub(t)
		quiet(t, audit(h, "first", ofRun(1)))
		quiet(t, audit(h, "newer", test.newer))
		before := *h.issues[0]
		out := audit(h, "late", test.older)
		only(t, "notes", out.Notes, "The issue is of a newer run already (run 5", "stays")
		if len(h.issues) != 1 || *h.issues[0] != before {
			t.Errorf("%s: %+v became %+v", name, before, *h.issues[len(h.issues)-1])
		}
	}
}

// TestAPersonClosesTheIssue: the next run with a problem opens a new one, also where it was closed after the run had looked.
func TestAPersonClosesTheIssue(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		h := newHub(t)
		quiet(t, audit(h, "first", ofRun(1)))
		first := h.issues[0]
		if meanwhile {
			h.before = func(r *http.Request) http.HandlerFunc {
				if strings.HasSuffix(r.URL.Path, "/issues/1") {
					first.State = "closed"
				}
				return nil
			}
		} else {
			first.State = "closed"
		}
		quiet(t, audit(h, "second", ofRun(2)))
		if len(h.issues) != 2 || first.State != "closed" || first.Title != "first" || h.issues[1].State != "open" {
			t.Errorf("meanwhile %v: %d issues, the first %+v", meanwhile, len(h.issues), first)
		}
	}
}

// TestIssuesAreFoundAmongAll: on any page, among pull requests, and whatever types the organization has given its issues.
func TestIssuesAreFoundAmongAll(t *testing.T) {
	for _, gitea := range []bool{false, true} {
		h := newHub(t)
		h.gitea = gitea
		if gitea {
			h.account = giteaUser
		}
		pull := h.issue(owner, "open", marked("issue", ofRun(8)))
		pull.Pull = true
		closed := h.issue(owner, "closed", marked("issue", ofRun(9)))
		closed.Pull = true
		ours := h.issue(h.account, "open", marked("issue", ofRun(1)))
		for range 250 {
			h.issue(stranger, "open", "It does not work.")
		}
		quiet(t, audit(h, "title", ofRun(2)))
		if len(h.issues) != 253 || !strings.Contains(ours.Body, "This is run 2.") {
			t.Errorf("Gitea %v: %d issues, ours %q", gitea, len(h.issues), ours.Body)
		}
	}
}

// TestForgedIssuesAreNotBelieved: as with comments.
func TestForgedIssuesAreNotBelieved(t *testing.T) {
	h := newHub(t)
	ahead := ofRun(1)
	ahead.Run.ID = 1 << 62
	forged := h.issue(stranger, "open", marked("issue", ahead))
	quiet(t, audit(h, "title", ofRun(2)))
	if len(h.issues) != 2 || forged.Title != "" || !strings.HasSuffix(h.issues[1].Body, "This is run 2.") {
		t.Errorf("%d issues", len(h.issues))
	}
}

// TestTwoAuditsAtOnce: both open an issue. One is left open, with the newer run's words, and the other one is closed as not
// planned, for an issue cannot be removed.
func TestTwoAuditsAtOnce(t *testing.T) {
	for _, first := range []int{2, 3} {
		h := newHub(t)
		began := false
		h.before = func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodPost && !began {
				began = true // the other one's run lies between this one's reading and its writing
				quiet(t, audit(h, "title", ofRun(first)))
			}
			return nil
		}
		out := audit(h, "title", ofRun(5-first))
		var open []string
		for _, i := range h.issues {
			if i.State == "open" {
				_, text, _ := strings.Cut(i.Body, "\n")
				open = append(open, text)
			} else if i.Reason != "not_planned" {
				t.Errorf("%+v", i)
			}
		}
		want := "This is run 3."
		if first == 2 {
			want += ` Before: run 2, FAIL, ["a-rule"].`
		}
		if !slices.Equal(open, []string{want}) || len(h.issues) != 2 || len(out.Problems) > 0 {
			t.Errorf("first %d: open %q of %d issues, problems %q", first, open, len(h.issues), out.Problems)
		}
	}
}

// TestLegsOfAnAudit: issues are listed with the newest first, and still the leg whose issue stands is the one that is not told
// to change its key.
func TestLegsOfAnAudit(t *testing.T) {
	h := newHub(t)
	other := ofRun(5)
	other.Subject = "another"
	began := false
	h.before = func(r *http.Request) http.HandlerFunc {
		if r.Method == http.MethodPost && !began {
			began = true
			quiet(t, audit(h, "title", ofRun(5)))
		}
		return nil
	}
	only(t, "problems", audit(h, "title", other).Problems, "another step of this run", "comment-key")
	if len(h.issues) != 2 || h.issues[0].State != "open" || h.issues[1].State != "closed" {
		t.Errorf("%d issues", len(h.issues))
	}
	quiet(t, audit(h, "title", ofRun(5)))
}

func TestNoIssuesThere(t *testing.T) {
	tests := []struct {
		method string // and the state that is asked for
		status int
		want   []string
	}{
		{"GET closed", 500, []string{"could not read it", "GET /repos/o/r/issues: status 500"}},
		{http.MethodGet, 404, []string{"the token may not read it", "`permissions: issues: write`"}},
		{http.MethodPost, 410, []string{"the token may not write it", "issues switched on", "status 410, Issues are disabled for this repo"}},
		{http.MethodPost, 403, []string{"the token may not write it", "`permissions: issues: write`"}},
	}
	for _, test := range tests {
		h := newHub(t)
		h.before = func(r *http.Request) http.HandlerFunc {
			method, state, _ := strings.Cut(test.method, " ")
			if r.Method == method && (state == "" || r.URL.Query().Get("state") == state) {
				return refusing(test.status, "Issues are disabled for this repo")
			}
			return nil
		}
		only(t, "problems", audit(h, "title", ofRun(1)).Problems, test.want...)
	}
}

// TestIssueClosedBeforeAnOlderRunWrites: an older run that read the open issue writes its text once the newer one has closed it: the
// closed issue gets the newer one's text again, and stays closed.
func TestIssueClosedBeforeAnOlderRunWrites(t *testing.T) {
	h := newHub(t)
	old := h.issue(jobToken, "open", marked("issue", ofRun(1)))
	late := true
	h.after = func(r *http.Request) bool {
		if r.Method == http.MethodPatch && late {
			late = false
			old.Body = marked("issue", ofRun(2)) // without its state, as an update has none
		}
		return false
	}
	fine := ofRun(3)
	fine.Create, fine.Verdict, fine.Failing = false, report.Pass, nil
	quiet(t, h.client(nil).PostIssue(context.Background(), "title", fine))
	if !strings.Contains(old.Body, "This is run 3.") || old.State != "closed" || h.made("PATCH") != 2 || len(h.issues) != 1 {
		t.Errorf("%s, written %d times: %q", old.State, h.made("PATCH"), old.Body)
	}
}

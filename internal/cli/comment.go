package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
	"github.com/oloproof/oloproof/summary/ci"
)

// client returns a client of the platform's API.
func (a *app) client(token string, event ci.Event) (*ci.Client, error) {
	return ci.NewClient(ci.ClientOptions{API: a.Getenv("GITHUB_API_URL"), Server: event.Server, Repository: event.Repository, Token: token, Version: a.Version, Now: a.Now, Sleep: a.Sleep})
}

// posting is a report as a comment or an issue says it, with the pages of the lines that were decided on.
func posting(r *report.Report, event ci.Event, prefix ci.Prefix, failOn report.FailOn, key string, scheduled bool, decided func(string, int) string) ci.Posting {
	p := ci.Posting{
		Key: key, Run: event.Run, Verdict: r.Verdict, ReadOnly: event.ReadOnly(),
		Body: func(previous *summary.Previous, maxBytes int) (string, error) {
			var b bytes.Buffer
			err := summary.Comment(&b, r, summary.CommentOptions{
				MaxBytes: maxBytes, FailOn: failOn, Scheduled: scheduled, Run: event.Run.String(), RunURL: event.Run.URL, Previous: previous,
				FileURL:   decided,
				ChangeURL: func(file string, line int) string { return event.FileURL(prefix.Apply(file), line) },
			})
			return b.String(), err
		},
	}
	if r.Verdict != report.NoVerdict {
		p.Failing = r.FailingRules()
	}
	if doc, err := r.JSON(); err == nil {
		sum := sha256.Sum256(doc)
		p.Subject = hex.EncodeToString(sum[:8])
	}
	return p
}

// worthComment reports whether a report is one that a comment is begun for. A changed policy is, above all where every
// rule passes by it, also where the change is not known to loosen: a narrower slice can be all that a PASS takes.
func worthComment(mode ci.Mode, r *report.Report) bool {
	changed := len(r.PolicyChanges) > 0
	switch mode {
	case ci.Always:
		return true
	case ci.Problems:
		return r.Problems() > 0 || changed
	case ci.Changes:
		if r.Baseline == nil || changed {
			return r.Problems() > 0 || changed
		}
		for rule := range r.Rules() {
			if b := rule.Before; b != nil && b.Verdict != rule.Verdict {
				return true
			}
		}
		return len(r.RemovedRules) > 0
	case ci.Never:
	}
	return false
}

// key tells the step's comment, and issue, from those of others.
func (s *actionStep) key() string {
	key := s.in.policy
	if s.in.declaration != "" {
		key += " beside " + s.in.declaration
	}
	if s.in.gate != nil {
		key += " " + s.in.gate.Name()
	}
	return cmp.Or(s.in.commentKey, key)
}

// post writes the comment, or the issue, that the inputs ask for.
func (s *actionStep) post(r *report.Report, base basePolicies) ci.Outcome {
	var out ci.Outcome
	if s.in.fromReport != "" {
		return out // the inputs are wrong, and this is not the run that the comment is of
	}
	ctx := context.Background()
	if s.in.comment != ci.Never {
		switch {
		case s.in.policy == "" && s.in.commentKey == "": // the inputs are wrong
			out.Problems = append(out.Problems, "comment: the inputs do not say which policy it is of")
		case s.eventErr != nil:
			out.Problems = append(out.Problems, "comment: "+s.eventErr.Error())
		case s.event.PullRequest == 0 && s.event.Name == ci.MergeGroup:
			out.Notes = append(out.Notes, "A merge queue's run has no pull request of its own to comment on.")
		case s.event.PullRequest == 0:
			out.Notes = append(out.Notes, "There is no pull request to comment on: the event is "+diag.Quote(s.event.Name)+".")
		case s.in.token == "" && s.event.ReadOnly() != "": // it can have none that would help
			out.Notes = append(out.Notes, fmt.Sprintf("No comment was written: %s, and there is no token. %s", s.event.ReadOnly(), ci.ForkHelp))
		case s.client == nil:
			out.Problems = append(out.Problems, "comment: "+s.clientErr.Error())
		default:
			p := posting(r, s.event, s.in.prefix, s.in.failOn, s.key(), false, s.fileURL(base))
			p.Create = worthComment(s.in.comment, r)
			out = s.client.PostComment(ctx, s.event.PullRequest, p)
		}
	}
	if s.in.issue {
		switch {
		case s.in.policy == "" && s.in.commentKey == "":
			out.Problems = append(out.Problems, "issue: the inputs do not say which policy it is of")
		case s.event.PullRequest != 0 || s.event.Name == ci.MergeGroup:
			out.Notes = append(out.Notes, "No issue is kept on a pull request: input issue is for scheduled runs.")
		case s.client == nil:
			out.Problems = append(out.Problems, "issue: "+s.clientErr.Error())
		default:
			p := posting(r, s.event, s.in.prefix, s.in.failOn, s.key(), true, s.fileURL(base))
			p.Create = r.Problems() > 0
			posted := s.client.PostIssue(ctx, summary.IssueTitle(r), p)
			out.IssueURL, out.Notes, out.Problems = posted.IssueURL, append(out.Notes, posted.Notes...), append(out.Problems, posted.Problems...)
		}
	}
	return out
}

// maxRelayed is how large another run's report may be, in bytes, to be commented on: it may be a stranger's, and what it takes in
// memory is some twenty times as much. A report of ten thousand rules and groups is smaller.
const maxRelayed = 16 << 20

// relayed is a comment that is written from another run's report.
type relayed struct {
	report      string // its path
	pullRequest int    // 0: the one that the event names
	mode        ci.Mode
	key         string // "": the name of the workflow that the report is from
	failOn      report.FailOn
	prefix      ci.Prefix
	names       relayNames
}

// relayNames are what a person calls the inputs of a comment from a report: the action's, or the command line's.
type relayNames struct{ number, key string }

// comment writes a comment from a report that another run wrote, which may be a stranger's: its pull request has to be at the
// commit that the other run ran on. An error says why it cannot be.
func (a *app) comment(c relayed, r *report.Report, event ci.Event, client *ci.Client) (ci.Outcome, error) {
	number := cmp.Or(c.pullRequest, event.PullRequest)
	if number == 0 {
		return ci.Outcome{}, fmt.Errorf("which pull request to comment on is not known: name its number with %s", c.names.number)
	}
	if len(r.Errors) == 0 && r.Verdict == report.NoVerdict {
		return ci.Outcome{}, fmt.Errorf("%s: it has no verdict: it is of check or report; give the report of gate", diag.Printable(c.report))
	}
	reading, cancel := context.WithTimeout(context.Background(), readingTime)
	defer cancel()
	switch err := client.CheckHead(reading, number, event.HeadSHA, event.HeadRepository); {
	case errors.Is(err, ci.ErrMovedOn): // an ordinary second push, whose own run comes
		return ci.Outcome{Notes: []string{fmt.Sprintf("No comment was written: %v.", err)}}, nil
	case err != nil:
		return ci.Outcome{}, fmt.Errorf("the comment is not written: %w (%s %d)", err, c.names.number, number)
	}
	// Nothing of the report itself: a stranger may have written it, and one of a run that decided nothing has no policy.
	decided := func(file string, line int) string {
		if r.PolicyFromBase { // what is true of that branch by now is not known
			return ""
		}
		return event.FileURL(c.prefix.Apply(file), line)
	}
	p := posting(r, event, c.prefix, c.failOn, cmp.Or(c.key, event.Run.Workflow), false, decided)
	p.KeyName = c.names.key
	p.Create = worthComment(c.mode, r)
	return client.PostComment(context.Background(), number, p), nil
}

// relay is a step that decides nothing: it writes the comment from another run's report. The step fails where it cannot.
func (s *actionStep) relay(log io.Writer) int {
	in := s.in
	c := relayed{report: in.fromReport, pullRequest: in.pullRequest, mode: in.comment, key: in.commentKey, failOn: in.failOn, prefix: in.prefix,
		names: relayNames{"input pr-number", "comment-key"}}
	if c.mode == ci.Never { // a step without it would do nothing
		c.mode = ci.Problems
	}
	out, err := ci.Outcome{}, errors.Join(s.eventErr, s.clientErr)
	var r *report.Report
	if err == nil {
		r, _, err = s.app.loadReport(s.root.FS(), c.report, maxRelayed)
	}
	if err == nil {
		out, err = s.app.comment(c, r, s.event, s.client)
	}
	if r != nil {
		out.Notes = append(out.Notes, idlePrefix(in.prefix, pathsOf(r))...)
	}
	if err != nil {
		out.Problems = append(out.Problems, err.Error())
	}
	out.Problems = append(out.Problems, ci.Relayed(out, s.app.Getenv, log)...)
	if len(out.Problems) > 0 {
		return report.ExitUnusable
	}
	return report.ExitPass
}

// pathsOf lists the files that a report's lines are in.
func pathsOf(r *report.Report) (list []string) {
	for rule := range r.Rules() {
		list = append(list, rule.Position.File)
	}
	for _, problem := range r.Errors {
		list = append(list, problem.File)
	}
	return list
}

// idlePrefix is a note that a prefix which is to be taken from paths is on none of them: as a rule it is mistyped.
func idlePrefix(prefix ci.Prefix, paths []string) []string {
	takes := prefix.Takes()
	if takes == "" || slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, takes) }) {
		return nil
	}
	return []string{fmt.Sprintf("path-prefix: no path begins with %s, so there is none to take it from.", diag.Quote(takes))}
}

// commentCommand is `comment`.
func (a *app) commentCommand() *cobra.Command {
	c := relayed{names: relayNames{"--pr", "--key"}}
	var mode, failOn, prefix, sha string
	cmd := &cobra.Command{
		Use:   "comment --report FILE",
		Short: "Write a pull request's comment from a report of another run",
		Long: `Write a pull request's comment from the JSON report of another run: for pull requests from forks, whose own runs
may not write. It is meant for a workflow on workflow_run, which runs on the main branch's files with a token that
can write. The report and the number may come from the pull request: the report is read as a stranger's, and the
number is believed only where that pull request's newest commit is the one that the other run ran on, in the same
repository. Where the pull request has moved on since there is nothing to write: a newer run comes.

It reads GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL and the event (GITHUB_EVENT_NAME, GITHUB_EVENT_PATH) from the
environment. Exit status: 0 the comment says what the report says, or there was nothing to say; 2 it could not be
written.`,
		Example: "  oloproof comment --report report.json --pr 12",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var problems []error
			var err error
			if c.report == "" {
				problems = append(problems, usagef("comment needs a report, such as `oloproof comment --report report.json --pr 12`"))
			}
			switch c.mode, err = ci.ParseMode(mode); {
			case err != nil:
				problems = append(problems, usagef("--mode: %w", err))
			case c.mode == ci.Never:
				problems = append(problems, usagef("--mode is never, and a comment is all that this command writes; write problems, changes or always"))
			}
			if c.failOn, err = report.ParseFailOn(failOn); err != nil {
				problems = append(problems, usagef("--fail-on: %w", err))
			}
			if c.prefix, err = ci.ParsePrefix(prefix); err != nil {
				problems = append(problems, usagef("--path-prefix: %w", err))
			}
			if c.pullRequest < 0 || cmd.Flags().Changed("pr") && c.pullRequest == 0 {
				problems = append(problems, usagef("--pr is %d; write the number of a pull request", c.pullRequest))
			}
			event, eventErr := ci.ReadEvent(a.Getenv)
			if sha != "" && !ci.IsCommit(sha) {
				problems = append(problems, usagef("--sha is %s; write the whole commit, 40 or 64 hexadecimal digits in small letters", diag.Quote(sha)))
			}
			if sha != "" {
				if sha != event.HeadSHA { // the event speaks of another one
					event.HeadRepository = 0
				}
				event.HeadSHA, event.Run.SHA, eventErr = sha, sha, nil
			}
			if eventErr != nil {
				problems = append(problems, usagef("%w; or name the commit that the report is about with --sha", eventErr))
			}
			token := a.Getenv("GITHUB_TOKEN")
			if token == "" {
				problems = append(problems, usagef("GITHUB_TOKEN is not set; give the step a token that may write pull requests' comments"))
			}
			client, err := a.client(token, event)
			if err != nil {
				problems = append(problems, usagef("%w", err))
			}
			if err := errors.Join(problems...); err != nil {
				return err
			}
			r, _, err := a.loadReport(nil, c.report, maxRelayed)
			if err != nil {
				return usagef("%w", err)
			}
			out, err := a.comment(c, r, event, client)
			if err != nil {
				return usagef("%w", err)
			}
			out.Notes = append(out.Notes, idlePrefix(c.prefix, pathsOf(r))...)
			for _, note := range append(out.Notes, out.Problems...) {
				a.tell(a.Stderr, "oloproof: "+note)
			}
			switch {
			case len(out.Problems) > 0:
				a.status = report.ExitUnusable
			case out.CommentURL != "":
				a.tell(a.Stdout, out.CommentURL)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.report, "report", "", "the JSON report `FILE` of the other run")
	f.IntVar(&c.pullRequest, "pr", 0, "the `NUMBER` of the pull request (default: the event's)")
	f.StringVar(&sha, "sha", "", "the `COMMIT` that the report is about (default: the event's)")
	f.StringVar(&mode, "mode", string(ci.Problems), "the `MODE`: a comment is begun on problems, on changes, or always")
	f.StringVar(&c.key, "key", "", "a `TEXT` that tells this comment from others (default: the name of the workflow)")
	f.StringVar(&failOn, "fail-on", "", "the verdicts that made the run fail, such as `FAIL,MANUAL_REVIEW` (default: every verdict but PASS)")
	f.StringVar(&prefix, "path-prefix", "", "put `PREFIX` before the report's paths, or take it from them where it begins with -")
	return cmd
}

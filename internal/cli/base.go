package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary/ci"
)

// basePolicies are a step's policies as they are on the branch that its pull request is to be merged into.
type basePolicies struct {
	ref, sha string            // of the branch
	texts    map[string][]byte // by path in the workspace; a policy that the branch does not have is not in it
	decide   bool              // these are decided, not the workspace's
	note     string            // why there are none, although there is a pull request
}

// readBase reads the policies of the base branch, where the run is of a pull request. What keeps them from being read
// goes to diags where they are to be decided, and is a note elsewhere: it only costs the comparison.
func (s *actionStep) readBase(diags *diag.List) basePolicies {
	base := basePolicies{ref: s.event.BaseRef, sha: s.event.BaseSHA, texts: map[string][]byte{}}
	target := s.event.Name == "pull_request_target"
	base.decide = s.in.policyRef == policyBase || target
	if target && s.in.policyRef == policyHead {
		diags.Addf(diag.Pos{}, "input policy-ref: in pull_request_target the policy has to be the base branch's, since the workspace may hold a stranger's; write base, or leave it empty")
	}
	if base.decide && s.eventErr != nil {
		diags.Addf(diag.Pos{}, "the base branch's policy cannot be read: %v", s.eventErr)
		return base
	}
	if s.in.policy == "" || s.event.PullRequest == 0 || base.sha == "" { // no pull request: the workspace is the branch
		if base.decide && (target || s.event.PullRequest != 0) {
			diags.Addf(diag.Pos{}, "the base branch's policy cannot be read: the event does not say which commit the base branch is at")
		}
		return base
	}
	if s.client == nil {
		if base.decide {
			diags.Addf(diag.Pos{}, "the base branch's policy cannot be read: %v", s.clientErr)
		}
		return base
	}
	for _, name := range s.policies() {
		text, err := s.client.File(context.Background(), s.in.prefix.Apply(name), base.sha)
		switch {
		case err == nil && len(text) < maxPolicy:
			base.texts[name] = text
		case err == nil:
			err = errors.New("it is larger than 1 MiB")
		case errors.Is(err, ci.ErrNotThere) && !base.decide: // a new policy takes nobody's place
			err = nil
		}
		switch {
		case err == nil:
		case base.decide:
			diags.Addf(diag.Pos{File: name}, "cannot read this policy on the base branch %s: %v", diag.Printable(base.ref), err)
		default:
			base.note = fmt.Sprintf("Whether this pull request loosens %s cannot be told: on the base branch it could not be read: %v", diag.Printable(name), err)
		}
	}
	return base
}

// policies are the paths of the step's policies.
func (s *actionStep) policies() []string {
	if s.in.declaration != "" {
		return []string{s.in.declaration, s.in.policy}
	}
	return []string{s.in.policy}
}

// tellChanges tells in a report what the workspace's policies loosen against the base branch's.
func (s *actionStep) tellChanges(b basePolicies, r *report.Report) {
	if b.note != "" {
		s.notes = append(s.notes, b.note)
	}
	if b.decide && len(b.texts) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("The policy decided is the one on the base branch %s (%.7s), not the pull request's own.", diag.Printable(b.ref), b.sha))
	}
	if r.ExitStatus == report.ExitUnusable {
		return
	}
	for _, name := range s.policies() {
		text, there := b.texts[name]
		if !there {
			continue
		}
		head, err := readFile(s.root.FS(), name, maxPolicy)
		if err != nil {
			if b.decide {
				r.PolicyChanges = append(r.PolicyChanges, report.PolicyChange{Loosens: true, Message: "The pull request removes this policy.", Position: diag.Pos{File: name}})
			}
			continue
		}
		diags := &diag.List{} // the head's are told of where it is decided; a base that cannot be used is compared with nothing
		r.PolicyChanges = append(r.PolicyChanges, s.app.policyChanges([2]string{name, name}, [2][]byte{text, head}, s.in.gate, diags)...)
		if diags.Len() > 0 {
			s.notes = append(s.notes, fmt.Sprintf("Whether this pull request loosens %s cannot be told: one of its two versions cannot be used.", diag.Printable(name)))
			continue
		}
		if r.PolicyBase == nil {
			r.PolicyBase = &report.File{Path: b.ref + ":" + name, SHA256: digestOf(text)}
		}
	}
}

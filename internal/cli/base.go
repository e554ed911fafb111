package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/ledger"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary/ci"
)

// basePolicies are a step's policies as they are on the branch that its pull request is to be merged into.
type basePolicies struct {
	ref, sha string            // of the branch
	texts    map[string][]byte // by path in the workspace; a policy that could not be read is not in it
	decide   bool              // these are decided, not the workspace's
	notes    []string          // why some could not be read, although there is a pull request
}

// readBase reads the policies of the base branch, where the run is of a pull request. What keeps them from being read
// goes to diags where they are to be decided, and is a note elsewhere: it only costs the comparison.
func (s *actionStep) readBase(diags *diag.List) basePolicies {
	base := basePolicies{ref: s.event.BaseRef, sha: s.event.BaseSHA, texts: map[string][]byte{}}
	target := s.event.Name == targetEvent
	base.decide = s.in.policyRef == policyBase || target
	if target && s.in.policyRef == policyHead {
		diags.Addf(diag.Pos{}, "input policy-ref: in pull_request_target the policy has to be the base branch's, since the workspace may hold a stranger's; write base, or leave it empty")
	}
	if s.in.policy == "" { // told among the inputs
		return base
	}
	var problem error // with all of them
	switch {
	case s.eventErr != nil && (base.decide || s.event.PullRequest != 0 || s.event.Name == ci.MergeGroup):
		problem = s.eventErr
	case s.event.PullRequest == 0 && !base.decide && s.event.Name != ci.MergeGroup: // there is nothing to compare with
		return base
	case base.sha == "" && !target && ownBranch(s.event): // the workspace is the branch that the policy holds for
		return basePolicies{}
	case s.event.PullRequest == 0 && s.event.Name != ci.MergeGroup:
		problem = fmt.Errorf("the event is %s, and does not say which branch that is; policy-ref: base is for pull_request, pull_request_target and merge_group, and does nothing on a schedule, by hand, or in a push to the default branch", diag.Quote(s.event.Name))
	case base.sha == "" && base.decide:
		problem = errors.New("the event does not say which commit the base branch is at")
	case base.sha == "": // such as after workflow_run
		return base
	case s.client == nil:
		problem = s.clientErr
	}
	reading, cancel := context.WithTimeout(context.Background(), readingTime)
	defer cancel()
	for _, name := range s.policies() {
		text, err := []byte(nil), problem
		if err == nil {
			text, err = s.client.File(reading, s.in.prefix.Apply(name), base.sha)
		}
		if err == nil && len(text) == maxPolicy {
			err = errors.New("it is larger than 1 MiB")
		}
		switch {
		case err == nil:
			base.texts[name] = text
		case base.decide:
			diags.Addf(diag.Pos{File: name}, "cannot read this policy on %s: %v", base.branch(), err)
		default:
			base.notes = append(base.notes, untold(name, fmt.Sprintf("on %s it could not be read: %v", base.branch(), err)))
		}
	}
	return base
}

// readingTime is how long reading what is told by may take, whatever the API answers and however slowly.
const readingTime = time.Minute

// ownBranch reports whether a run is on a branch that nothing is to be merged into first: whoever can change its policy has
// changed it already.
func ownBranch(e ci.Event) bool {
	switch e.Name {
	case "schedule", "workflow_dispatch":
		return true
	case "push":
		return e.DefaultBranch
	}
	return false
}

// fileURL gives the page of a line of a file that the step decided on, or nothing where none is known.
func (s *actionStep) fileURL(b basePolicies) func(file string, line int) string {
	return func(file string, line int) string {
		if _, read := b.texts[file]; read && b.decide {
			return s.event.BaseURL(s.in.prefix.Apply(file), line)
		}
		return s.event.FileURL(s.in.prefix.Apply(file), line)
	}
}

// names lists the policies that are decided as they are on the base branch.
func (b basePolicies) names() []string {
	if !b.decide {
		return nil
	}
	return slices.Sorted(maps.Keys(b.texts))
}

// branch names the base branch in a sentence.
func (b basePolicies) branch() string {
	if b.ref == "" {
		return "the base branch"
	}
	return "the base branch " + diag.Printable(b.ref)
}

// targetEvent is the event whose runs have a token that can write, although the pull request may be a stranger's.
const targetEvent = "pull_request_target"

// untold is the note that two versions of a policy were not compared.
func untold(name, why string) string {
	return fmt.Sprintf("Whether this pull request loosens %s cannot be told: %s.", diag.Printable(name), why)
}

// policies are the paths of the step's policies.
func (s *actionStep) policies() []string {
	if s.in.declaration != "" {
		return []string{s.in.declaration, s.in.policy}
	}
	return []string{s.in.policy}
}

// ownPolicy reads a policy as the pull request has it. In pull_request_target the workspace is as a rule the base branch's, so
// there it is read at the pull request's newest commit: what GitHub would merge may be of an older one still. The error is
// fs.ErrNotExist where the pull request has no such file.
func (s *actionStep) ownPolicy(name string) ([]byte, error) {
	if s.event.Name == targetEvent {
		if s.event.HeadSHA == "" {
			return nil, errors.New("the event does not say which commit it is at")
		}
		reading, cancel := context.WithTimeout(context.Background(), readingTime)
		defer cancel()
		text, err := s.client.File(reading, s.in.prefix.Apply(name), s.event.HeadSHA)
		if errors.Is(err, ci.ErrNoFile) {
			err = fs.ErrNotExist
		}
		return text, err
	}
	return readFile(s.root.FS(), name, maxPolicy)
}

// tellChanges tells in a report what the pull request's policies loosen against the base branch's.
func (s *actionStep) tellChanges(b basePolicies, r *report.Report) {
	s.notes = append(s.notes, b.notes...)
	if r.PolicyFromBase = b.decide && len(b.texts) > 0 && r.ExitStatus != report.ExitUnusable; b.decide && len(b.texts) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("The policy decided is the one on %s (%.7s), not the pull request's own.", b.branch(), b.sha))
	}
	if r.ExitStatus == report.ExitUnusable {
		return
	}
	for _, name := range s.policies() {
		text, there := b.texts[name]
		if !there {
			continue
		}
		if r.PolicyBase == nil && b.decide {
			r.PolicyBase = &report.File{Path: b.ref + ":" + name, SHA256: digestOf(text)}
		}
		var changes []report.PolicyChange
		switch own, err := s.ownPolicy(name); {
		case errors.Is(err, fs.ErrNotExist):
			changes = []report.PolicyChange{{Loosens: true, Message: "The pull request removes this policy, or gives it another name.", Position: diag.Pos{File: name}}}
		case err != nil:
			s.notes = append(s.notes, untold(name, "in the pull request it could not be read: "+reason(err)))
			continue
		default:
			diags := &diag.List{} // what is decided tells of its own errors; a version that cannot be used is compared with nothing
			changes = s.app.policyChanges([2]string{name, name}, [2][]byte{text, own}, s.in.gate, s.in.declaration != "" && name == s.in.policy, diags)
			if diags.Len() > 0 {
				s.notes = append(s.notes, untold(name, "one of its two versions cannot be read as a policy"))
				continue
			}
		}
		r.PolicyChanges = append(r.PolicyChanges, changes...)
		if r.PolicyBase == nil {
			r.PolicyBase = &report.File{Path: b.ref + ":" + name, SHA256: digestOf(text)}
		}
	}
	s.tellLedger(b, r)
}

// tellLedger tells in a report where the ledger in the workspace lacks looks of the base branch's: whoever takes them out takes
// away what they cost. A base branch without one asks for nothing.
func (s *actionStep) tellLedger(b basePolicies, r *report.Report) {
	if s.in.ledger == "" || b.sha == "" || s.event.PullRequest == 0 && s.event.Name != ci.MergeGroup {
		return
	}
	older, digest, err := s.baseLedger(b)
	switch {
	case errors.Is(err, ci.ErrNoFile):
		return
	case err != nil:
		s.notes = append(s.notes, fmt.Sprintf("Whether looks of the ledger %s are taken out cannot be told: on %s it could not be read: %v.", diag.Printable(s.in.ledger), b.branch(), err))
		return
	}
	diags := &diag.List{}
	own, err := readFile(s.root.FS(), s.in.ledger, ledger.MaxBytes+1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		diags.Addf(diag.Pos{}, "%s", reason(err))
	}
	now := ledger.Read(s.in.ledger, own, diags)
	if diags.Len() > 0 { // such as a ledger that was taken away since the run read it
		s.notes = append(s.notes, fmt.Sprintf("Whether looks of the ledger %s are taken out cannot be told: in the workspace it can no longer be read.", diag.Printable(s.in.ledger)))
		return
	}
	if err := now.Extends(older); err != nil {
		r.PolicyChanges = append(r.PolicyChanges, report.PolicyChange{Loosens: true, Position: diag.Pos{File: s.in.ledger},
			Message: fmt.Sprintf("The ledger lacks looks of the one on %s, and what they cost is not counted in this verdict: %v.", b.branch(), err)})
		if r.PolicyBase == nil { // the policy is not on the base branch, or could not be read; the changes name what they are against
			r.PolicyBase = &report.File{Path: b.ref + ":" + s.in.ledger, SHA256: digest}
		}
	}
}

// baseLedger reads the step's ledger as it is on the base branch, and gives the digest of its bytes.
func (s *actionStep) baseLedger(b basePolicies) (older *ledger.Ledger, digest string, err error) {
	if s.client == nil {
		return nil, "", s.clientErr
	}
	reading, cancel := context.WithTimeout(context.Background(), readingTime)
	defer cancel()
	text, err := s.client.File(reading, s.in.prefix.Apply(s.in.ledger), b.sha)
	if err != nil {
		return nil, "", err
	}
	if len(text) == maxPolicy {
		return nil, "", errors.New("it is larger than 1 MiB; `oloproof ledger check --base` compares ledgers of any size")
	}
	diags := &diag.List{}
	older = ledger.Read(s.in.ledger, text, diags)
	if diags.Len() > 0 {
		return nil, "", errors.New("it is not whole")
	}
	return older, digestOf(text), nil
}

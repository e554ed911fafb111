package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
	"github.com/oloproof/oloproof/summary/ci"
)

// actionCommand is what the container image runs.
func (a *app) actionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as a step of a GitHub Actions workflow, with inputs from the environment",
		Long: `Run as a step of a GitHub Actions workflow: the entry point of the container image.

Inputs come from the environment (INPUT_POLICY and so on), outputs go to GITHUB_OUTPUT, the report to the log
and to GITHUB_STEP_SUMMARY, and the policy's lines are annotated. Files are read only inside
GITHUB_WORKSPACE. action.yml describes every input and output.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// A log that nobody reads any more must not end the step before it has told the verdict.
			signal.Ignore(syscall.SIGPIPE)
			a.status = a.action()
			a.stdout.lost = nil // told among the problems of reporting, and none of those changes a verdict
			return nil
		},
	}
}

// actionStep is one run of the action.
type actionStep struct {
	app       *app // whose output goes through logs that take every command out of what data say
	in        actionInputs
	root      *os.Root // the workspace; nil where it cannot be opened
	event     ci.Event
	eventErr  error
	client    *ci.Client // nil where clientErr says why
	clientErr error
	notes     []string // what a person may want to know of the run, and is no problem
	problem   error    // why the look was not added to the ledger; nil where it was
}

// action runs the step and returns its exit status. In order: decide; write report files; log; outputs, summary and
// annotations; comment or issue. From the moment on which there is a report, nothing changes the status.
func (a *app) action() int {
	diags := &diag.List{}
	workspace := a.Getenv("GITHUB_WORKSPACE")
	s := &actionStep{}
	s.event, s.eventErr = ci.ReadEvent(a.Getenv)
	s.in = a.readInputs(workspace, s.event.PullRequest != 0 || s.event.Name == ci.MergeGroup, diags)
	var files []reportFile
	if workspace == "" {
		diags.Addf(diag.Pos{}, "GITHUB_WORKSPACE is not set: `oloproof action` is a step of a workflow; elsewhere use `oloproof gate`, or a gate's own command")
	} else {
		var err error
		if s.root, err = os.OpenRoot(workspace); err != nil {
			diags.Addf(diag.Pos{}, "the workspace (GITHUB_WORKSPACE) cannot be opened: %s", reason(err))
		} else {
			defer s.root.Close()
			files = prepareReports(s.root, s.in, diags)
		}
	}
	if s.in.token != "" {
		s.client, s.clientErr = a.client(s.in.token, s.event)
	} else {
		s.clientErr = errors.New("there is no token; give one in input github-token")
	}

	// What data say passes through logs that take every command out of it.
	stdout, stderr := ci.NewLog(a.Stdout), ci.NewLog(a.Stderr)
	s.app = &app{World: a.World}
	s.app.Stdin, s.app.Stdout, s.app.Stderr = nil, stdout, stderr // a step has no standard input

	var base basePolicies
	var earlier *baseline
	if s.root != nil && s.in.fromReport == "" {
		base = s.readBase(diags)
		var err error
		if earlier, err = s.app.loadBaseline(s.root.FS(), s.in.baselineReport); err != nil {
			diags.Addf(diag.Pos{}, "input baseline-report: %v", err)
		}
	}
	var r *report.Report
	if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok {
		r = report.Unusable(a.Version, problem)
	} else if s.in.fromReport != "" {
		return s.relay(a.Stdout)
	} else {
		r = s.decide(base)
		earlier.compare(r)
		s.tellChanges(base, r)
	}

	d := ci.Delivery{Report: r, FailOn: s.in.failOn, PolicyFile: s.in.policy, Summary: s.in.summary, Annotations: s.in.annotations, Prefix: s.in.prefix,
		BasePolicies: base.names(), Base: base.branch()}
	if s.problem != nil {
		d.Problems = append(d.Problems, s.problem.Error())
	}
	options := plain
	options.FailOn = s.in.failOn
	options.Repository = func(file string) string { return placeIn(workspace, s.in.prefix, file) }
	for _, f := range files {
		if err := f.write(s.root, r, options, append(s.app.opened, s.in.policy)); err != nil {
			d.Problems = append(d.Problems, fmt.Sprintf("%s (input %s): %s", f.path, f.input, reason(err)))
		} else if f.input == "json" {
			d.ReportFile = f.path
		}
	}
	status := r.Status(s.in.failOn)
	log := io.Writer(stdout)
	if r.ExitStatus == report.ExitUnusable {
		log = stderr
	}
	if err := errors.Join(summary.Terminal(log, r, options), stdout.Close()); err != nil {
		d.Problems = append(d.Problems, "log: "+err.Error())
	}
	d.Notes = append(s.notes, idlePrefix(s.in.prefix, append(pathsOf(r), s.policies()...))...)
	d.Post = func() ci.Outcome { return s.post(r, base) }
	for _, problem := range ci.GitHub(d, a.Getenv, a.Stdout) {
		fmt.Fprintf(stderr, "oloproof: could not report everything: %s\n", problem)
	}
	if r.ExitStatus != report.ExitUnusable {
		fmt.Fprintln(stderr, closing(r, status))
	}
	_ = stderr.Close() // the verdict stands, and there is nowhere left to say that the log does not
	return status
}

// decide runs the request that the inputs and the policy make together.
func (s *actionStep) decide(base basePolicies) *report.Report {
	diags := &diag.List{}
	in := s.in
	req := request{verb: gate.Decide, policy: in.policy, files: in.decisions, tallies: in.tallies, fs: s.root.FS(), workspace: s.app.Getenv("GITHUB_WORKSPACE")}
	req.flags.Assignment, req.flags.Baseline, req.flags.Candidate, req.flags.Draw = in.assignment, in.baseline, in.candidate, in.draw
	if base.decide {
		req.texts = base.texts
	}
	if in.ledger != "" {
		req.ledger = &book{path: in.ledger, place: in.ledger, readOnly: in.ledgerReadOnly}
	}
	if in.declaration != "" {
		req.policy, req.beside, req.declared = in.declaration, in.policy, true
		req.gate = besideGate(in, diags)
		if declares(req, in.policy) && !declares(req, in.declaration) {
			diags.Addf(diag.Pos{}, "inputs policy and declaration are the wrong way round: %s declares attributes and %s does not; declaration: %s and policy: %s",
				diag.Printable(in.policy), diag.Printable(in.declaration), diag.Printable(in.policy), diag.Printable(in.declaration))
		}
	} else {
		req.gate = chooseGate(in, req, diags)
	}
	if in.draw != "" && req.gate != nil && req.gate.Name() != "anchoring" {
		diags.Addf(diag.Pos{}, "input draw is for the gate anchoring, and %s is asked: name anchoring in input gate, or leave draw empty", req.gate.Name())
	}
	if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok {
		return report.Unusable(s.app.Version, problem)
	}
	r := s.app.run(req)
	s.problem = req.ledger.write(req.fs, r, s.addWhole)
	return r
}

// addWhole adds to a ledger in the workspace as addWhole of a command line does, but it takes the place of no link.
func (s *actionStep) addWhole(place string, data []byte, unchanged func() error) error {
	if err := makeFolders(s.root, place); err != nil {
		return err
	}
	name := path.Join(path.Dir(place), filepath.Base(adding(place)))
	made := func() (*os.File, error) { return s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) }
	return whileAdding(temporary(made, func(f *os.File) error {
		if err := unchanged(); err != nil {
			return err
		}
		return becomeIn(s.root, f, name, place, data)
	}), name)
}

// becomeIn writes the new file of that name in the workspace and gives it the place of another, and its mode and owner. The other
// is not written to, since it may have a further name, outside of the workspace. It takes the place of no link, which somebody may have
// put there.
func becomeIn(root *os.Root, f *os.File, name, place string, data []byte) error {
	mode := fs.FileMode(0o644)
	old, err := root.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	default:
		if err := replaceable(old); err != nil {
			return err
		}
		mode = old.Mode().Perm()
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		if old != nil {
			keepOwner(root, name, old)
		}
		err = root.Chmod(name, mode)
	}
	if err == nil {
		err = root.Rename(name, place)
	}
	return err
}

// replaceable says why what stands at the path of a file that a step writes, its links not followed, cannot be replaced.
func replaceable(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return errors.New("it is a link; a step writes to a file of its own")
	case !mode.IsRegular():
		return notAFile(info)
	}
	return nil
}

// newInRoot makes files of new names in a folder of the workspace.
func newInRoot(root *os.Root, folder string) func() (*os.File, error) {
	return newName(func(name string) (*os.File, error) {
		return root.OpenFile(path.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	})
}

// declares reports whether a file has the key that only a declaration of fairness must have. What cannot be read does not.
func declares(req request, name string) bool {
	data, known := req.texts[name]
	if !known {
		var err error
		if data, err = readFile(req.fs, name, maxPolicy); err != nil {
			return false
		}
	}
	document := policy.Parse(name, data, &diag.List{})
	return document != nil && document.Root.Has("attributes")
}

// besideGate returns the gate that has a declaration: the one that input gate names, else the only one.
func besideGate(in actionInputs, diags *diag.List) gate.Gate {
	for _, g := range kinds.All() {
		if gateTexts[g.Name()].declaration == "" {
			continue
		}
		if in.gate != nil && in.gate.Name() != g.Name() {
			diags.Addf(diag.Pos{}, "input declaration is for the gate %s, and %s is asked: leave declaration empty", g.Name(), in.gate.Name())
		}
		return g
	}
	return nil
}

// chooseGate returns the gate that is asked, nil for every section of a release file.
//
//	policy       decisions   gate       is asked
//	bare rules   given       any        that gate, by default the one whose keys they stand beside, else human-ai
//	bare rules   none        any        nothing: an error, unless the policy or input baseline names files
//	sections     none        none       every section
//	sections     none        named      that section
//	sections     given       named      that section, on these files in place of its own
//	sections     given       none       nothing: an error
//
// Input draw, like decisions, needs the gate of its section.
func chooseGate(in actionInputs, req request, diags *diag.List) gate.Gate {
	data, known := req.texts[in.policy]
	if !known {
		var err error
		if data, err = readFile(req.fs, in.policy, maxPolicy); err != nil {
			return in.gate // the run says what is wrong with it
		}
	}
	document := policy.Parse(in.policy, data, &diag.List{})
	if document == nil {
		return in.gate
	}
	hasSections := slices.ContainsFunc(kinds.Sections(), func(s policy.SectionSpec) bool { return document.Root.Has(s.Key) })
	switch {
	case !hasSections && len(in.decisions) == 0 && len(in.tallies) == 0 && in.baseline == "" && !namesFiles(document.Root):
		beside := ""
		if (in.gate == nil || gateTexts[in.gate.Name()].declaration != "") && !document.Root.Has("attributes") {
			beside = "; where it is a file of fairness rules beside a declaration, name that one in input declaration"
		}
		diags.Addf(diag.Pos{}, "input decisions is empty, and %s names no files of its own: give paths or globs, one a line%s", diag.Printable(in.policy), beside)
	case !hasSections && in.gate == nil:
		if g := gateOfKeys(document.Root); g != nil {
			return g
		}
		return kinds.Lookup("human-ai")
	case hasSections && len(in.decisions) > 0 && in.gate == nil:
		diags.Addf(diag.Pos{}, "input decisions is given, but not which section of %s it belongs to: name its gate in input gate, or leave decisions empty", diag.Printable(in.policy))
	case hasSections && in.draw != "" && in.gate == nil:
		diags.Addf(diag.Pos{}, "input draw is given, but not which section of %s it belongs to: name anchoring in input gate, or leave draw empty", diag.Printable(in.policy))
	}
	return in.gate
}

// namesFiles reports whether bare rules come with files of their own, under a gate's key for them.
func namesFiles(root *policy.Map) bool {
	return slices.ContainsFunc([]string{"decisions", "labels", "trials", "cases"}, root.Has)
}

// reportFile is a file in the workspace that a report goes to.
type reportFile struct {
	input  string // the input that asked for it, which is called as its format is
	path   string // relative to the workspace
	format summary.Format
}

// prepareReports looks at the files that the inputs ask for, before anything is decided: a path that cannot be written is an
// error in the workflow, and costs no verdict. No file is there before it is whole.
func prepareReports(root *os.Root, in actionInputs, diags *diag.List) []reportFile {
	var files []reportFile
	for _, asked := range in.reports {
		f := reportFile{input: asked.format.Name, path: asked.path, format: asked.format}
		if err := prepareReport(root, f.path); err != nil {
			diags.Addf(diag.Pos{}, "input %s: cannot write %s: %s", f.input, diag.Quote(f.path), reason(err))
			continue
		}
		for _, other := range files {
			if sameIn(root, f.path, other.path) {
				diags.Addf(diag.Pos{}, "input %s: %s is the file of input %s; give it a path of its own", f.input, diag.Quote(f.path), other.input)
			}
		}
		if in.ledger != "" && sameIn(root, f.path, in.ledger) { // nothing of this run goes there, its errors neither
			diags.Addf(diag.Pos{}, "input %s: %s is the ledger of input ledger; give the report a path of its own", f.input, diag.Quote(f.path))
			continue
		}
		if in.baselineReport != "" && sameIn(root, f.path, in.baselineReport) {
			diags.Addf(diag.Pos{}, "input %s: %s is the earlier report of input baseline-report; give the new one a path of its own", f.input, diag.Quote(f.path))
			continue
		}
		files = append(files, f)
	}
	return files
}

// makeFolders makes the folders of a file where they are missing. They may be written by anyone: the step runs as root, and a
// folder that only root can empty breaks the next job on a runner that is kept.
func makeFolders(root *os.Root, name string) error {
	parts := strings.Split(path.Dir(name), "/")
	for i := range parts {
		folder := path.Join(parts[:i+1]...)
		switch err := root.Mkdir(folder, 0o777); {
		case err == nil:
			if err := root.Chmod(folder, 0o777); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// prepareReport makes the folders of a file, and says why it cannot be written.
func prepareReport(root *os.Root, name string) error {
	if err := makeFolders(root, name); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil {
		if err := replaceable(info); err != nil {
			return err
		}
	}
	return temporary(newInRoot(root, path.Dir(name)), func(*os.File) error { return nil })
}

// sameIn reports whether two paths in the workspace lead to one file, which need not be there yet.
func sameIn(root *os.Root, a, b string) bool {
	same := func(a, b string) bool {
		one, err := root.Stat(a)
		if err != nil {
			return false
		}
		other, err := root.Stat(b)
		return err == nil && os.SameFile(one, other)
	}
	a, b = path.Clean(filepath.ToSlash(a)), path.Clean(filepath.ToSlash(b))
	return a == b || same(a, b) || path.Base(a) == path.Base(b) && same(path.Dir(a), path.Dir(b))
}

// write writes the report, whole or not at all, and not over one of the files that the run read.
func (f reportFile) write(root *os.Root, r *report.Report, options summary.Options, read []string) error {
	if slices.ContainsFunc(read, func(name string) bool { return sameIn(root, f.path, name) }) {
		return errors.New("the run read this file, and a report does not take its place")
	}
	var text bytes.Buffer
	if err := f.format.Write(&text, r, options); err != nil {
		return err
	}
	return temporary(newInRoot(root, path.Dir(f.path)), func(temporary *os.File) error {
		name := path.Join(path.Dir(f.path), filepath.Base(temporary.Name()))
		return becomeIn(root, temporary, name, f.path, text.Bytes())
	})
}

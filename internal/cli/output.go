package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
	"github.com/oloproof/oloproof/summary/ci"
)

// output is where a command's report goes and what its exit status is.
type output struct {
	formats []string // --format NAME[:PATH], as given
	json    bool
	quiet   bool
	failOn  string
	prefix  string // of paths, for those of the repository

	baselineReport string // path of an earlier JSON report; "" for none
	ledger         string // path of a ledger of looks; "" for none
	ledgerReadOnly bool
	ci             string // a platform's name, auto, or ""
}

// flags adds the flags of every command that makes a report.
func (o *output) flags(cmd *cobra.Command) {
	o.formatFlags(cmd)
	o.prefixFlag(cmd)
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "leave out progress and the closing line on standard error")
}

// formatFlags adds the flags that say in which forms a report is written, and where.
func (o *output) formatFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.formats, "format", nil, "write the report as `NAME[:PATH]` ("+strings.Join(summary.Names(), ", ")+"); may be repeated")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(summary.Names(), cobra.ShellCompDirectiveNoSpace)))
}

// prefixFlag adds the flag that turns paths into those of the repository.
func (o *output) prefixFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.prefix, "path-prefix", "", "in junit, sarif and codequality put `PREFIX` before paths, or take it from them where it begins with -, to get those of the repository")
}

// decidingFlags adds the flags of a command that decides.
func (o *output) decidingFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.baselineReport, "baseline-report", "", "an earlier JSON report `FILE`: each rule's change since then is shown")
	cmd.Flags().StringVar(&o.ledger, "ledger", "", "the ledger `FILE`: this look at the data is held against the earlier ones, and added to them")
	cmd.Flags().BoolVar(&o.ledgerReadOnly, "ledger-read-only", false, "hold this look against the --ledger, and leave the file as it is")
	cmd.Flags().StringVar(&o.ci, "ci", "", "also tell a CI `PLATFORM` in its own language: "+strings.Join(ci.PlatformNames(), ", "))
	must(cmd.RegisterFlagCompletionFunc("ci", cobra.FixedCompletions(ci.PlatformNames(), cobra.ShellCompDirectiveNoFileComp)))
	o.failOnFlag(cmd)
}

// failOnFlag adds the flag that says which verdicts end a run with their exit status.
func (o *output) failOnFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.failOn, "fail-on", "", "the verdicts that end the run with their exit status, such as `FAIL,MANUAL_REVIEW` (default: every verdict but PASS)")
}

// must reports a mistake in how a command was put together; tests build every command.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// target is a format and the file that it goes to.
type target struct {
	summary.Target
	place string // where its path leads
}

// sink is where the report of a run goes, looked at before anything is decided.
type sink struct {
	app    *app
	stdout summary.Format
	files  []target
	failOn report.FailOn
	quiet  bool
	stored bool // the report is of an earlier run, and none of its problems is one of this one

	repository func(file string) string // a file's path in the repository

	platform ci.Platform // "" where none is spoken to
	policy   string      // the run's, whose problems a platform is told first
}

// open checks the flags, and that every file can be written; others are mistakes found before, told in one go with its
// own. It is called before anything is decided, so that a path that cannot be written costs no verdict.
func (a *app) open(o output, others ...error) (*sink, error) {
	s := &sink{app: a, quiet: o.quiet}
	problems := others
	var err error
	if s.failOn, err = report.ParseFailOn(o.failOn); err != nil {
		problems = append(problems, usagef("--fail-on: %w", err))
	}
	prefix, err := ci.ParsePrefix(o.prefix)
	if err != nil {
		problems = append(problems, usagef("--path-prefix: %w", err))
	}
	s.repository = inRepository(prefix)
	specs := o.formats
	if o.json {
		specs = append(specs, "json")
	}
	onStdout := 0
	for _, spec := range specs {
		t, err := summary.ParseTarget(spec)
		switch {
		case err != nil:
			problems = append(problems, usagef("--format: %w", err))
		case t.Path == "":
			s.stdout = t.Format
			onStdout++
		default:
			s.files = append(s.files, target{Target: t})
		}
	}
	if onStdout > 1 {
		problems = append(problems, usagef("--format: only one format goes to standard output; give the others a path, such as --format json:report.json"))
	}
	if o.ci != "" {
		switch s.platform, err = ci.ParsePlatform(o.ci, a.Getenv); {
		case err != nil:
			problems = append(problems, usagef("--ci: %w", err))
		case s.platform == ci.PlatformNone && o.ci != ci.PlatformAuto: // said in so many words, nothing is written
		case onStdout > 0 && s.stdout.Name != "terminal": // also outside of CI: what works there has to work in it
			problems = append(problems, usagef("--ci: its commands go to standard output, where the %s report goes already; give that a path, such as --format %s:report", s.stdout.Name, s.stdout.Name))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if onStdout == 0 {
		if s.stdout, err = summary.Lookup("terminal"); err != nil {
			return nil, err
		}
	}
	for i := range s.files {
		t := &s.files[i]
		if t.place, err = prepare(t.Path); err != nil {
			problems = append(problems, usagef("--format: %w", err))
			continue
		}
		if slices.ContainsFunc(s.files[:i], func(other target) bool { return other.place == t.place || sameFile(other.place, t.place) }) {
			problems = append(problems, usagef("--format: two formats go to %s; give each a path of its own", t.Path))
		}
		if o.baselineReport != "" && sameFile(o.baselineReport, t.place) {
			problems = append(problems, usagef("--format: %s is the earlier report of --baseline-report; give the new one a path of its own", t.Path))
		}
		if isFile(a.stdout.Writer, t.place) {
			problems = append(problems, usagef("--format: standard output goes to %s already; give the report a path of its own", t.Path))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return s, nil
}

// spare refuses a format's path that is one of the files that the command line names to be read. One that only the policy names is
// refused when the report is written.
func (s *sink) spare(named []string) error {
	var problems []error
	for _, t := range s.files {
		if slices.ContainsFunc(named, func(name string) bool { return name != "-" && sameFile(name, t.place) }) {
			problems = append(problems, usagef("--format: the run reads %s; give the report a path of its own", t.Path))
		}
	}
	return errors.Join(problems...)
}

// write writes the report in every format and returns the exit status. Files come first: writing to a pipe that
// nobody reads any more ends the process.
func (s *sink) write(r *report.Report) int {
	status := r.Status(s.failOn)
	problems := s.everywhere(r)
	if s.platform != "" {
		for _, text := range s.deliver(r, status) { // none of them changes the status
			s.app.tell(s.app.Stderr, "oloproof: could not report everything: "+text)
		}
	}
	for _, err := range problems {
		s.app.tell(s.app.Stderr, "oloproof: "+err.Error())
	}
	if status = s.app.ending(status); len(problems) > 0 && status == report.ExitPass {
		status = report.ExitUnusable
	}
	if !s.quiet && r.ExitStatus != report.ExitUnusable {
		fmt.Fprintln(s.app.Stderr, closing(r, status))
	}
	return status
}

// everywhere writes the report in every format, and returns what could not be written.
func (s *sink) everywhere(r *report.Report) (problems []error) {
	for _, t := range s.files {
		if err := s.toFile(t, r); err != nil {
			problems = append(problems, err)
		}
	}
	if err := s.toStdout(r); err != nil {
		problems = append(problems, err)
	}
	return problems
}

// toStdout writes the format of standard output; a person reads on standard error why nothing was decided. The error
// says why the form cannot hold the report: what standard output loses is told at the end.
func (s *sink) toStdout(r *report.Report) error {
	w := s.app.Stdout
	if s.stdout.Name == "terminal" && r.ExitStatus == report.ExitUnusable && !s.stored {
		w = s.app.Stderr
	}
	options := s.app.look(w, s.failOn)
	options.Repository = s.repository
	write := func() error { return s.stdout.Write(w, r, options) }
	if s.platform != "" && s.stdout.Name == "terminal" {
		write = func() error {
			before, after := ci.Group(s.platform, r, s.app.Now())
			log := ci.NewLogOn(s.platform, w)
			_, first := io.WriteString(w, before)
			err := s.stdout.Write(log, r, s.app.look(w, s.failOn))
			err = errors.Join(first, err, log.Close())
			_, last := io.WriteString(w, after)
			return errors.Join(err, last)
		}
	}
	if err := write(); err != nil && s.app.stdout.lost == nil {
		return fmt.Errorf("cannot write the report (%s): %s", s.stdout.Name, reason(err))
	}
	return nil
}

// deliver tells the platform of a run, and returns what could not be told.
func (s *sink) deliver(r *report.Report, status int) []string {
	d := ci.Delivery{Report: r, FailOn: s.failOn, PolicyFile: s.policy, Summary: true, Annotations: true}
	for _, t := range s.files {
		if t.Format.Name == "json" {
			d.ReportFile = t.Path
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		folder = "" // then places are told as they are
	}
	return ci.Deliver(s.platform, d, status, ci.World{Getenv: s.app.Getenv, Log: s.app.Stdout, Dir: folder})
}

// toFile writes one format to its file.
func (s *sink) toFile(t target, r *report.Report) error {
	var b bytes.Buffer
	options := plain
	options.FailOn, options.Repository = s.failOn, s.repository
	err := t.Format.Write(&b, r, options)
	if err == nil && s.app.wasRead(t.place) {
		err = errors.New("the run read this file, and a report does not take its place")
	}
	if err == nil {
		err = writeWhole(t.place, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %s", t.Path, reason(err))
	}
	return nil
}

// wasRead reports whether a path is one of the files that the run read, by name or as its standard input.
func (a *app) wasRead(path string) bool {
	return a.stdin != "" && isFile(a.Stdin, path) ||
		slices.ContainsFunc(a.opened, func(name string) bool { return sameFile(name, path) })
}

// plain is how files look: no colour, the width of a narrow terminal.
var plain = summary.Options{Unicode: true, Width: 80}

// inRepository gives the path in the repository of a file that a run named: relative to the working folder, with the prefix put
// before it or taken from it; "" for a file outside of the repository.
func inRepository(prefix ci.Prefix) func(file string) string {
	folder, err := os.Getwd()
	if err != nil {
		folder = "" // then nothing is in it by its whole path
	}
	return func(file string) string { return placeIn(folder, prefix, file) }
}

// placeIn is inRepository for a folder.
func placeIn(folder string, prefix ci.Prefix, file string) string {
	if filepath.IsAbs(file) {
		relative, err := filepath.Rel(folder, file)
		if folder == "" || err != nil {
			return ""
		}
		file = relative
	}
	file = path.Clean(prefix.Apply(path.Clean(filepath.ToSlash(file))))
	if file == "." || !filepath.IsLocal(filepath.FromSlash(file)) {
		return ""
	}
	return file
}

// look is how the report looks on w: colour on a terminal only, and never with NO_COLOR.
func (a *app) look(w io.Writer, failOn report.FailOn) summary.Options {
	options := plain
	options.FailOn = failOn
	options.Unicode = utf8Locale(a.Getenv)
	if columns, is := terminal(w); is {
		options.Color = a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
		options.Width = min(max(columns, 60), 100)
	}
	return options
}

// utf8Locale reports whether the output is UTF-8: what the first set of LC_ALL, LC_CTYPE and LANG says, and yes
// where none is set.
func utf8Locale(getenv func(string) string) bool {
	if runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// closing is the one line on standard error at the end of a run.
func closing(r *report.Report, status int) string {
	if r.Verdict == report.NoVerdict {
		rows := 0
		for _, in := range r.Inputs {
			if in.Role != "assignment" && in.Role != "draw" { // whose rows are no decisions
				rows += in.Rows
			}
		}
		return fmt.Sprintf("Read %s, and there was nothing to decide, exit %d", countOf(rows, "row"), status)
	}
	total, n := r.Counts.Total(), r.Counts.Of(r.Verdict)
	what := map[report.Verdict]string{
		report.Pass: "passed", report.Fail: "failed", report.InsufficientEvidence: "could not be decided", report.ManualReview: "need a person's review",
	}[r.Verdict]
	if r.Verdict == report.ManualReview && n == 1 {
		what = "needs a person's review"
	}
	noun := "rules"
	if total == 1 {
		noun = "rule"
	}
	return fmt.Sprintf("%s: %d of %d %s %s, exit %d", r.Verdict, n, total, noun, what, status)
}

// finish runs a request and writes its report, unless the command line has mistakes: its own, and those given.
func (a *app) finish(req request, o output, mistakes error) error {
	s, err := a.open(o, mistakes)
	if err != nil {
		return err
	}
	if err := s.spare(req.named()); err != nil {
		return err
	}
	s.policy, req.quiet = req.policy, o.quiet
	if req.ledger, err = o.openLedger(s); err != nil {
		return err
	}
	certificate, err := a.prepareCertificate(&req, s)
	if err != nil {
		return err
	}
	baseline, err := a.loadBaseline(nil, o.baselineReport)
	if err != nil {
		return usagef("--baseline-report: %w", err)
	}
	r := a.run(req)
	baseline.compare(r)
	problems := []error{req.ledger.write(nil, r, addWhole), certificate.write(a, r)}
	a.status = s.write(r)
	for _, problem := range problems {
		if problem == nil {
			continue
		}
		a.tell(a.Stderr, "oloproof: "+problem.Error())
		if a.status == report.ExitPass {
			a.status = report.ExitUnusable
		}
	}
	return nil
}

// verbNames are the verbs as the commands name them.
var verbNames = []gate.Verb{gate.Check, gate.Report, gate.Decide}

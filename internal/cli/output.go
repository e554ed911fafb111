package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// output is where a command's report goes and what its exit status is.
type output struct {
	formats []string // --format NAME[:PATH], as given
	json    bool
	quiet   bool
	failOn  string
}

// flags adds the flags of every command that makes a report.
func (o *output) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.formats, "format", nil, "write the report as `NAME[:PATH]` ("+strings.Join(summary.Names(), ", ")+"); may be repeated")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "leave out the closing line on standard error")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(summary.Names(), cobra.ShellCompDirectiveNoSpace)))
}

// failOnFlag adds --fail-on.
func (o *output) failOnFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.failOn, "fail-on", "", "the verdicts that end the run with their exit status, such as `FAIL,MANUAL_REVIEW` (default: every verdict but PASS)")
}

// must reports a mistake in how a command was put together; tests build every command.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// target is one format and where it goes.
type target struct {
	summary.Target
	place string   // where its path leads
	file  *os.File // the temporary file beside that
}

// sink is the opened output of a run: what must exist before anything is decided.
type sink struct {
	app     *app
	targets []target
	failOn  report.FailOn
	quiet   bool
}

// open checks the flags and creates every file that will be written, under a temporary name beside its own. It
// is called before anything is decided, so that a path that cannot be written costs no verdict.
func (a *app) open(o output) (*sink, error) {
	s := &sink{app: a, quiet: o.quiet}
	var err error
	if s.failOn, err = report.ParseFailOn(o.failOn); err != nil {
		return nil, usagef("--fail-on: %w", err)
	}
	specs := o.formats
	if o.json {
		specs = append(specs, "json")
	}
	onStdout := 0
	for _, spec := range specs {
		t, err := summary.ParseTarget(spec)
		if err != nil {
			return nil, usagef("--format: %w", err)
		}
		if t.Path == "" {
			onStdout++
		}
		s.targets = append(s.targets, target{Target: t})
	}
	if onStdout > 1 {
		return nil, usagef("--format: only one format goes to standard output; give the others a path, such as --format json:report.json")
	}
	if onStdout == 0 {
		terminal, err := summary.Lookup("terminal")
		if err != nil {
			return nil, err
		}
		s.targets = append([]target{{Target: summary.Target{Format: terminal}}}, s.targets...)
	}
	paths := map[string]bool{}
	for i := range s.targets {
		t := &s.targets[i]
		if t.Path == "" {
			continue
		}
		if paths[filepath.Clean(t.Path)] {
			s.discard()
			return nil, usagef("--format: two formats go to %s; give each a path of its own", t.Path)
		}
		paths[filepath.Clean(t.Path)] = true
		if err := t.create(); err != nil {
			s.discard()
			return nil, usagef("--format: %w", err)
		}
	}
	return s, nil
}

// create makes the target's temporary file, and its folder.
func (t *target) create() error {
	t.place = filepath.Clean(t.Path)
	info, err := os.Stat(t.Path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it", t.Path)
	case err == nil && !info.Mode().IsRegular(): // a file in its place would be the end of a device or a pipe
		return fmt.Errorf("%s is not a regular file; name one, or - for standard output", t.Path)
	case err == nil: // a link keeps, and its file is replaced
		t.place, err = filepath.EvalSymlinks(t.Path)
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(filepath.Dir(t.Path), 0o755)
	}
	if err == nil {
		t.file, err = os.CreateTemp(filepath.Dir(t.place), ".oloproof-*")
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %s", t.Path, reason(err))
	}
	return nil
}

// discard removes the temporary files.
func (s *sink) discard() {
	for _, t := range s.targets {
		if t.file != nil {
			t.file.Close()
			os.Remove(t.file.Name())
		}
	}
}

// write writes the report in every format and returns the exit status. A file is written whole or not at all.
func (s *sink) write(r *report.Report) int {
	status := r.Status(s.failOn)
	var problems []error
	for _, t := range s.targets {
		if err := s.one(t, r); err != nil {
			problems = append(problems, err)
		}
	}
	for _, err := range problems {
		s.app.tell(s.app.Stderr, "oloproof: "+err.Error())
	}
	if len(problems) > 0 && status == report.ExitPass {
		status = report.ExitUnusable
	}
	if !s.quiet && r.ExitStatus != report.ExitUnusable {
		fmt.Fprintln(s.app.Stderr, closing(r, status))
	}
	return status
}

// one writes one format to its place.
func (s *sink) one(t target, r *report.Report) error {
	if t.file == nil {
		w := s.app.Stdout
		if t.Format.Name == "terminal" && r.ExitStatus == report.ExitUnusable {
			w = s.app.Stderr
		}
		if err := t.Format.Write(w, r, s.app.look(w, s.failOn)); err != nil {
			return fmt.Errorf("cannot write the report (%s): %s", t.Format.Name, reason(err))
		}
		return nil
	}
	var b bytes.Buffer
	options := plain
	options.FailOn = s.failOn
	err := t.Format.Write(&b, r, options)
	if err == nil {
		_, err = io.Copy(t.file, &b)
	}
	if err == nil {
		err = t.file.Chmod(0o644)
	}
	err = errors.Join(err, t.file.Close())
	if err == nil && s.app.wasRead(t.place) {
		err = errors.New("the run read this file, and a report does not take its place")
	}
	if err == nil {
		err = os.Rename(t.file.Name(), t.place)
	}
	if err != nil {
		os.Remove(t.file.Name())
		return fmt.Errorf("cannot write %s: %s", t.Path, reason(err))
	}
	return nil
}

// wasRead reports whether a path is one of the files that the run read.
func (a *app) wasRead(path string) bool {
	written, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(a.opened, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && os.SameFile(info, written)
	})
}

// plain is how files look: no colour, the width of a narrow terminal.
var plain = summary.Options{Unicode: true, Width: 80}

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
			if in.Role == "" { // decisions: not an assignment's rows
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

// finish runs a request and writes its report.
func (a *app) finish(req request, o output) error {
	s, err := a.open(o)
	if err != nil {
		return err
	}
	a.status = s.write(a.run(req))
	return nil
}

// verbNames are the verbs as the commands name them.
var verbNames = []gate.Verb{gate.Check, gate.Report, gate.Decide}

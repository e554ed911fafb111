package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// coverageFormats are the forms of the coverage grid's result, by the names that the formats of reports have.
var coverageFormats = []string{"terminal", "markdown", "json"}

// coverageRequest is what `audit coverage` is asked to do.
type coverageRequest struct {
	quick, full bool
	gates       []string
	studies     int
	seed        string
	formats     []string
	json, quiet bool
	resume      string
}

// coverageCommand is `audit coverage`.
func (a *app) coverageCommand() *cobra.Command {
	var q coverageRequest
	cmd := &cobra.Command{
		Use: "coverage", Short: "Measure how often each interval holds the truth, in simulated studies", Args: cobra.NoArgs,
		Long: `Draw studies of which the truth is known, over a grid of designs, sizes, spreads, effects and missing values, decide
each by the gates themselves, and count how often an interval misses the truth and how often a rule passes or fails
that has no right to. Beside each stand the intervals that others use, computed from the same studies: naive, which takes
every decision for independent of all others, Student's, the bootstrap and Wald's.

The same seed gives the same result on any machine. With --resume the cells that are finished are kept in a file, and the
same command goes on from there after an interruption. --studies draws fewer, which is faster and tells less.

Exit status: 0 no promise is seen to be broken, 1 one is, by more than chance explains (at an error of 0.001 for the whole
run), 2 nothing was decided. The result says how large a breach the run could have seen.`,
		Example: "  oloproof audit coverage --gate compare --studies 20",
		RunE:    func(*cobra.Command, []string) error { return a.coverage(q, audit.NewGrid) },
	}
	f := cmd.Flags()
	f.BoolVar(&q.quick, "quick", false, "a part of the grid, in seconds (the default)")
	f.BoolVar(&q.full, "full", false, "the whole grid, in a quarter of an hour or so")
	f.StringSliceVar(&q.gates, "gate", nil, "only the cells of a `GATE`: "+strings.Join(kinds.Names(), ", ")+"; may be repeated")
	f.IntVar(&q.studies, "studies", 0, "draw at most `N` studies in each cell, from "+strconv.Itoa(audit.FewestStudies)+" on")
	f.StringVar(&q.seed, "seed", audit.CoverageSeed, "a `TEXT` of letters, digits and . _ -; another one draws other studies")
	f.StringArrayVar(&q.formats, "format", nil, "write the result as `NAME[:PATH]` ("+strings.Join(coverageFormats, ", ")+"); may be repeated")
	f.BoolVar(&q.json, "json", false, "the same as --format json")
	f.StringVar(&q.resume, "resume", "", "keep what is finished in a `FILE`, and go on from it")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "leave out progress and the closing line on standard error")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(coverageFormats, cobra.ShellCompDirectiveNoSpace)))
	must(cmd.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions(kinds.Names(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// seedForm is what a seed can be: it stands in commands that others copy.
var seedForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })

// about checks the flags that choose what is simulated.
func (q *coverageRequest) about(version string) (audit.About, error) {
	var problems []error
	if q.quick && q.full {
		problems = append(problems, usagef("--quick and --full are both given; leave one out"))
	}
	if !seedForm().MatchString(q.seed) {
		problems = append(problems, usagef("--seed is %s; write 1 to 64 letters, digits and . _ - such as %s", diag.Quote(q.seed), audit.CoverageSeed))
	}
	if q.studies < 0 || q.studies > 0 && q.studies < audit.FewestStudies {
		problems = append(problems, usagef("--studies is %d; write at most how many studies a cell has, from %d on, or leave it out: fewer could not show any promise to be broken", q.studies, audit.FewestStudies))
	}
	about := audit.About{Version: version, Seed: q.seed, Full: q.full, Studies: q.studies}
	for _, name := range q.gates {
		if kinds.Lookup(name) == nil {
			hint := ""
			if near := diag.Nearest(name, kinds.Names()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			problems = append(problems, usagef("--gate is %s; write one of %s%s", diag.Quote(name), strings.Join(kinds.Names(), ", "), hint))
		}
	}
	for _, name := range kinds.Names() { // in their order, each once
		if slices.Contains(q.gates, name) {
			about.Gates = append(about.Gates, name)
		}
	}
	return about, errors.Join(problems...)
}

// ownFile is a form of a result that is no report and the file that it goes to.
type ownFile struct{ name, path, place string }

// parseOwn reads the --format flags of a command whose result is no report: the form on standard output, and those of files.
func parseOwn(specs, known []string, example string) (onStdout string, files []ownFile, problems []error) {
	for _, spec := range specs {
		name, path, hasPath := strings.Cut(spec, ":")
		if path == "-" {
			path, hasPath = "", false
		}
		switch {
		case !slices.Contains(known, name):
			problems = append(problems, usagef("--format: unknown format %s; use %s", diag.Quote(name), strings.Join(known, ", ")))
		case hasPath && path == "":
			problems = append(problems, usagef("--format: %s has a colon but no path; write %s for standard output, or %s:PATH", diag.Quote(spec), name, name))
		case path != "":
			files = append(files, ownFile{name: name, path: path})
		case onStdout != "":
			problems = append(problems, usagef("--format: only one format goes to standard output; give the others a path, such as --format json:%s", example))
		default:
			onStdout = name
		}
	}
	if onStdout == "" {
		onStdout = "terminal"
	}
	return onStdout, files, problems
}

// prepareOwn looks whether the files can be written, and finds their places. taken are places that are in use, and by what.
func (a *app) prepareOwn(files []ownFile, taken map[string]string) (problems []error) {
	for i := range files {
		f := &files[i]
		var err error
		if f.place, err = prepare(f.path); err != nil {
			problems = append(problems, usagef("--format: %w", err))
			continue
		}
		if by := taken[f.place]; by != "" {
			problems = append(problems, usagef("--format: %s is the file of %s already; give each a path of its own", f.path, by))
		}
		if isFile(a.stdout.Writer, f.place) {
			problems = append(problems, usagef("--format: standard output goes to %s already; give the result a path of its own", f.path))
		}
		taken[f.place] = "another --format"
	}
	return problems
}

// outputs checks where the result goes to: the form on standard output, and the files.
func (a *app) coverageOutputs(q coverageRequest) (onStdout string, files []ownFile, err error) {
	specs := q.formats
	if q.json {
		specs = append(specs, "json")
	}
	onStdout, files, problems := parseOwn(specs, coverageFormats, "coverage.json")
	if len(problems) > 0 { // no folder is made for a command that is mistaken
		return "", nil, errors.Join(problems...)
	}
	taken := map[string]string{}
	if q.resume != "" {
		place, err := prepare(q.resume)
		if err != nil {
			problems = append(problems, usagef("--resume: %w", err))
		}
		taken[place] = "--resume"
	}
	return onStdout, files, errors.Join(append(problems, a.prepareOwn(files, taken)...)...)
}

// coverage simulates a grid, which newGrid makes.
func (a *app) coverage(q coverageRequest, newGrid func(audit.About) (audit.Grid, error)) error {
	about, mistakes := q.about(a.Version)
	onStdout, files, err := a.coverageOutputs(q)
	if err := errors.Join(mistakes, err); err != nil {
		return err
	}
	grid, err := newGrid(about)
	if err != nil {
		return err
	}
	if len(grid.Cells) == 0 {
		return usagef("there is no cell to simulate; leave --gate out, or write --full")
	}
	state, save, err := a.coverageState(q.resume, grid, about)
	if err != nil {
		return err
	}
	kept := state.Finished()
	ctx, stop := untilSignal()
	defer stop()
	started := a.Now()
	meter := &coverageMeter{app: a, started: started, told: started, state: state, cells: len(grid.Cells) + len(grid.Counterexamples), quiet: q.quiet, before: -1}
	result, err := grid.Run(ctx, about, state, meter.step, save)
	meter.end()
	switch {
	case errors.Is(err, context.Canceled):
		a.tell(a.Stderr, fmt.Sprintf("oloproof: interrupted; %d of %d cells are finished, %s", state.Finished(), meter.cells, goOn(q.resume)))
		fmt.Fprintln(a.Stderr, "exit status 2 (nothing was decided)")
		return errReported
	case err != nil:
		return err
	}
	a.status = a.writeCoverage(result, onStdout, files)
	if !q.quiet {
		again := ""
		if kept > 0 {
			again = fmt.Sprintf(" (%d of %d cells were kept in %s)", kept, meter.cells, q.resume)
		}
		a.tell(a.Stderr, fmt.Sprintf("%s and %s in %s%s, exit %d", countOf(len(result.Cells), "cell"), fmt.Sprintf("%d studies", result.Studies), a.Now().Sub(started).Round(time.Second), again, a.status))
	}
	return nil
}

// untilSignal is a context that ends when the run is asked to end.
func untilSignal() (context.Context, context.CancelFunc) {
	var signals []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signals = append(signals, s)
		}
	}
	if len(signals) == 0 { // none would stand for all of them
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// goOn says how an interrupted run goes on.
func goOn(resume string) string {
	if resume == "" {
		return "and lost: --resume FILE keeps them"
	}
	return "and kept in " + resume + "; the same command goes on from there"
}

// coverageState reads the state that a run goes on from, and returns what saves it. Without a file it is kept nowhere.
func (a *app) coverageState(path string, grid audit.Grid, about audit.About) (*audit.State, func() error, error) {
	state := audit.NewState(grid, about)
	if path == "" {
		return state, nil, nil
	}
	place, err := resolve(path)
	if err != nil {
		return nil, nil, usagef("--resume: %s: %s", path, reason(err))
	}
	const most = 64 << 20
	switch text, err := readFile(nil, place, most); {
	case errors.Is(err, fs.ErrNotExist): // the run begins
	case err != nil:
		return nil, nil, usagef("--resume: cannot read %s: %s", path, reason(err))
	default:
		if state, err = audit.ReadState(text, grid, about); err != nil {
			return nil, nil, usagef("--resume: cannot go on from %s: %w", path, err)
		}
	}
	save := func() error {
		text, err := state.JSON()
		if err == nil {
			err = replace(place, text)
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %s", path, reason(err))
		}
		return nil
	}
	return state, save, nil
}

// replace writes a file whole or not at all, as writeWhole does, but leaves signals to its caller.
func replace(place string, data []byte) error {
	f, err := newIn(filepath.Dir(place))()
	if err != nil {
		return err
	}
	if err = become(f, place, data); err != nil {
		f.Close() // closed already, unless its mode could not be set
		os.Remove(f.Name())
	}
	return err
}

// writeCoverage writes the result in every form and returns the exit status.
func (a *app) writeCoverage(c *audit.Coverage, onStdout string, files []ownFile) int {
	text := func(name string) ([]byte, error) {
		switch name {
		case "json":
			return c.JSON()
		case "markdown":
			return []byte(c.Markdown()), nil
		}
		return []byte(c.Text()), nil
	}
	status := c.ExitStatus
	for _, f := range files {
		data, err := text(f.name)
		if err == nil {
			err = writeWhole(f.place, data)
		}
		if err != nil {
			a.tell(a.Stderr, fmt.Sprintf("oloproof: cannot write %s: %s", f.path, reason(err)))
			if status == report.ExitPass {
				status = report.ExitUnusable
			}
		}
	}
	data, err := text(onStdout)
	if err != nil {
		a.tell(a.Stderr, "oloproof: cannot write the result: "+err.Error())
		return report.ExitUnusable
	}
	a.Stdout.Write(data) // standard output remembers what it loses
	return a.ending(status)
}

// coverageMeter says on standard error how far a run is: as a bar on a terminal, a line a minute elsewhere.
type coverageMeter struct {
	app           *app
	started, told time.Time
	state         *audit.State
	cells         int
	quiet         bool
	before        int // the work that was kept from an earlier run; −1: not known yet
	shown         bool
}

// step is called after each study, by one goroutine at a time.
func (m *coverageMeter) step(done, all int) {
	if m.before < 0 {
		m.before = done
	}
	_, is := terminal(m.app.Stderr)
	pause := time.Minute
	if is {
		pause = time.Second / 5
	}
	now := m.app.Now()
	if m.quiet || now.Sub(m.told) < pause {
		return
	}
	m.told = now
	left := ""
	if ran := done - m.before; ran > 0 {
		seconds := now.Sub(m.started).Seconds() * float64(all-done) / float64(ran)
		left = ", about " + (time.Duration(seconds) * time.Second).String() + " left"
	}
	text := fmt.Sprintf("%d of %d cells, %d %%%s", m.state.Finished(), m.cells, 100*done/max(1, all), left)
	if !is {
		fmt.Fprintln(m.app.Stderr, "oloproof: "+text)
		return
	}
	const width = 24
	filled := width * done / max(1, all)
	m.shown = true
	fmt.Fprintf(m.app.Stderr, "\r\x1b[K[%s%s] %s", strings.Repeat("#", filled), strings.Repeat(".", width-filled), text)
}

// end clears the bar.
func (m *coverageMeter) end() {
	if m.shown {
		fmt.Fprint(m.app.Stderr, "\r\x1b[K")
	}
}

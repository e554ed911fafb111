package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/ledger"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// book is the ledger of a run: read before anything is decided, held against what the run looks at, and written after. A nil
// one is that of a run without.
type book struct {
	path     string // as given
	place    string // where it is written
	readOnly bool

	ledger   *ledger.Ledger
	was      []byte // its bytes as read
	found    bool   // it was there
	rules    []ledger.Rule
	standing map[string]ledger.Standing // by rule id
	now      []byte                     // its bytes with the run's look; nil where nothing is added
}

// openLedger looks at the flags of a ledger, and that it can be written where no report goes.
func (o *output) openLedger(s *sink) (*book, error) {
	switch {
	case o.ledger == "" && o.ledgerReadOnly:
		return nil, usagef("--ledger-read-only needs --ledger: name the file that is read")
	case o.ledger == "":
		return nil, nil
	case o.ledger == "-":
		return nil, usagef("--ledger: a ledger is a file that is kept; name one, such as ledger.jsonl")
	}
	b := &book{path: o.ledger, place: o.ledger, readOnly: o.ledgerReadOnly}
	if !b.readOnly {
		var err error
		if b.place, err = prepare(b.path); err != nil {
			return nil, usagef("--ledger: %w", err)
		}
	}
	for _, t := range s.files {
		if t.place == b.place || sameFile(t.place, b.place) {
			return nil, usagef("--format: %s is the ledger of --ledger; give the report a path of its own", t.Path)
		}
	}
	if isFile(s.app.stdout.Writer, b.place) {
		return nil, usagef("--ledger: standard output goes to %s already; give the ledger a path of its own", b.path)
	}
	return b, nil
}

// load reads the file, where it is there.
func (b *book) load(a *app, fsys fs.FS, diags *diag.List) {
	if b == nil {
		return
	}
	a.opened = append(a.opened, b.path)
	var err error
	switch b.was, err = readFile(fsys, b.path, ledger.MaxBytes+1); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		diags.Addf(diag.Pos{File: b.path}, "cannot read the ledger: %s", reason(err))
	default:
		b.found = true
	}
	b.ledger = ledger.Read(b.path, b.was, diags)
}

// hold holds every rule's look against the earlier ones, and tells the questions which rules are for a person.
func (b *book) hold(parts []part) error {
	if b == nil {
		return nil
	}
	b.standing = map[string]ledger.Standing{}
	var doubts []func(why string) // by rule
	for section, p := range parts {
		for i, rule := range p.question.Rules() {
			units, err := p.question.Units(i)
			if err != nil {
				return fmt.Errorf("%s: %w", rule.Name(), err)
			}
			if units.Method == "" { // no interval, and nothing was looked at
				continue
			}
			b.rules = append(b.rules, ledger.NewRule(rule.ID.Value, section, rule.Threshold, units))
			doubts = append(doubts, func(why string) { p.question.Doubt(i, why) })
		}
	}
	for i, standing := range b.ledger.Hold(b.rules) {
		if standing.Doubt != "" {
			doubts[i](standing.Doubt)
		}
		b.standing[b.rules[i].ID] = standing
	}
	return nil
}

// tell puts what the ledger says into a gate's part of the report.
func (b *book) tell(g *report.Gate) {
	if b == nil {
		return
	}
	for i := range g.Rules {
		if s, found := b.standing[g.Rules[i].ID]; found {
			look := s.Look
			g.Rules[i].Look = &look
			g.Findings = append(g.Findings, s.Findings...)
		}
	}
}

// add tells the ledger in the report, and makes the look that is added to it: none where the same rules have looked at the same
// data before, or where the ledger is only read. An error says that it is full.
func (b *book) add(r *report.Report, c gate.Context) error {
	if b == nil {
		return nil
	}
	r.Ledger = &report.Ledger{Path: b.path, Looks: len(b.ledger.Looks)}
	if b.found {
		r.Ledger.SHA256 = digestOf(b.was)
	}
	if b.readOnly || len(b.rules) == 0 || r.ExitStatus == report.ExitUnusable || b.ledger.Recorded(b.rules) {
		return nil
	}
	verdicts := map[string]report.Verdict{}
	for rule := range r.Rules() {
		verdicts[rule.ID] = rule.Verdict
	}
	for i := range b.rules {
		b.rules[i].Verdict = verdicts[b.rules[i].ID]
	}
	var err error
	b.now, err = b.ledger.Append(ledger.Look{Day: c.Today, Tool: r.Tool.Version, Inputs: c.Digest, Rules: b.rules})
	r.Ledger.Appended = err == nil
	return err
}

// write writes the ledger whole, in the file system that it was read from. add takes the place, the bytes, and what to look at
// once no other run can add to the file. A ledger that has changed since it was read stays as it is: the look that somebody else
// added must not be lost.
func (b *book) write(fsys fs.FS, r *report.Report, add func(place string, data []byte, unchanged func() error) error) error {
	if b == nil || b.now == nil || r.ExitStatus == report.ExitUnusable {
		return nil
	}
	err := add(b.place, b.now, func() error {
		now, err := readFile(fsys, b.place, ledger.MaxBytes+1)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil && !bytes.Equal(now, b.was) {
			err = errors.New("it has changed since this run read it; run again")
		}
		return err
	})
	if err != nil {
		r.Ledger.Appended = false
		return fmt.Errorf("cannot add this look to the ledger %s: %s", b.path, reason(err))
	}
	return nil
}

// adding is the name of the file under which a run writes a ledger before it takes its place. While it is there no other run
// adds to the ledger: of two at once the look of one would be lost.
func adding(place string) string {
	return filepath.Join(filepath.Dir(place), ".oloproof-adding-"+digestOf([]byte(filepath.Base(place)))[:16])
}

// whileAdding says what it means that the file named by adding is there already; other errors stay.
func whileAdding(err error, name string) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another run is adding its look, or was stopped while it did; run again, and where none is running remove %s", name)
	}
	return err
}

// addWhole adds to a ledger, whole or not at all.
func addWhole(place string, data []byte, unchanged func() error) error {
	name := adding(place)
	made := func() (*os.File, error) { return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) }
	return whileAdding(temporary(made, func(f *os.File) error {
		if err := unchanged(); err != nil {
			return err
		}
		return become(f, place, data)
	}), name)
}

// ledgerCommand is `ledger show` and `ledger check`.
func (a *app) ledgerCommand() *cobra.Command {
	const make = "  oloproof init --example human-ai study\n  oloproof human-ai gate study/decisions.csv --policy study/policy.yaml --ledger ledger.jsonl\n"
	parent := &cobra.Command{
		Use: "ledger", Short: "Read a ledger of looks", Args: noCommand,
		Long: `Read a ledger: the file in which every run with --ledger writes down what its rules looked at, without names.
It tells a look at more data from a rerun, and says where looking again has cost what an interval promises.`,
		Example: make + "  oloproof ledger show ledger.jsonl",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	show := &cobra.Command{
		Use: "show FILE", Short: "List the looks of a ledger, and what changed between them",
		Long: `List the looks of a ledger, by rule: what was asked of the data and with which threshold, and for each look the day, the
verdict, how many units the interval rested on, how the data had changed since the look before, and what the looks up to it
had come to.
Exit status: 0, or 2 where the ledger cannot be read or a line of it was changed.`,
		Example: make + "  oloproof ledger show ledger.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneLedger(cmd, args); err != nil {
				return err
			}
			list, err := a.readLedgers(args[0])
			if err != nil {
				return err
			}
			return a.showLooks(list[0].Standings(), asJSON)
		},
	}
	show.Flags().BoolVar(&asJSON, "json", false, "write the list as JSON")
	var base string
	check := &cobra.Command{
		Use: "check FILE", Short: "Say whether a ledger is whole, and holds an older one",
		Long: `Say whether a ledger is whole: every line as oloproof wrote it, and each after those that it follows on. That its last
lines were taken out cannot be seen in it, nor lines that somebody wrote anew together with their digests. --base names an
older copy, such as that of the main branch, all of whose lines it must hold.
Exit status: 0, or 2 where it is not whole.`,
		Example: make + "  oloproof ledger check ledger.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneLedger(cmd, args); err != nil {
				return err
			}
			names := args
			if base != "" {
				names = append(names, base)
			}
			list, err := a.readLedgers(names...)
			if err != nil {
				return err
			}
			text := "The ledger is whole: " + countOf(len(list[0].Looks), "look") + "."
			if base != "" {
				if err := list[0].Extends(list[1]); err != nil {
					diags := &diag.List{}
					diags.Addf(diag.Pos{File: args[0]}, "%v", err)
					return a.unusable(diags)
				}
				text += " It holds each of the " + countOf(len(list[1].Looks), "look") + " of the older one."
			}
			a.tell(a.Stdout, text)
			return nil
		},
	}
	check.Flags().StringVar(&base, "base", "", "an older copy, a `FILE`: the ledger must hold each of its lines")
	parent.AddCommand(show, check)
	return parent
}

// oneLedger wants the one argument of commands about a ledger.
func oneLedger(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one ledger, such as `%s ledger.jsonl`", cmd.Name(), cmd.CommandPath())
	}
	return nil
}

// readLedgers reads ledgers that must be there; what is wrong with any of them is told, and is the error.
func (a *app) readLedgers(names ...string) ([]*ledger.Ledger, error) {
	diags := &diag.List{}
	var list []*ledger.Ledger
	for _, name := range names {
		data, err := readFile(nil, name, ledger.MaxBytes+1)
		if err != nil {
			diags.Addf(diag.Pos{File: name}, "cannot read the ledger: %s", reason(err))
		}
		list = append(list, ledger.Read(name, data, diags))
	}
	if diags.Len() > 0 {
		return nil, a.unusable(diags)
	}
	return list, nil
}

// shownLook is a look as `ledger show --json` writes it.
type shownLook struct {
	Day    string      `json:"day"`
	Tool   string      `json:"tool"`
	Inputs string      `json:"inputs"`
	Rules  []shownRule `json:"rules"`
}

// shownRule is a rule of a look.
type shownRule struct {
	ID        string         `json:"id"`
	Metric    string         `json:"metric"`
	Threshold string         `json:"threshold,omitempty"`
	Verdict   report.Verdict `json:"verdict"`
	Method    string         `json:"method"`
	Looks     string         `json:"looks"`
	Error     float64        `json:"error"` // the largest probability with which a verdict of one look is wrong
	Units     int            `json:"units"`
	Decisions int            `json:"decisions"`
	Look      report.Look    `json:"look"`
	Means     []string       `json:"means,omitempty"`

	asked string // what the data were asked, in words
}

// askedOf says what a rule asked of its data, and by what interval.
func askedOf(r *ledger.Rule) string {
	looks := "many looks"
	switch r.Looks {
	case interval.LooksOne:
		looks = "one look"
	case interval.LooksPlanned:
		looks = "any looks up to " + strconv.Itoa(r.Planned) + " planned units"
	case interval.LooksAny:
	}
	threshold := "no threshold"
	if r.Threshold != "" {
		threshold = r.Threshold
	}
	return fmt.Sprintf("%s, %s, for %s, wrong at most %s of the time", r.Metric, threshold, looks, ledger.Percent(r.Error))
}

// showLooks lists looks as a table, or as JSON.
func (a *app) showLooks(looks []ledger.Seen, asJSON bool) error {
	list := []shownLook{}
	for _, look := range looks {
		s := shownLook{Day: look.Day, Tool: look.Tool, Inputs: look.Inputs, Rules: []shownRule{}}
		for i, r := range look.Rules {
			of := look.Standings[i]
			rule := shownRule{ID: r.ID, Metric: r.Metric, Threshold: r.Threshold, Verdict: r.Verdict, Method: string(r.Method), Looks: string(r.Looks), Error: r.Error, Units: r.Units, Look: of.Look, asked: askedOf(&r)}
			for _, p := range r.Parts {
				rule.Decisions += p.Decisions
			}
			for _, f := range of.Findings {
				rule.Means = append(rule.Means, f.Message)
			}
			s.Rules = append(s.Rules, rule)
		}
		list = append(list, s)
	}
	if asJSON {
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Looks []shownLook `json:"looks"`
		}{list})
	}
	if len(list) == 0 {
		a.tell(a.Stdout, "The ledger holds no look.")
	}
	rows := [][]string{{"LINE", "DAY", "LOOK", "CHANGE", "VERDICT", "UNITS", "RECORDED", "ALL LOOKS"}}
	ids, of := []string{}, map[string][]int{} // the rules in the order in which they came, and the rows of each
	asked := map[int]string{}                 // what a rule asked from that row on
	last := map[string]string{}
	for i, look := range list {
		for _, r := range look.Rules {
			if of[r.ID] == nil {
				ids = append(ids, r.ID)
			}
			if last[r.ID] != r.asked {
				last[r.ID] = r.asked
				asked[len(rows)] = r.asked
			}
			of[r.ID] = append(of[r.ID], len(rows))
			rows = append(rows, []string{strconv.Itoa(i + 1), look.Day, strconv.Itoa(r.Look.Number), strings.ReplaceAll(string(r.Look.Change), "_", " "),
				summary.Word(r.Verdict), strconv.Itoa(r.Units), strconv.Itoa(r.Decisions), overAll(&r.Look)})
		}
	}
	lines := columns(rows)
	for i, id := range ids {
		if i > 0 {
			a.tell(a.Stdout, "")
		}
		for place, row := range of[id] {
			if what, changed := asked[row]; changed && place == 0 {
				a.tellWrapped("", "  ", "Rule "+diag.Quote(id)+": "+diag.Printable(what)+".")
				a.tell(a.Stdout, "  "+lines[0])
			} else if changed {
				a.tellWrapped("  ", "    ", "From line "+rows[row][0]+" on: "+diag.Printable(what)+".")
			}
			a.tell(a.Stdout, "  "+lines[row])
		}
	}
	if len(list) == 0 {
		return nil
	}
	a.tell(a.Stdout, "")
	a.tellWrapped("", "", "LOOK counts different data: a rerun is none. ALL LOOKS: over all looks so far, a verdict is wrong at most so often; broken where the interval does not hold over what has changed.")
	for _, r := range list[len(list)-1].Rules {
		for _, text := range r.Means {
			a.tell(a.Stdout, "")
			a.tellWrapped("", "", text)
		}
	}
	return nil
}

// overAll says in a word or two how often a verdict of all looks is wrong at most.
func overAll(l *report.Look) string {
	switch {
	case l.BrokenAt > 0:
		return "broken"
	case l.ErrorAtMost == 0:
		return "no bound"
	}
	return ledger.Percent(l.ErrorAtMost)
}

// columns are rows as lines, in which each column is as wide as its widest cell.
func columns(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		for j, cell := range row {
			lines[i] += fmt.Sprintf("%-*s  ", widths[j], cell)
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

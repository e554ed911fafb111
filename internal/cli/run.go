package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// request is what a run is asked to do, from the command line or from the action's inputs.
type request struct {
	verb        gate.Verb
	gate        gate.Gate         // nil: every section of the policy, which is then a release file
	policy      string            // path; "" for none
	declared    bool              // policy is the gate's own declaration, without which it cannot be asked
	texts       map[string][]byte // of policies that have been read already, by path
	beside      string            // path of the policy beside a declaration; "" for none
	files       []string          // decision files, relative to the working directory
	tallies     []string          // paths and globs of tallies that take the place of files
	noFiles     bool              // files need not be named
	section     string            // of a policy with several sections of the gate: the name of the one that is meant; "" for all
	flags       gate.Flags
	delimiter   rune   // 0: found in each file
	today       string // YYYY-MM-DD; "": the clock's day in UTC
	fs          fs.FS  // nil: the operating system's paths; else reading is confined to it
	certificate string // path that the certificate of a run that passes goes to; "" for none
	ledger      *book  // the ledger of looks; nil for none
	quiet       bool   // nothing is said of how far the run is
	workspace   string // the folder that fs is, where absolute paths into it may be given; "" elsewhere
}

// named are the files that the command line names to be read.
func (r request) named() []string {
	return append([]string{r.policy, r.beside, r.flags.Assignment, r.flags.Draw}, r.files...)
}

// maxPolicy is how many bytes of a policy are read: one more than engine/policy accepts.
const maxPolicy = 1<<20 + 1

// run carries out a request. It always returns a report; one that cannot be used has errors, and its exit
// status is report.ExitUnusable.
func (a *app) run(req request) *report.Report {
	diags := &diag.List{}
	out, err := a.evaluate(req, diags)
	if err != nil {
		diags.Add(diag.Diagnostic{Message: err.Error()})
	}
	if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok {
		return report.Unusable(a.Version, problem)
	}
	return out
}

// part is one gate's question within a run.
type part struct {
	gate     gate.Gate
	name     string // of its section; "" where it has none
	settings policy.Settings
	question gate.Question
	notes    []report.Finding // what is to be known of the policies, beside what the gate says
	inputs   []int            // which of the report's inputs are its
	contents []string         // the digests of what is in them, decompressed
	tallies  []*tally         // that are read in place of its files
}

// questions are those of the parts of a run.
func questions(parts []part) []gate.Question {
	list := make([]gate.Question, len(parts))
	for i, p := range parts {
		list[i] = p.question
	}
	return list
}

// evaluate goes through the steps of a run. Problems of the input go to diags; an error is a fault of ours.
func (a *app) evaluate(req request, diags *diag.List) (*report.Report, error) {
	out := report.New(a.Version)
	p, beside := a.loadPolicies(req, diags)
	tallies, ok := a.loadTallies(req, diags)
	req.noFiles = !ok
	parts := compile(req, p, beside, tallies, diags)
	claim(tallies, parts, diags)
	var families policy.Families
	if req.verb == gate.Decide {
		families = checkRules(cmp.Or(beside, p), parts, diags)
	}
	req.ledger.load(a, req.fs, diags)
	meter, stop := a.progress(parts, req.quiet)
	defer stop()
	for i := range parts {
		if req.noFiles { // what a tally was to take the place of is not known
			break
		}
		before := diags.Len()
		a.read(req, &parts[i], out, len(parts) > 1, meter, diags)
		if checker, ok := parts[i].question.(gate.RowsChecker); ok && diags.Len() == before {
			checker.CheckRows(diags)
		}
	}
	meter.decide()
	if diags.Len() > 0 {
		return nil, nil
	}

	context := gate.Context{Today: req.today, Digest: report.InputsDigest(out.Inputs)}
	if context.Today == "" {
		context.Today = a.Now().UTC().Format("2006-01-02")
	}
	if err := req.ledger.hold(parts); err != nil {
		return nil, fmt.Errorf("%w; this is a fault in oloproof", err)
	}
	held, err := gate.HoldBack(families, questions(parts))
	if err != nil {
		return nil, fmt.Errorf("%w; this is a fault in oloproof", err)
	}
	context.Held = held
	for _, part := range parts {
		answer, err := part.question.Answer(context)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; this is a fault in oloproof", part.gate.Name(), err)
		}
		answer.Gate.Findings = append(answer.Gate.Findings, part.notes...)
		req.ledger.tell(&answer.Gate)
		out.Gates = append(out.Gates, answer.Gate)
		locate(out.Inputs, part.inputs, answer.Located)
		for _, rule := range part.question.Rules() {
			if rule.Waive != nil {
				out.Today = context.Today
			}
		}
	}
	switch {
	case beside != nil:
		out.Policies = []report.File{fileOf(p), fileOf(beside)}
	case p != nil:
		file := fileOf(p)
		out.Policy = &file
	}
	out.Confidence = confidence(parts, p)
	if req.verb == gate.Decide {
		out.Decide()
		if err := req.ledger.add(out, context); err != nil {
			diags.Addf(diag.Pos{File: req.ledger.path}, "%v", err)
		}
	}
	return out, nil
}

// loadPolicies reads the policy of a request, or the declaration and the policy beside it; nil where there is none.
func (a *app) loadPolicies(req request, diags *diag.List) (p, beside *policy.Policy) {
	if req.policy == "" {
		if req.verb == gate.Decide {
			diags.Add(diag.Diagnostic{Message: "no policy: add --policy policy.yaml, or use `report` to see every measure without deciding"})
		}
		return nil, nil
	}
	p = a.loadPolicy(req, req.policy, diags)
	if req.beside != "" {
		beside = a.loadPolicy(req, req.beside, diags)
	}
	return p, beside
}

// loadPolicy reads and parses one file; nil where it cannot be used.
func (a *app) loadPolicy(req request, path string, diags *diag.List) *policy.Policy {
	a.opened = append(a.opened, path)
	data, known := req.texts[path]
	if !known {
		var err error
		if data, err = readFile(req.fs, path, maxPolicy); err != nil {
			diags.Addf(diag.Pos{File: path}, "cannot read the policy: %s", reason(err))
			return nil
		}
	}
	bare := ""
	if req.gate != nil {
		bare = req.gate.Section()
	}
	return policy.Load(policy.Parse(path, data, diags), kinds.Sections(), bare, a.Version)
}

// fileOf is a policy as the report lists it.
func fileOf(p *policy.Policy) report.File {
	return report.File{Path: p.Document.File, SHA256: p.Document.SHA256}
}

// readFile reads at most limit bytes of a regular file.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	var f fs.File
	var err error
	// Stat first: opening a FIFO would wait for a writer.
	if fsys != nil {
		name = path.Clean(filepath.ToSlash(name))
		if info, statErr := fs.Stat(fsys, name); statErr == nil && !info.Mode().IsRegular() {
			return nil, notAFile(info)
		}
		f, err = fsys.Open(name)
	} else {
		if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
			return nil, notAFile(info)
		}
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notAFile(info)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// notAFile says what a path names where it is no regular file.
func notAFile(info fs.FileInfo) error {
	if info.IsDir() {
		return errors.New("it is a folder; name a file")
	}
	return errors.New("it is not a regular file")
}

// reason is an error without the path, which the message already has.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	return diag.Cause(err.Error())
}

// compile turns the request and its policies into questions.
func compile(req request, p, beside *policy.Policy, tallies []*tally, diags *diag.List) []part {
	var parts []part
	ask := func(g gate.Gate, section *policy.Section) {
		// Clipped: each section adds the files that it names to a list of its own.
		source := gate.Source{Verb: req.verb, Section: section, Files: slices.Clip(req.files), Flags: req.flags}
		name := ""
		if section != nil {
			source.Settings, name = section.Settings, section.Name.Value
		}
		own := talliesOf(tallies, g, name)
		source.Tallies = len(own) > 0
		source.NoFiles = source.Tallies || req.noFiles
		var notes []report.Finding
		if section != nil && beside != nil {
			source.Beside, source.Settings = accompany(section, beside, len(p.Of(section.Key)) > 1, diags)
			if len(beside.Of(section.Key)) == 0 {
				notes = append(notes, report.Finding{Code: "policy_without_section", Severity: report.Warning, Count: 1,
					Message: fmt.Sprintf("%s has no section %s: none of its rules is decided here, and only what stands above its sections holds.", diag.Printable(beside.Document.File), section.Key)})
			}
		}
		parts = append(parts, part{gate: g, name: name, settings: source.Settings, question: g.Compile(source, diags), notes: notes, tallies: own})
	}
	switch {
	case req.gate == nil:
		if p != nil {
			for i, s := range p.Sections {
				ask(gateOf(s.Key), &p.Sections[i])
			}
		}
	case p == nil:
		if !req.declared {
			ask(req.gate, nil)
		}
	default:
		own := p.Of(req.gate.Section())
		switch {
		case len(own) == 1:
			ask(req.gate, own[0])
		case len(own) > 1 && len(req.files) == 0 && req.flags == (gate.Flags{ShowUnits: req.flags.ShowUnits, AssumeUniqueIDs: req.flags.AssumeUniqueIDs}): // each reads its own
			for _, s := range own {
				ask(req.gate, s)
			}
		case len(own) == 0:
			if len(p.Sections) > 0 {
				diags.Addf(p.Document.Pos(), "the policy has no section %s", req.gate.Section())
			}
			if !req.declared {
				ask(req.gate, nil)
			}
		default:
			diags.Addf(own[1].Pos, "the policy has %d sections %s, and which one the files belong to cannot be told; run `oloproof gate %s`, or keep one section in a policy of its own",
				len(own), req.gate.Section(), diag.Printable(p.Document.File))
			ask(req.gate, own[0])
		}
	}
	return parts
}

// accompany finds what a policy beside a gate's declaration says to one of its sections, nil for nothing, and merges
// the settings of the two. Of several sections of the gate it is the one of the same name.
func accompany(section *policy.Section, beside *policy.Policy, several bool, diags *diag.List) (*policy.Section, policy.Settings) {
	found := beside.Of(section.Key)
	var other *policy.Section
	switch {
	case len(found) == 0: // sections of other gates; what stands above them holds all the same
		return nil, policy.Merge(section.Settings, beside.Settings, diags)
	case found[0].Bare:
		if several && found[0].HasRules {
			diags.Addf(found[0].Map.KeyPos("rules"), "the declaration has several sections, and to which of them these rules belong cannot be told; put them under %s, each list with the name of its section", section.Key)
			return nil, section.Settings
		}
		other = found[0]
	case len(found) == 1 && !several:
		other = found[0]
		if a, b := section.Name, other.Name; a.Set && b.Set && a.Value != b.Value {
			diags.Addf(b.Pos, "name is %s here and %s in %s; say it once, or the same in both", diag.Quote(b.Value), diag.Quote(a.Value), a.Pos)
		}
	default:
		for _, s := range found {
			if s.Name.Set && s.Name.Value == section.Name.Value {
				other = s
			}
		}
		switch {
		case other == nil && section.Name.Set:
			diags.Addf(found[0].Pos, "no section %s here has the name %s of the section at %s", section.Key, diag.Quote(section.Name.Value), section.Pos)
		case other == nil:
			diags.Addf(section.Pos, "the section has no name, and %s has several sections %s, told apart by name; add the name of the one that belongs to it",
				diag.Printable(beside.Document.File), section.Key)
		}
	}
	if other == nil {
		return nil, section.Settings
	}
	return other, policy.Merge(section.Settings, other.Settings, diags)
}

// gateOf returns the gate of a section.
func gateOf(section string) gate.Gate {
	all := kinds.All()
	return all[slices.IndexFunc(all, func(g gate.Gate) bool { return g.Section() == section })]
}

// checkRules reports what is wrong with the rules of the run as a whole, whose policy is p, and joins them to the families that
// share their error, which it returns.
func checkRules(p *policy.Policy, parts []part, diags *diag.List) policy.Families {
	if p == nil || len(parts) == 0 {
		return nil
	}
	var lists [][]policy.Rule
	for _, part := range parts {
		lists = append(lists, part.question.Rules())
	}
	policy.CheckRules(p.Document.Pos(), diags, lists...)
	families := policy.NewFamilies(diags, lists...)
	for _, part := range parts {
		part.question.Share(families)
	}
	return families
}

// confidence is the run's: of its only question, or the top of the release file's.
func confidence(parts []part, p *policy.Policy) float64 {
	var settings policy.Settings
	switch {
	case len(parts) == 1:
		settings = parts[0].settings
	case p != nil:
		settings = p.Settings
	}
	return settings.Judging.WithDefaults().Confidence.Value
}

// read reads the files of one question.
func (a *app) read(req request, part *part, out *report.Report, several bool, meter *meter, diags *diag.List) {
	if len(part.tallies) > 0 {
		part.absorb(out, req.fs, several, diags)
		return
	}
	type source struct {
		file report.Input
		as   int // which of the question's inputs it is
	}
	read := map[string]source{} // by digest
	for as, in := range part.question.Inputs() {
		if len(in.Paths) == 0 { // the gate has reported it
			continue
		}
		paths := make([]string, len(in.Paths))
		for i, p := range in.Paths {
			paths[i] = inside(req.workspace, join(in.Base, p))
		}
		if slices.Contains(paths, "-") {
			what := "the " + roleName(in.Role) + " of " + part.gate.Name()
			if a.stdin != "" {
				diags.Addf(diag.Pos{File: "-"}, "standard input is given as %s and as %s, and can be read once: put one of them in a file", a.stdin, what)
				continue
			}
			a.stdin = what
		}
		inputs := in.Read(paths, rows.Options{Delimiter: req.delimiter, Contents: req.verb == gate.Tally, Stdin: a.Stdin, FS: req.fs, Progress: meter.next()}, diags)
		for _, file := range inputs {
			if file.Path != "-" {
				a.opened = append(a.opened, file.Path)
			}
			entry := report.Input{Path: file.Path, SHA256: file.SHA256, Bytes: file.Bytes, Rows: file.Rows, Role: in.Role}
			if several {
				entry.Gate, entry.Name = part.gate.Name(), part.name
			}
			for _, f := range file.Findings {
				entry.Findings = append(entry.Findings, report.InputFinding{Code: f.Code, Position: f.Position, Message: f.Message})
			}
			part.inputs, part.contents = append(part.inputs, len(out.Inputs)), append(part.contents, file.Content)
			out.Inputs = append(out.Inputs, entry)
			if earlier, again := read[file.SHA256]; !again {
				read[file.SHA256] = source{entry, as}
			} else if earlier.as != as && file.SHA256 != "" {
				diags.Addf(diag.Pos{File: file.Path}, "this is the same file as %s, which is given as the %s: the %s needs a file of its own",
					diag.Printable(earlier.file.Path), roleName(earlier.file.Role), roleName(in.Role))
			}
		}
	}
}

// roleName says what a gate's input is: the rows that it judges, where it has no role beside them.
func roleName(role string) string {
	if role == "" {
		return "rows"
	}
	return role
}

// join puts a path of a policy into its folder; standard input and absolute paths stay, and an empty one, which is
// reported when it is read.
func join(base, name string) string {
	if name == "" || base == "" || base == "." || name == "-" || filepath.IsAbs(name) || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(base, "/") + "/" + name
}

// inside makes an absolute path in the workspace relative to it, since reading is confined to that folder; other
// paths, and those of a run without a workspace, stay.
func inside(workspace, name string) string {
	if workspace == "" {
		return name
	}
	clean, folder := path.Clean(filepath.ToSlash(name)), strings.TrimSuffix(path.Clean(filepath.ToSlash(workspace)), "/")+"/"
	if rest, ok := strings.CutPrefix(clean, folder); ok {
		return rest
	}
	return name
}

// mostLocated is how many places of one finding are listed for one file.
const mostLocated = 20

// locate puts the places of findings under the inputs they are in.
func locate(inputs []report.Input, own []int, located []gate.Located) {
	slices.SortStableFunc(located, func(x, y gate.Located) int { return x.Pos.Compare(y.Pos) })
	for _, i := range own {
		listed := map[string]int{}
		for _, l := range located {
			if l.Pos.File != inputs[i].Path || listed[l.Code] == mostLocated {
				continue
			}
			listed[l.Code]++
			inputs[i].Findings = append(inputs[i].Findings, report.InputFinding{Code: l.Code, Position: l.Pos})
		}
	}
}

package cli

import (
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
	verb      gate.Verb
	gate      gate.Gate // nil: every section of the policy, which is then a release file
	policy    string    // path; "" for none
	files     []string  // decision files, relative to the working directory
	flags     gate.Flags
	delimiter rune   // 0: found in each file
	today     string // YYYY-MM-DD; "": the clock's day in UTC
	fs        fs.FS  // nil: the operating system's paths; else reading is confined to it
	workspace string // the folder that fs is, where absolute paths into it may be given; "" elsewhere
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
	question gate.Question
	inputs   []int // which of the report's inputs are its
}

// evaluate goes through the steps of a run. Problems of the input go to diags; an error is a fault of ours.
func (a *app) evaluate(req request, diags *diag.List) (*report.Report, error) {
	out := report.New(a.Version)
	document, p := a.loadPolicy(req, diags)
	parts := compile(req, p, diags)
	if req.verb == gate.Decide {
		checkRules(document, parts, diags)
	}
	stop := a.progress(parts)
	defer stop()
	for i := range parts {
		before := diags.Len()
		a.read(req, &parts[i], out, len(parts) > 1, diags)
		if checker, ok := parts[i].question.(gate.RowsChecker); ok && diags.Len() == before {
			checker.CheckRows(diags)
		}
	}
	if diags.Len() > 0 {
		return nil, nil
	}

	context := gate.Context{Today: req.today, Digest: report.InputsDigest(out.Inputs)}
	if context.Today == "" {
		context.Today = a.Now().UTC().Format("2006-01-02")
	}
	for _, part := range parts {
		answer, err := part.question.Answer(context)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; this is a fault in oloproof", part.gate.Name(), err)
		}
		out.Gates = append(out.Gates, answer.Gate)
		locate(out.Inputs, part.inputs, answer.Located)
		for _, rule := range part.question.Rules() {
			if rule.Waive != nil {
				out.Today = context.Today
			}
		}
	}
	if document != nil {
		out.Policy = &report.File{Path: document.File, SHA256: document.SHA256}
	}
	out.Confidence = confidence(p)
	if req.verb == gate.Decide {
		out.Decide()
	}
	return out, nil
}

// loadPolicy reads and parses the policy of a request; nil, nil where there is none.
func (a *app) loadPolicy(req request, diags *diag.List) (*policy.Document, *policy.Policy) {
	if req.policy == "" {
		if req.verb == gate.Decide {
			diags.Add(diag.Diagnostic{Message: "no policy: add --policy policy.yaml, or use `report` to see every measure without deciding"})
		}
		return nil, nil
	}
	a.opened = append(a.opened, req.policy)
	data, err := readFile(req.fs, req.policy, maxPolicy)
	if err != nil {
		diags.Addf(diag.Pos{File: req.policy}, "cannot read the policy: %s", reason(err))
		return nil, nil
	}
	document := policy.Parse(req.policy, data, diags)
	if document == nil {
		return nil, nil
	}
	bare := ""
	if req.gate != nil {
		bare = req.gate.Section()
	}
	return document, policy.Load(document, kinds.Sections(), bare, a.Version)
}

// readFile reads at most limit bytes of a regular file.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	var f fs.File
	var err error
	if fsys != nil {
		f, err = fsys.Open(path.Clean(filepath.ToSlash(name)))
	} else {
		// Stat first: opening a FIFO would wait for a writer.
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
	return err.Error()
}

// compile turns the request and its policy into questions.
func compile(req request, p *policy.Policy, diags *diag.List) []part {
	var parts []part
	ask := func(g gate.Gate, section *policy.Section) {
		source := gate.Source{Verb: req.verb, Section: section, Files: req.files, Flags: req.flags}
		if section != nil {
			source.Settings = section.Settings
		}
		parts = append(parts, part{gate: g, question: g.Compile(source, diags)})
	}
	switch {
	case req.gate == nil:
		if p != nil {
			for i, s := range p.Sections {
				ask(gateOf(s.Key), &p.Sections[i])
			}
		}
	case p == nil:
		ask(req.gate, nil)
	default:
		var own []*policy.Section
		for i := range p.Sections {
			if p.Sections[i].Key == req.gate.Section() {
				own = append(own, &p.Sections[i])
			}
		}
		switch {
		case len(own) == 1:
			ask(req.gate, own[0])
		case len(own) > 1 && len(req.files) == 0 && req.flags == (gate.Flags{ShowUnits: req.flags.ShowUnits}): // each reads its own
			for _, s := range own {
				ask(req.gate, s)
			}
		case len(own) == 0:
			if len(p.Sections) > 0 {
				diags.Addf(p.Document.Pos(), "the policy has no section %s", req.gate.Section())
			}
			ask(req.gate, nil)
		default:
			diags.Addf(own[1].Pos, "the policy has %d sections %s, and which one the files belong to cannot be told; run `oloproof gate %s`, or keep one section in a policy of its own",
				len(own), req.gate.Section(), diag.Printable(p.Document.File))
			ask(req.gate, own[0])
		}
	}
	return parts
}

// gateOf returns the gate of a section.
func gateOf(section string) gate.Gate {
	all := kinds.All()
	return all[slices.IndexFunc(all, func(g gate.Gate) bool { return g.Section() == section })]
}

// checkRules reports what is wrong with the rules of the run as a whole.
func checkRules(document *policy.Document, parts []part, diags *diag.List) {
	if document == nil || len(parts) == 0 {
		return
	}
	var lists [][]policy.Rule
	for _, part := range parts {
		lists = append(lists, part.question.Rules())
	}
	policy.CheckRules(document.Pos(), diags, lists...)
}

// confidence is the run's: its only section's, or the top of the release file's.
func confidence(p *policy.Policy) float64 {
	var settings policy.Settings
	switch {
	case p == nil:
	case len(p.Sections) == 1:
		settings = p.Sections[0].Settings
	default:
		settings = p.Settings
	}
	return settings.Judging.WithDefaults().Confidence.Value
}

// read reads the files of one question.
func (a *app) read(req request, part *part, out *report.Report, several bool, diags *diag.List) {
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
		inputs := rows.Read(paths, rows.Options{
			Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues, Delimiter: req.delimiter, Stdin: a.Stdin, FS: req.fs,
		}, func(r rows.Row) { in.Add(r, diags) }, diags)
		for _, file := range inputs {
			if file.Path != "-" {
				a.opened = append(a.opened, file.Path)
			}
			entry := report.Input{Path: file.Path, SHA256: file.SHA256, Bytes: file.Bytes, Rows: file.Rows, Role: in.Role}
			if several {
				entry.Gate = part.gate.Name()
			}
			for _, f := range file.Findings {
				entry.Findings = append(entry.Findings, report.InputFinding{Code: f.Code, Position: f.Position, Message: f.Message})
			}
			part.inputs = append(part.inputs, len(out.Inputs))
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

package policy

import (
	"fmt"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// SectionSpec is a kind of section that a release file can hold.
type SectionSpec struct {
	Key  string // such as "human_ai"
	Gate string // the gate's name on the command line, such as "human-ai"
}

// Policy is a policy file: its settings and its sections.
type Policy struct {
	Document *Document
	Settings Settings  // at the top of the file; of bare rules, the section's own
	Sections []Section // in the order of the SectionSpecs, then of the file; one where rules are bare
}

// Section is what a policy says to one gate.
type Section struct {
	Key      string   // of its SectionSpec, also where its rules are bare
	Bare     bool     // the section is the whole file
	Name     Text     // not set: none
	Settings Settings // its own, and those at the top of the file
	Map      *Map     // for the gate's own keys; the gate calls Map.Done(section.Context())
	Pos      diag.Pos // of the section's key; of the file where its rules are bare
	HasRules bool     // the key rules is given
	rules    []*Map
}

// Of returns the sections of one kind, in the order of the file.
func (p *Policy) Of(key string) []*Section {
	var list []*Section
	for i := range p.Sections {
		if p.Sections[i].Key == key {
			list = append(list, &p.Sections[i])
		}
	}
	return list
}

// Context is how messages speak of the section: "section human_ai", or "the policy" where its rules are bare.
func (s *Section) Context() string {
	switch {
	case s.Bare:
		return "the policy"
	case s.Name.Set:
		return fmt.Sprintf("section %s %s", s.Key, diag.Quote(s.Name.Value))
	}
	return "section " + s.Key
}

// Load reads the settings and finds the sections of a document. specs lists the sections that a release file
// can hold. bare is the Key of the section that a file without sections stands for, that is the gate named on
// the command line, or empty where none was named; such a file is then an error. version is this program's,
// for requires. Load returns nil for a nil document.
//
// The keys of a section that Load does not know are the gate's, which reads them from Section.Map and calls Done.
func Load(doc *Document, specs []SectionSpec, bare, version string) *Policy {
	if doc == nil {
		return nil
	}
	root := doc.Root
	p := &Policy{Document: doc, Settings: readSettings(root)}
	p.Settings.Requires = root.Text("requires")
	checkRequires(p.Settings.Requires, version, root.diags)

	var keys []string
	hasSection := false
	for _, spec := range specs {
		keys = append(keys, spec.Key)
		hasSection = hasSection || root.Has(spec.Key)
	}
	if hasSection {
		if root.Has("rules") {
			root.Errorf(root.KeyPos("rules"), "found rules beside sections; move the rules into the section of their gate")
		}
		if n := p.Settings.Planned; n.Set {
			root.Errorf(n.Pos, "planned counts the units of one gate; move it into a section or a rule")
		}
		for _, key := range keys {
			p.Sections = append(p.Sections, readSections(root, key, p.Settings)...)
		}
		root.take("rules") // known, and reported above
		root.Done("the policy")
		return p
	}
	for _, key := range keys {
		root.take(key) // so that a misspelt section is told its name
	}
	if bare == "" {
		if _, bareRules := root.take("rules"); !bareRules { // bare rules belong to a gate whose keys are not known here; without them, a section may be misspelt
			root.Done("the policy")
		}
		root.Errorf(doc.Pos(), "no section says which gate decides: put everything but confidence under %s, or run the gate's own command, such as `oloproof %s gate FILE --policy %s`",
			strings.Join(keys, ", "), specs[0].Gate, diag.Printable(doc.File))
		return p
	}
	s := Section{Key: bare, Bare: true, Map: root, Settings: p.Settings, Pos: doc.Pos()}
	s.read()
	p.Sections = []Section{s}
	return p
}

// readSections reads the sections under key: one mapping, or a list of mappings with distinct names.
func readSections(root *Map, key string, top Settings) []Section {
	v, ok := root.take(key)
	if !ok {
		return nil
	}
	var maps []*Map
	switch {
	case v.kind == mapping:
		maps = []*Map{v.m}
	case v.kind == list && len(v.items) == 0:
		root.Errorf(v.pos, "%s is an empty list; give it a section, or leave it out", key)
	default:
		maps = root.maps(key, v, "a mapping or a list of mappings is wanted")
	}
	var out []Section
	names := map[string]diag.Pos{}
	for _, m := range maps {
		s := Section{Key: key, Map: m, Settings: readSettings(m).Within(top), Pos: root.KeyPos(key)}
		s.read()
		if v.kind == list {
			s.Pos = m.Pos()
			if !m.Has("name") {
				m.Errorf(m.Pos(), "a section in a list has no name; each needs its own, such as name: loan-screen")
			}
		}
		if first, ok := names[s.Name.Value]; ok && s.Name.Set {
			m.Errorf(s.Name.Pos, "the name %s is taken by the section on line %d; sections of one gate need distinct names", diag.Quote(s.Name.Value), first.Line)
		} else if s.Name.Set {
			names[s.Name.Value] = s.Name.Pos
		}
		out = append(out, s)
	}
	return out
}

// read reads what every section has beside its settings: a name and the list of rules.
func (s *Section) read() {
	s.Name = words(s.Map, "name")
	s.HasRules = s.Map.Has("rules")
	s.rules = s.Map.Maps("rules")
	if v, ok := s.Map.take("rules"); ok && v.kind == list && len(v.items) == 0 {
		s.Map.Errorf(s.Map.KeyPos("rules"), "rules is an empty list; give it a rule, or leave it out")
	}
}

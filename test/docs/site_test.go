package docs

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// menuGroup is a part of the site's menu, as in site/pages.json.
type menuGroup struct {
	Group string
	Pages []struct{ Path, Title string }
}

func readMenu(t *testing.T) []menuGroup {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "site", "pages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var groups []menuGroup
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatalf("site/pages.json: %v", err)
	}
	return groups
}

// TestMenu: every page of docs is in the site's menu once, the menu has no other, and each of its groups is one that the
// site's settings know.
func TestMenu(t *testing.T) {
	var inMenu, inFolder, groups []string
	for _, g := range readMenu(t) {
		groups = append(groups, g.Group)
		for _, p := range g.Pages {
			inMenu = append(inMenu, p.Path)
			if p.Title == "" || len(p.Title) > 34 {
				t.Errorf("site/pages.json: the title %q of %s has no place in the menu", p.Title, p.Path)
			}
		}
	}
	folder := filepath.Join(root, "docs")
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			relative, err := filepath.Rel(folder, name)
			inFolder = append(inFolder, filepath.ToSlash(relative))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "pages: add a new one to a group of site/pages.json", inMenu, inFolder)
	same(t, "groups of the menu", groups, []string{"Start", "Gates", "In CI", "Trust", "Scale", "Misconceptions", "Reference"})
	for _, d := range documents(t) { // what is in the menu is tested as the others are
		inFolder = slices.DeleteFunc(inFolder, func(p string) bool { return "docs/"+p == d.path })
	}
	if len(inFolder) > 0 {
		t.Errorf("no test reads %v", inFolder)
	}
}

var (
	decimal      = regexp.MustCompile(`\b\d+\.\d+\b`)
	linkedToGrid = regexp.MustCompile(`\]\(\.\./coverage\.md#([^)]+)\)`)
)

// TestMisconceptions: each page says what is believed, why that misleads, with an example that is run, and what to do
// instead, where it names a page of a gate; and each decimal number of its prose is printed or computed on that page, or
// stands in the cited part of the coverage grid.
func TestMisconceptions(t *testing.T) {
	grid := readDocument(t, "docs/coverage.md")
	pages := 0
	for _, d := range documents(t) {
		if !strings.HasPrefix(d.path, "docs/misconceptions/") {
			continue
		}
		pages++
		text := strings.Join(d.lines, "\n")
		at := 0
		for _, part := range []string{"# ", "\n**The belief:** ", "\n**Why it misleads:** ", "\n## An example\n", "\n```console\n$ oloproof ", "\n## What to do instead\n"} {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Fatalf("%s has no %q after its character %d", d.path, part, at)
			}
			at += i
		}
		if !regexp.MustCompile(`\]\(\.\./(human-ai|anchoring|compare|fairness)\.md`).MatchString(text[at:]) {
			t.Errorf("%s: what to do instead names no gate", d.path)
		}

		sources := ""
		for _, b := range d.blocks(t) {
			sources += d.text(b)
		}
		prose := d.prose(t)
		for _, line := range prose {
			if strings.HasPrefix(line, "|") { // tables are computed, which TestComputed sees, or hold no numbers
				sources += line + "\n"
			}
			for _, m := range linkedToGrid.FindAllStringSubmatch(line, -1) {
				sources += section(t, grid, m[1])
			}
		}
		numbers := 0
		for i, line := range prose {
			for _, number := range decimal.FindAllString(codeSpan.ReplaceAllString(line, ""), -1) {
				numbers++
				if !slices.Contains(decimal.FindAllString(sources, -1), number) {
					t.Errorf("%s:%d: %s is neither printed nor computed on this page, nor in what it cites", d.path, i+1, number)
				}
			}
		}
		if numbers < 2 {
			t.Errorf("%s: an example has numbers, and here are %d", d.path, numbers)
		}
	}
	if pages < 5 {
		t.Errorf("there are only %d pages on misconceptions", pages)
	}
}

// section is the text under the heading of a document that an anchor names, up to the next heading.
func section(t *testing.T, d *document, anchor string) string {
	t.Helper()
	within, text := false, ""
	for _, line := range d.lines {
		if headingTag.MatchString(line) {
			one := &document{lines: []string{line}}
			within = one.anchors(t)[anchor]
		}
		if within {
			text += line + "\n"
		}
	}
	if text == "" {
		t.Errorf("%s has no heading #%s", d.path, anchor)
	}
	return text
}

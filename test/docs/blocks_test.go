// Package docs holds the documents to the program: every command that they show is run and its output
// compared, every policy and workflow is read, every table of names is compared with the code, every
// computed number is computed again, and every link leads somewhere.
//
// What a fenced block of a document may be, by its info string:
//
//	console                commands after "$ " and what they print; see console_test.go
//	yaml policy            a policy, checked as `oloproof policy check` does and against the schema; bare rules
//	                       of another gate than human-ai say gate=NAME
//	yaml workflow          a workflow of GitHub or of what runs its workflows, its inputs compared with action.yml
//	yaml, groovy or sh pipeline
//	                       a recipe for another platform; its oloproof commands are run, and YAML is parsed
//	csv, yaml … file=NAME  also written to that file, for the commands that follow in the document
//	sh                     a command that is not run here; see notRun
//	text                   anything else
//
// `go test ./test/docs -update` rewrites what commands print and what is computed; the difference is
// then read like code.
package docs

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the outputs and computed tables of the documents")

// root is the repository's own folder.
const root = "../.."

// document is a Markdown file, line by line.
type document struct {
	path  string // relative to the repository, with forward slashes
	file  string // where it is; absolute, because commands are run in another folder
	lines []string
}

// block is a fenced block of a document.
type block struct {
	language string
	words    []string // of the info string, after the language
	line     int      // of the opening fence, from 1
	from, to int      // its body is lines[from:to]
}

// has reports whether the info string has a word.
func (b block) has(word string) bool { return slices.Contains(b.words, word) }

// setting is the VALUE of a word KEY=VALUE, "" without one.
func (b block) setting(key string) string {
	for _, w := range b.words {
		if value, found := strings.CutPrefix(w, key+"="); found {
			return value
		}
	}
	return ""
}

// fileName is the NAME of file=NAME, "" without one.
func (b block) fileName() string { return b.setting("file") }

// documents reads every document of the repository: the README, docs with its pages for platforms and on misconceptions, and what .github holds.
func documents(t *testing.T) []*document {
	t.Helper()
	paths := []string{"README.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/ci/*.md", "docs/misconceptions/*.md", ".github/*.md"} {
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(matches) == 0 {
			t.Fatalf("%s matches %d files (%v)", pattern, len(matches), err)
		}
		for _, m := range matches {
			relative, err := filepath.Rel(root, m)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, filepath.ToSlash(relative))
		}
	}
	var list []*document
	for _, p := range paths {
		list = append(list, readDocument(t, p))
	}
	return list
}

// readDocument reads one document.
func readDocument(t *testing.T, path string) *document {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &document{path, file, strings.Split(string(text), "\n")}
}

// write writes the document back.
func (d *document) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(d.file, []byte(strings.Join(d.lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// text is the body of a block.
func (d *document) text(b block) string {
	return strings.Join(d.lines[b.from:b.to], "\n") + "\n"
}

// blocks returns the fenced blocks in order. A fence stands at the start of its line and is closed.
func (d *document) blocks(t *testing.T) []block {
	t.Helper()
	var list []block
	var open *block
	for i, line := range d.lines {
		switch {
		case open != nil && line == "```":
			open.to = i
			list, open = append(list, *open), nil
		case open == nil && strings.HasPrefix(line, "```"):
			words := strings.Fields(strings.TrimPrefix(line, "```"))
			if len(words) == 0 {
				t.Fatalf("%s:%d: a block without a language is not checked by anything", d.path, i+1)
			}
			open = &block{language: words[0], words: words[1:], line: i + 1, from: i + 1}
		case open == nil && strings.HasPrefix(strings.TrimSpace(line), "```"):
			t.Fatalf("%s:%d: an indented fence is not checked by anything", d.path, i+1)
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is never closed", d.path, open.line)
	}
	return list
}

// replace puts new bodies in place of the blocks' own.
func (d *document) replace(blocks []block, bodies map[int]string) {
	for _, b := range slices.Backward(blocks) {
		if body, found := bodies[b.line]; found {
			d.lines = slices.Replace(d.lines, b.from, b.to, strings.Split(strings.TrimSuffix(body, "\n"), "\n")...)
		}
	}
}

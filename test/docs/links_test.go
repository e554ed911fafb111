package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	linkForm   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	headingTag = regexp.MustCompile(`^#{1,6} (.*)$`)
)

// prose returns a document's lines outside of its blocks, by number; lines inside are empty.
func (d *document) prose(t *testing.T) []string {
	t.Helper()
	lines := append([]string(nil), d.lines...)
	for _, b := range d.blocks(t) {
		for i := b.from - 1; i <= b.to; i++ {
			lines[i] = ""
		}
	}
	return lines
}

// anchors are the names by which GitHub lets headings be linked: lower case, spaces to hyphens, punctuation
// dropped.
func (d *document) anchors(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, line := range d.prose(t) {
		m := headingTag.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return names
}

// TestLinks follows every link inside the repository.
func TestLinks(t *testing.T) {
	all := map[string]*document{}
	for _, d := range documents(t) {
		all[d.path] = d
	}
	followed := 0
	for _, d := range documents(t) {
		for i, line := range d.prose(t) {
			for _, m := range linkForm.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				target, err := url.Parse(m[1])
				if err != nil {
					t.Errorf("%s:%d: %v", d.path, i+1, err)
					continue
				}
				if target.Scheme != "" {
					continue
				}
				followed++
				to := d.path
				if target.Path != "" {
					to = path.Join(path.Dir(d.path), target.Path)
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
					t.Errorf("%s:%d: the link %s leads nowhere", d.path, i+1, m[1])
				} else if target.Fragment != "" && (all[to] == nil || !all[to].anchors(t)[target.Fragment]) {
					t.Errorf("%s:%d: %s has no heading #%s", d.path, i+1, to, target.Fragment)
				}
			}
		}
	}
	if followed < 10 {
		t.Errorf("only %d links were found", followed)
	}
}

// unkept are words that promise what no program can keep.
var unkept = regexp.MustCompile(`(?i)\b(compliant|compliance|certified|fair|unbiased|trustworthy|state[- ]of[- ]the[- ]art|best[- ]in[- ]class)\b`)

// TestPromises keeps such words out of the documents: the program decides rules, not whether a system is good.
func TestPromises(t *testing.T) {
	for _, d := range documents(t) {
		for i, line := range d.lines {
			if word := unkept.FindString(line); word != "" {
				t.Errorf("%s:%d: %q is more than the program can say", d.path, i+1, word)
			}
		}
	}
}

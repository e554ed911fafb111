//go:build linux

// Package page opens the report's HTML pages in a real browser, a headless Chromium, and holds them to what a reader would run into: they are
// accessible by axe-core's rules (WCAG 2.2 AA), in light and dark and at three widths; nothing is wider than the window, nothing is
// folded on paper, nothing is written to the console and nothing is asked of any other place.
//
// It needs Chromium, whose path OLOPROOF_CHROMIUM gives, and Node with the packages puppeteer-core and axe-core in the folder that
// OLOPROOF_PAGE names. Where these are not set it is skipped; with them nothing is. OLOPROOF_PICTURES names a folder for screenshots, to be
// looked at; without it none is taken.
package page

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

const root = "../.."

// stored are reports of summary's tests: one of several gates compared with an earlier one, one of every hostile text, one of what was
// only read, and one of hostile errors.
var stored = []string{"baseline", "hostile", "check", "hostile_errors"}

// look is what was found of one page at one width.
type look struct {
	Page, Scheme string
	Width        int
	Problems     []string
}

// TestPages: every page is sound at every width, in light and dark, and on paper.
func TestPages(t *testing.T) {
	chromium, packages := os.Getenv("OLOPROOF_CHROMIUM"), os.Getenv("OLOPROOF_PAGE")
	if chromium == "" || packages == "" {
		t.Skip("set OLOPROOF_CHROMIUM and OLOPROOF_PAGE to open pages in a browser")
	}
	folder := t.TempDir()
	pages := examples(t, folder)
	for _, name := range stored {
		pages = append(pages, write(t, folder, name))
	}
	asked, err := json.Marshal(map[string]any{"chromium": chromium, "pages": pages, "pictures": os.Getenv("OLOPROOF_PICTURES")})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/look.mjs")
	cmd.Env = append(os.Environ(), "OLOPROOF_PAGE="+packages)
	cmd.Stdin = bytes.NewReader(asked)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failed.Bytes())
	}
	var looks []look
	if err := json.Unmarshal(out, &looks); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	seen := map[string][]string{}
	for _, l := range looks {
		seen[l.Page] = append(seen[l.Page], l.Scheme)
		for _, problem := range l.Problems {
			t.Errorf("%s, %s, %d wide: %s", l.Page, l.Scheme, l.Width, problem)
		}
	}
	for _, page := range pages { // five windows and a sheet of paper each
		if got := seen[filepath.Base(page)]; !slices.Equal(got, []string{"light", "light", "light", "dark", "dark", "print"}) {
			t.Errorf("%s was looked at in %v", page, got)
		}
	}
}

// TestLookFindsFaults: a page with every fault that is looked for is told apart from a sound one, so that TestPages can fail.
func TestLookFindsFaults(t *testing.T) {
	chromium, packages := os.Getenv("OLOPROOF_CHROMIUM"), os.Getenv("OLOPROOF_PAGE")
	if chromium == "" || packages == "" {
		t.Skip("set OLOPROOF_CHROMIUM and OLOPROOF_PAGE to open pages in a browser")
	}
	bad := filepath.Join(t.TempDir(), "bad.html")
	const source = `<!DOCTYPE html><html><head><meta charset="utf-8"><style>@media print{details{display:block}}</style></head><body>
<script>console.log("said"); setTimeout(() => { throw new Error("thrown") }, 0)</script>
<img src="http://127.0.0.1:9/elsewhere.png"><p style="width:2000px;color:#ddd;background:#fff">faint</p>
<details><summary>more</summary><p>folded</p></details></body></html>`
	if err := os.WriteFile(bad, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(map[string]any{"chromium": chromium, "pages": []string{bad}, "pictures": ""})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/look.mjs")
	cmd.Env = append(os.Environ(), "OLOPROOF_PAGE="+packages)
	cmd.Stdin = bytes.NewReader(asked)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"console: said", "error: thrown", "request: http://127.0.0.1:9/elsewhere.png", "wider than the window", "it has a script", "the skip link", "axe color-contrast", "axe image-alt", "axe html-has-lang", "folded on paper: more"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not found in %s", want, out)
		}
	}
}

// examples decides every example with the program, and returns the pages that it writes.
func examples(t *testing.T, folder string) (pages []string) {
	t.Helper()
	program := filepath.Join(folder, "oloproof")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := func(args ...string) []byte {
		cmd := exec.Command(program, args...)
		cmd.Dir = folder
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() <= 0 || cmd.ProcessState.ExitCode() == report.ExitUnusable {
			t.Fatalf("oloproof %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	for _, name := range []string{"human-ai", "anchoring", "compare", "fairness"} {
		// The last line that init prints is the command that decides what it wrote.
		lines := strings.Split(strings.TrimSpace(string(run("init", "--example", name, name))), "\n")
		command := strings.Fields(lines[len(lines)-1])
		run(append(command[1:], "--format", "html:"+name+".html")...)
		pages = append(pages, filepath.Join(folder, name+".html"))
	}
	return pages
}

// write writes the page of a stored report.
func write(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "summary", "testdata", "report", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	r := new(report.Report)
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := summary.HTML(&page, r, summary.Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, name+".html")
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Package site looks at the built site of the documents (folder site): that every page is there and can be reached, that
// the first page leads to what a newcomer wants, that every link and every heading linked to exists, that the search knows
// every page, and that a page loads nothing from elsewhere.
//
// It needs the site, built by npm from the folder site, so it runs only where OLOPROOF_SITE names the folder of the built
// pages, as in the stage "site" of .ci/run, and skips nothing there.
package site

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// built returns the folder of the built pages.
func built(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("OLOPROOF_SITE")
	if folder == "" {
		t.Skip("OLOPROOF_SITE names no built site; `bash .ci/run site` builds one and runs this")
	}
	return folder
}

// site is what is read of the built site.
type site struct {
	base  string            // what its addresses begin with, such as "/oloproof/"
	files map[string]string // every file's text, by its path in the site
}

func readSite(t *testing.T) site {
	t.Helper()
	folder := built(t)
	s := site{files: map[string]string{}}
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		s.files[filepath.ToSlash(relative)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`href="([^"]*/)assets/style\.`).FindStringSubmatch(s.files["index.html"])
	if m == nil {
		t.Fatal("index.html is missing, or has no style")
	}
	s.base = m[1]
	return s
}

// pages are the paths of the site's pages, sorted; the page for what is not found is none of them.
func (s site) pages() []string {
	var list []string
	for name := range s.files {
		if strings.HasSuffix(name, ".html") && name != "404.html" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// tag is an element's start tag.
type tag struct {
	name       string
	attributes map[string]string
}

// The generator writes names in lower case and every value in double quotes.
var (
	tagForm       = regexp.MustCompile(`<([a-z][a-z0-9-]*)((?:\s+[^\s=>"/]+(?:="[^"]*")?)*)\s*/?>`)
	attributeForm = regexp.MustCompile(`([^\s=>"/]+)(?:="([^"]*)")?`)
)

// tags lists the start tags of a page.
func tags(page string) []tag {
	var list []tag
	for _, m := range tagForm.FindAllStringSubmatch(page, -1) {
		e := tag{m[1], map[string]string{}}
		for _, a := range attributeForm.FindAllStringSubmatch(m[2], -1) {
			e.attributes[a[1]] = html.UnescapeString(a[2])
		}
		list = append(list, e)
	}
	return list
}

// target is where a link of a page leads inside the site: a file of it and the id of an element; inside is false for a
// link to elsewhere.
func (s site) target(t *testing.T, from, href string) (file, id string, inside bool) {
	t.Helper()
	to, err := url.Parse(href)
	if err != nil {
		t.Errorf("%s: the link %q: %v", from, href, err)
		return "", "", false
	}
	if to.Scheme != "" || to.Host != "" {
		return "", "", false
	}
	to = (&url.URL{Path: s.base + from}).ResolveReference(to)
	file, inBase := strings.CutPrefix(to.Path, s.base)
	if !inBase {
		t.Errorf("%s: the link %q leads out of the site", from, href)
		return "", "", false
	}
	if file == "" || strings.HasSuffix(file, "/") {
		file += "index.html"
	}
	return file, to.Fragment, true
}

// links are the pages that a page's text leads to, the menus around it left out where main says so.
func (s site) links(t *testing.T, from string, main bool) []string {
	t.Helper()
	text := s.files[from]
	if main {
		_, text, _ = strings.Cut(text, "<main")
		text, _, _ = strings.Cut(text, "</main>")
	}
	var list []string
	for _, e := range tags(text) {
		if href, has := e.attributes["href"]; has && e.name == "a" {
			if file, _, inside := s.target(t, from, href); inside && !slices.Contains(list, file) {
				list = append(list, file)
			}
		}
	}
	return list
}

// listed reads site/pages.json, the one list of pages, as paths of built pages.
func listed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "site", "pages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Pages []struct{ Path string }
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, g := range groups {
		for _, p := range g.Pages {
			list = append(list, strings.TrimSuffix(p.Path, ".md")+".html")
		}
	}
	slices.Sort(list)
	return list
}

func TestEveryPageIsThereAndWhole(t *testing.T) {
	s := readSite(t)
	if diff := cmp.Diff(listed(t), s.pages()); diff != "" {
		t.Errorf("pages (-in site/pages.json +built):\n%s", diff)
	}
	for _, page := range s.pages() {
		source, err := os.ReadFile(filepath.Join(root, "docs", strings.TrimSuffix(page, ".html")+".md"))
		if err != nil {
			t.Fatal(err)
		}
		// A page that could not be drawn ends early, and the generator goes on: every heading has to be there.
		headings, inBlock := 0, false
		for line := range strings.Lines(string(source)) {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
			} else if !inBlock && regexp.MustCompile(`^#{1,6} `).MatchString(line) {
				headings++
			}
		}
		if got := len(regexp.MustCompile(`<h[1-6] id=`).FindAllString(s.files[page], -1)); got != headings {
			t.Errorf("%s has %d headings, its source %d", page, got, headings)
		}
		if !strings.HasSuffix(strings.TrimSpace(s.files[page]), "</html>") {
			t.Errorf("%s does not end as a page does", page)
		}
	}
}

// TestEveryPageIsReached follows links from the first page, the menus' included.
func TestEveryPageIsReached(t *testing.T) {
	s := readSite(t)
	seen := []string{"index.html"}
	for i := 0; i < len(seen); i++ {
		for _, to := range s.links(t, seen[i], false) {
			if strings.HasSuffix(to, ".html") && !slices.Contains(seen, to) {
				seen = append(seen, to)
			}
		}
	}
	slices.Sort(seen)
	if diff := cmp.Diff(s.pages(), seen); diff != "" {
		t.Errorf("pages (-built +reached from the first):\n%s", diff)
	}
}

// TestTheFirstPageLeads: from the text of the first page, how to gate a pull request is one click away, and a workflow to
// paste is there; the action's page and the recipes are two at most; each gate and misconception is one.
func TestTheFirstPageLeads(t *testing.T) {
	s := readSite(t)
	first := s.links(t, "index.html", true)
	wanted := []string{"start.html", "compare.html", "human-ai.html", "anchoring.html", "fairness.html", "methods.html", "coverage.html"}
	for _, page := range s.pages() {
		if strings.HasPrefix(page, "misconceptions/") {
			wanted = append(wanted, page)
		}
	}
	if len(wanted) < 12 {
		t.Errorf("only %d pages are wanted of the first one", len(wanted))
	}
	for _, page := range wanted {
		if !slices.Contains(first, page) {
			t.Errorf("the first page does not lead to %s", page)
		}
	}
	_, text, _ := strings.Cut(s.files["index.html"], "<main")
	if !regexp.MustCompile(`<a href="[^"]*start\.html">Gate a pull request`).MatchString(text) {
		t.Error("the first page does not say how to gate a pull request")
	}
	start := s.files["start.html"]
	for _, part := range []string{"Gate a pull request", "pull_request", "oloproof/oloproof@", "release.yaml"} {
		if !strings.Contains(start, part) {
			t.Errorf("start.html does not have %q", part)
		}
	}
	second := slices.Clone(first)
	for _, page := range first {
		second = append(second, s.links(t, page, true)...)
	}
	for _, page := range []string{"action.html", "recipes.html"} {
		if !slices.Contains(second, page) {
			t.Errorf("%s is more than two clicks away", page)
		}
	}
}

// TestLinksOfThePages: every link inside the site leads to a file and to an element of it, and every link to the
// repository to a file of it.
func TestLinksOfThePages(t *testing.T) {
	s := readSite(t)
	ids := map[string]map[string]bool{}
	for _, page := range s.pages() {
		ids[page] = map[string]bool{}
		for _, e := range tags(s.files[page]) {
			if id := e.attributes["id"]; id != "" {
				ids[page][id] = true
			}
		}
	}
	followed, outside := 0, 0
	const repository = "https://github.com/oloproof/oloproof/"
	for _, page := range s.pages() {
		for _, e := range tags(s.files[page]) {
			href, has := e.attributes["href"]
			if e.name != "a" || !has {
				continue
			}
			if file, found := strings.CutPrefix(href, repository+"blob/main/"); found {
				outside++
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
					t.Errorf("%s: the link %s leads nowhere", page, href)
				}
			}
			if file, found := strings.CutPrefix(href, repository+"edit/main/docs/"); found {
				if want := strings.TrimSuffix(page, ".html") + ".md"; file != want {
					t.Errorf("%s is changed by %s", page, href)
				}
			}
			file, id, inside := s.target(t, page, href)
			if !inside {
				continue
			}
			followed++
			switch {
			case s.files[file] == "":
				t.Errorf("%s: the link %s leads nowhere", page, href)
			case id != "" && !ids[file][id]:
				t.Errorf("%s: %s has no element #%s", page, file, id)
			}
		}
	}
	if followed < 500 || outside < 2 {
		t.Errorf("only %d links inside and %d to the repository were found", followed, outside)
	}
}

// loads are the attributes by which an element fetches what they name, without a click.
var loads = map[string][]string{
	"script": {"src"}, "link": {"href"}, "img": {"src", "srcset"}, "source": {"src", "srcset"}, "iframe": {"src"}, "video": {"src", "poster"},
	"audio": {"src"}, "embed": {"src"}, "object": {"data"}, "use": {"href", "xlink:href"}, "image": {"href", "xlink:href"}, "form": {"action"},
	"base": {"href"}, "input": {"src", "formaction"}, "button": {"formaction"}, "track": {"src"}, "a": {"ping"},
}

// elsewhere reports whether an address is on another host; data: and addresses of the site are not.
func elsewhere(address string) bool {
	to, err := url.Parse(strings.TrimSpace(address))
	return err != nil || to.Host != "" || to.Scheme != "" && to.Scheme != "data"
}

// unloaded are the beginnings of addresses that scripts hold and that no page asks for, with the reason. What is not here
// and not the address of a link on a page has no place in a script.
var unloaded = map[string]string{
	"http://www.w3.org/":                         "names of XML",
	"https://vuejs.org/error-reference/":         "in messages of errors",
	"https://github.com/focus-trap/":             "in a notice of a licence",
	"http://a.com":                               "an address to try the browser's reading of addresses on",
	"https://api.iconify.design/simple-icons/":   "icons of links to social networks, of which there are none",
	"https://github.com/oloproof/oloproof/edit/": "the link to change a page",
	"https://github.com/oloproof/oloproof/blob/": "links to files of the repository",
	"https://github.com/oloproof/oloproof":       "the link to the repository",
}

var (
	urlForm   = regexp.MustCompile("https?://[^\\s\"'`<>\\\\)]+")
	cssImport = regexp.MustCompile(`@import\s|url\(\s*['"]?(?:https?:)?//`)
)

// TestNothingIsLoadedFromElsewhere: no element, style or script of the site asks another host for anything; and every page
// tells the browser to refuse it if one did.
func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	s := readSite(t)
	linked := map[string]bool{}
	styles, scripts := 0, 0
	for name, text := range s.files {
		if path.Ext(name) != ".html" {
			continue
		}
		policy := ""
		for _, e := range tags(text) {
			if e.name == "meta" && e.attributes["http-equiv"] == "Content-Security-Policy" {
				policy = e.attributes["content"]
			}
			if e.name == "a" {
				linked[e.attributes["href"]] = true
			}
			for _, attribute := range loads[e.name] {
				if value := e.attributes[attribute]; value != "" && elsewhere(value) {
					t.Errorf("%s: <%s> loads %s", name, e.name, value)
				}
			}
			if cssImport.MatchString(e.attributes["style"]) {
				t.Errorf("%s: <%s> loads by its style", name, e.name)
			}
		}
		if !strings.HasPrefix(policy, "default-src 'self';") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
			t.Errorf("%s: the browser is not told to load from the site alone: %q", name, policy)
		}
		if strings.Contains(text, "VPSocialLink") {
			t.Errorf("%s has a link to a social network, whose icon would come from elsewhere", name)
		}
	}
	for name, text := range s.files {
		switch path.Ext(name) {
		case ".css":
			styles++
			if m := cssImport.FindString(text); m != "" {
				t.Errorf("%s loads from elsewhere: %s", name, m)
			}
		case ".js":
			scripts++
			if strings.HasSuffix(name, ".md.js") || strings.Contains(name, "@localSearchIndex") || strings.Contains(name, ".md.") {
				continue // pages as text, which are seen above
			}
			for _, address := range urlForm.FindAllString(text, -1) {
				known := linked[address]
				for beginning := range unloaded {
					known = known || strings.HasPrefix(address, beginning)
				}
				if !known {
					t.Errorf("%s holds %s, and nothing says why", name, address)
				}
			}
		}
	}
	if styles == 0 || scripts < 5 {
		t.Errorf("only %d styles and %d scripts were looked at", styles, scripts)
	}
}

// TestTheSearchKnowsEveryPage: the index is a file of the site, and has every heading of every page but the cells of the
// coverage grid, which are hundreds.
func TestTheSearchKnowsEveryPage(t *testing.T) {
	s := readSite(t)
	index := ""
	for name, text := range s.files {
		if strings.Contains(name, "@localSearchIndex") {
			index += text
		}
	}
	// Quotes stand in a text of a script.
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\d+":"([^"#]+\.html|[^"#]*/)(#[^"]*)?"`).FindAllStringSubmatch(index, -1) {
		file := strings.TrimPrefix(m[1], s.base)
		if file == "" || strings.HasSuffix(file, "/") {
			file += "index.html"
		}
		known[file+m[2]] = true
	}
	cells := regexp.MustCompile(`^the-cells-of-|^(human-ai|anchoring|compare|fairness)`)
	for _, page := range s.pages() {
		for _, m := range regexp.MustCompile(`<h[1-3] id="([^"]+)"`).FindAllStringSubmatch(s.files[page], -1) {
			if page == "coverage.html" && cells.MatchString(m[1]) {
				continue
			}
			if !known[page+"#"+m[1]] {
				t.Errorf("the search does not know %s#%s", page, m[1])
			}
		}
	}
	if len(known) < 200 {
		t.Errorf("the search knows only %d headings", len(known))
	}
	for name := range known {
		if strings.HasPrefix(name, "coverage.html#the-cells-of-") {
			t.Errorf("the search has the cells of the coverage grid: %s", name)
		}
	}
}

// TestProblemsAreSeen plants one of each problem in a page: a check that finds nothing proves nothing.
func TestProblemsAreSeen(t *testing.T) {
	var got []string
	for _, e := range tags(`<script src="https://x.example/a.js"></script><link rel="stylesheet" href="//x.example/a.css"><img alt="" src="/here.png"><img src="data:image/png;base64,AA=="><a href="https://x.example/">`) {
		for _, attribute := range loads[e.name] {
			if value := e.attributes[attribute]; value != "" && elsewhere(value) {
				got = append(got, fmt.Sprintf("%s %s", e.name, value))
			}
		}
	}
	if diff := cmp.Diff([]string{"script https://x.example/a.js", "link //x.example/a.css"}, got); diff != "" {
		t.Errorf("loads from elsewhere (-want +got):\n%s", diff)
	}
	for css, want := range map[string]bool{
		`@import "a.css";`: true, `a{background:url(https://x.example/a.png)}`: true, `a{background:url("//x.example/a.png")}`: true,
		`a{background:url(/a.png)}`: false, `a{mask:url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E")}`: false,
	} {
		if got := cssImport.MatchString(css); got != want {
			t.Errorf("%s loads from elsewhere: %v, want %v", css, got, want)
		}
	}
	s := site{base: "/oloproof/", files: map[string]string{"index.html": `<main><a href="./a.html#b">x</a><a href="/oloproof/ci/c.html">y</a><a href="https://x.example/">z</a></main>`}}
	if diff := cmp.Diff([]string{"a.html", "ci/c.html"}, s.links(t, "index.html", true)); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

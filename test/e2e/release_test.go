package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// What the tests release: a version that CHANGELOG.md gets a section for, and an image that nobody has.
const (
	version  = "v1.2.3"
	registry = "registry.example:5000/oloproof/oloproof"
	digest   = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// releasable is a copy of the repository with everything committed and something to say of the versions.
func releasable(t *testing.T, versions ...string) string {
	t.Helper()
	folder := copyRepository(t)
	name := filepath.Join(folder, "CHANGELOG.md")
	log := read(t, name)
	for _, v := range versions {
		log += fmt.Sprintf("\n## [%s] - 2027-01-02\n\n### Added\n\n- What %s adds.\n", strings.TrimPrefix(v, "v"), v)
	}
	write(t, name, log)
	commitAll(t, folder)
	return folder
}

// TestReleaseAction rewrites action.yml as a release does: one line changes, and only in this form.
func TestReleaseAction(t *testing.T) {
	wanted(t)
	folder := releasable(t, version)
	before := read(t, filepath.Join(folder, "action.yml"))
	if out, err := release(folder, "action", version, registry, digest); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after := read(t, filepath.Join(folder, "action.yml"))
	const was, is = "  image: Dockerfile\n", "  image: docker://" + registry + ":" + version + "@" + digest + "\n"
	if diff := cmp.Diff(strings.Replace(before, was, is, 1), after); diff != "" || before == after {
		t.Errorf("action.yml (-want +got):\n%s", diff)
	}
	if changed := git(t, folder, "status", "--porcelain"); changed != "M action.yml" {
		t.Errorf("git status says %q, want only action.yml", changed)
	}

	var a, b map[string]any
	for text, into := range map[string]*map[string]any{before: &a, after: &b} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("action.yml does not parse: %v", err)
		}
	}
	// A tag for people, a digest for machines: a tag alone could be moved under an action that is pinned.
	form := regexp.MustCompile(`^docker://[^@]+:v\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$`)
	runs, ok := b["runs"].(map[string]any)
	if image, _ := runs["image"].(string); !ok || !form.MatchString(image) {
		t.Errorf("the action runs %q", image)
	}
	runs["image"] = "Dockerfile"
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("something else changed:\n%s", diff)
	}
	if out, err := release(folder, "action", version, registry, digest); err == nil {
		t.Errorf("a second rewrite went through:\n%s", out)
	}
}

// TestReleaseRefuses gives each step what must not become a release. It refuses it, and changes nothing.
func TestReleaseRefuses(t *testing.T) {
	wanted(t)
	const shortDigest = "sha256:0123456789abcdef"
	upperDigest := "sha256:" + strings.ToUpper(strings.TrimPrefix(digest, "sha256:"))
	folder := releasable(t, version)
	for _, c := range []struct {
		name string
		args []string
		want string // in the message
	}{
		{"no v", []string{"action", "1.2.3", registry, digest}, `the version is "1.2.3"`},
		{"two numbers", []string{"action", "v1.2", registry, digest}, `the version is "v1.2"`},
		{"a leading zero", []string{"action", "v01.2.3", registry, digest}, `the version is "v01.2.3"`},
		{"a candidate", []string{"action", "v1.2.3-rc.1", registry, digest}, `the version is "v1.2.3-rc.1"`},
		{"a second line", []string{"action", "v1.2.3\nx", registry, digest}, "the version is"},
		{"a command", []string{"action", "v1.2.3|d;s|x", registry, digest}, "the version is"},
		{"a version without notes", []string{"action", "v1.2.4", registry, digest}, `no section "## [1.2.4]"`},
		{"another version's notes", []string{"check", "v1.2.30"}, `no section "## [1.2.30]"`},
		{"a tag in the image", []string{"action", version, "registry.example/oloproof:v1", digest}, "the image is"},
		{"capitals in the image", []string{"action", version, "registry.example/Oloproof", digest}, "the image is"},
		{"no registry", []string{"action", version, "/oloproof/oloproof", digest}, "the image is"},
		{"a command in the image", []string{"action", version, "registry.example/a|d", digest}, "the image is"},
		{"no digest", []string{"action", version, registry, ""}, "the digest is"},
		{"a short digest", []string{"action", version, registry, shortDigest}, "the digest is"},
		{"capitals in the digest", []string{"action", version, registry, upperDigest}, "the digest is"},
		{"another hash", []string{"action", version, registry, "sha512" + strings.TrimPrefix(digest, "sha256")}, "the digest is"},
		{"a commit with a short digest", []string{"commit", version, registry, shortDigest}, "the digest is"},
		{"too few arguments", []string{"action", version, registry}, "takes 3 arguments"},
		{"no such step", []string{"publish"}, `no step "publish"`},
		{"a branch for a commit", []string{"tag", version, "main", "."}, `the commit is "main"`},
		{"a remote that is not there", []string{"free", version, filepath.Join(t.TempDir(), "none")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := release(folder, c.args...)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("it ended with %v and said %q, want a refusal with %q", err, out, c.want)
			}
			if changed := git(t, folder, "status", "--porcelain"); changed != "" {
				t.Errorf("git status says %q", changed)
			}
		})
	}

	// What lies in action.yml itself. The Marketplace takes descriptions of under 125 characters.
	original := read(t, filepath.Join(folder, "action.yml"))
	description := regexp.MustCompile(`(?m)^description: .*$`)
	describe := func(n int) string {
		return description.ReplaceAllLiteralString(original, "description: "+strings.Repeat("x", n))
	}
	for _, c := range []struct{ name, text, want string }{
		{"124 characters", describe(124), ""},
		{"125 characters", describe(125), "the description in action.yml has 125 characters"},
		{"no description", description.ReplaceAllLiteralString(original, ""), "the description in action.yml has 0 characters"},
		{"an image already", strings.Replace(original, "image: Dockerfile", "image: docker://x:v1", 1), `0 lines "  image: Dockerfile"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, filepath.Join(folder, "action.yml"), c.text)
			out, err := release(folder, "check", version)
			if (err == nil) != (c.want == "") || !strings.Contains(out, c.want) {
				t.Errorf("it ended with %v and said %q, want %q", err, out, c.want)
			}
		})
	}
}

// TestReleaseTags makes the commit of a release and tags it, on a remote that is a folder. Nothing that has a
// version's name ever moves, and every step may be repeated.
func TestReleaseTags(t *testing.T) {
	wanted(t)
	folder := releasable(t, version, "v1.2.2", "v2.0.0")
	remote := filepath.Join(t.TempDir(), "remote.git")
	git(t, folder, "init", "--quiet", "--bare", remote)
	git(t, folder, "push", "--quiet", remote, "HEAD:refs/heads/main")
	head := git(t, folder, "rev-parse", "HEAD")
	must := func(args ...string) string {
		t.Helper()
		out, err := release(folder, args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
	tags := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for line := range strings.Lines(git(t, folder, "ls-remote", "--refs", "--tags", remote)) {
			sha, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got[strings.TrimPrefix(ref, "refs/tags/")] = sha
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("tags (-want +got):\n%s", diff)
		}
	}

	must("free", version, remote)
	commit := must("commit", version, registry, digest)
	if again := must("commit", version, registry, digest); again != commit {
		t.Errorf("the same release made the commits %s and %s", commit, again)
	}
	if parent := git(t, folder, "rev-parse", commit+"^"); parent != head {
		t.Errorf("its parent is %s, want %s", parent, head)
	}
	if changed := git(t, folder, "diff", "--numstat", head, commit); changed != "1\t1\taction.yml" {
		t.Errorf("it changes %q, want one line of action.yml", changed)
	}
	if text := git(t, folder, "show", commit+":action.yml"); !strings.Contains(text, "image: docker://"+registry+":"+version+"@"+digest) {
		t.Errorf("its action.yml is\n%s", text)
	}
	if now := git(t, folder, "rev-parse", "HEAD"); now != head || git(t, folder, "status", "--porcelain") != "" {
		t.Error("main or the work tree has changed")
	}

	if out, err := release(folder, "major", version, commit, remote); err == nil {
		t.Errorf("the major was moved before the version was there: %s", out)
	}
	must("tag", version, commit, remote)
	must("tag", version, commit, remote)
	tags(map[string]string{version: commit})
	if out, err := release(folder, "free", version, remote); err == nil || !strings.Contains(out, "never moves") {
		t.Errorf("the version is said to be free: %v %s", err, out)
	}
	if out, err := release(folder, "tag", version, head, remote); err == nil || !strings.Contains(out, "never moves") {
		t.Errorf("the tag was moved: %v %s", err, out)
	}
	tags(map[string]string{version: commit})

	must("major", version, commit, remote)
	must("major", version, commit, remote)
	tags(map[string]string{version: commit, "v1": commit})

	// A repair of the line before, released later: v1 stays with the newer version.
	older := must("commit", "v1.2.2", registry, digest)
	must("tag", "v1.2.2", older, remote)
	if out := must("major", "v1.2.2", older, remote); !strings.Contains(out, "v1 stays where it is: v1.2.3 is newer than v1.2.2") {
		t.Errorf("it said %q", out)
	}
	next := must("commit", "v2.0.0", registry, digest)
	must("tag", "v2.0.0", next, remote)
	must("major", "v2.0.0", next, remote)
	tags(map[string]string{version: commit, "v1": commit, "v1.2.2": older, "v2.0.0": next, "v2": next})

	if got, want := must("notes", "v1.2.2"), "### Added\n\n- What v1.2.2 adds."; got != want {
		t.Errorf("the notes are %q, want %q", got, want)
	}
}

// TestReleaseBinaries builds every program in two folders: the same bytes, and other ones for another version.
func TestReleaseBinaries(t *testing.T) {
	wanted(t)
	folder := releasable(t)
	build := func(folder, version string) (dist, sums string) {
		t.Helper()
		dist = filepath.Join(t.TempDir(), "dist")
		if out, err := release(folder, "binaries", version, dist); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return dist, read(t, filepath.Join(dist, "SHA256SUMS"))
	}
	dist, sums := build(folder, version)
	// Again elsewhere, by somebody with other settings: each of these would change bytes if it were heeded. By night
	// nothing is taken over from the first build, not even compiled packages.
	home := t.TempDir()
	write(t, filepath.Join(home, "go.env"), "GOFLAGS=-tags=other\n")
	for name, value := range map[string]string{
		"TZ": "Pacific/Kiritimati", "HOME": home, "LC_ALL": "C.UTF-8", "GOFLAGS": "-buildvcs=true -ldflags=-X=main.version=other", "GOENV": filepath.Join(home, "go.env"),
		"GOAMD64": "v3", "GOARM64": "v9.0", "CGO_ENABLED": "1", "SOURCE_DATE_EPOCH": "1",
		// Not heeded by the build, but needed by the go command once HOME is another.
		"GOMODCACHE": goEnv(t, "GOMODCACHE"), "GOCACHE": goEnv(t, "GOCACHE"),
	} {
		t.Setenv(name, value)
	}
	if os.Getenv("OLOPROOF_NIGHTLY") != "" {
		t.Setenv("GOCACHE", filepath.Join(home, "cache"))
	}
	if _, again := build(releasable(t, version), version); again != sums {
		t.Errorf("two builds differ:\n%s\n%s", sums, again)
	}

	var names []string
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		names = append(names, name)
		hash := sha256.Sum256([]byte(read(t, filepath.Join(dist, name))))
		if hex.EncodeToString(hash[:]) != sum {
			t.Errorf("%s does not have the sum %s", name, sum)
		}
	}
	programs := []string{
		"oloproof-darwin-amd64", "oloproof-darwin-arm64", "oloproof-linux-amd64", "oloproof-linux-arm64",
		"oloproof-windows-amd64.exe", "oloproof-windows-arm64.exe",
	}
	want := []string{"LICENSE", "THIRD_PARTY_LICENSES"}
	for _, name := range programs {
		want = append(want, name, name+".cdx.json")
	}
	slices.Sort(want)
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
	checkBillsOfMaterials(t, dist, programs)
	program := filepath.Join(dist, "oloproof-"+runtime.GOOS+"-"+runtime.GOARCH)
	out, err := exec.Command(program, "version").CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "oloproof "+strings.TrimPrefix(version, "v") {
		t.Errorf("the program says %q, %v", got, err)
	}
	if out, err := release(folder, "binaries", version, dist); err == nil {
		t.Errorf("it built over another build:\n%s", out)
	}
	if strings.Contains(read(t, program), folder) {
		t.Errorf("%s tells in which folder it was built", program)
	}
}

// checkBillsOfMaterials holds what is told to be in each program to CycloneDX's own schema, and to what Go wrote into the
// program: the same modules, each with a licence.
func checkBillsOfMaterials(t *testing.T, dist string, programs []string) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, filepath.Join(os.Getenv("OLOPROOF_CYCLONEDX_SCHEMA"), file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(map[string]any{"bomFormat": "CycloneDX"}) == nil {
		t.Error("the schema accepts a bill of materials without a version")
	}
	for _, name := range programs {
		text := read(t, filepath.Join(dist, name+".cdx.json"))
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s.cdx.json: %v", name, err)
		}
		var bom struct {
			Components []struct {
				Name, Version string
				Evidence      struct{ Licenses []any }
			}
		}
		if err := json.Unmarshal([]byte(text), &bom); err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, c := range bom.Components {
			if c.Name == "std" {
				continue // Go's own library
			}
			told = append(told, c.Name+" "+c.Version)
			if len(c.Evidence.Licenses) == 0 {
				t.Errorf("%s.cdx.json: %s has no licence", name, c.Name)
			}
		}
		info, err := exec.Command("go", "version", "-m", filepath.Join(dist, name)).Output()
		if err != nil {
			t.Fatal(err)
		}
		var linked []string
		for _, m := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllSubmatch(info, -1) {
			linked = append(linked, string(m[1])+" "+string(m[2]))
		}
		slices.Sort(told)
		slices.Sort(linked)
		if diff := cmp.Diff(linked, told); diff != "" || len(linked) < 10 {
			t.Errorf("%s.cdx.json (-linked +told):\n%s", name, diff)
		}
	}
}

// goEnv is a setting of the go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestReleaseWorkflow holds the workflows to what makes a release safe: whatever comes from elsewhere is pinned
// by commit, rights are given job by job, and names are given in an order that can be taken back.
func TestReleaseWorkflow(t *testing.T) {
	wanted(t)
	names, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(names) < 3 {
		t.Fatalf("there are %d workflows, %v", len(names), err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(.*)$`)
	pinned := regexp.MustCompile(`^(\./\S*|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	pins := map[string]string{} // one version of each action everywhere
	for _, name := range names {
		text := read(t, name)
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %q, want a commit and its version in a comment", name, m[1])
			}
			if action, commit, found := strings.Cut(m[1], "@"); found {
				if other, seen := pins[action]; seen && other != commit {
					t.Errorf("%s: %s is pinned to %s and to %s", name, action, commit, other)
				}
				pins[action] = commit
			}
		}
		var workflow struct {
			Permissions any `yaml:"permissions"`
			Jobs        map[string]struct {
				Permissions map[string]string `yaml:"permissions"`
			} `yaml:"jobs"`
		}
		if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
			t.Fatal(err)
		}
		if rights, ok := workflow.Permissions.(map[string]any); !ok || len(rights) > 1 || len(rights) == 1 && rights["contents"] != "read" {
			t.Errorf("%s: the workflow's permissions are %v, want none, or to read the contents", name, workflow.Permissions)
		}
		for id, job := range workflow.Jobs {
			if filepath.Base(name) == "release.yml" && id == "publish" {
				continue // the one job that may write to the repository
			}
			if job.Permissions["contents"] == "write" {
				t.Errorf("%s: the job %s may write to the repository", name, id)
			}
		}
	}

	text := read(t, filepath.Join(root, ".github/workflows/release.yml"))
	at := 0
	for _, step := range []string{
		"release check ", "release free ", "ci.yml", "workflows/action.yml", "push-by-digest=true", "cosign\" sign", "subject-digest:",
		"release binaries ", "subject-checksums:", "release commit ", "gh release create ", "imagetools create --tag ",
		"release tag ", "--draft=false", "release major ",
	} {
		i := strings.Index(text[at:], step)
		if i < 0 {
			t.Fatalf("release.yml has no %q after its character %d", step, at)
		}
		at += i
	}
}

// release runs a step of .ci/release in a copy of the repository.
func release(folder string, args ...string) (string, error) {
	out, err := exec.Command("bash", append([]string{filepath.Join(folder, ".ci", "release")}, args...)...).CombinedOutput()
	return string(out), err
}

// git runs git in a folder and returns what it prints, trimmed.
func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=e2e", "-c", "user.email=e2e@localhost"}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commitAll commits everything in a copy of the repository and returns the commit.
func commitAll(t *testing.T, folder string) string {
	t.Helper()
	git(t, folder, "add", "--all")
	git(t, folder, "commit", "--quiet", "--allow-empty", "--message", "e2e")
	return git(t, folder, "rev-parse", "HEAD")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

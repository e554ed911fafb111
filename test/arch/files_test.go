package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The action reads and writes through the os.Root of its workspace, which no path and no link leads out of. systemFiles are the files
// of the program that use the operating system's paths directly, and how, with why a step of the action does not come there with a
// path from a policy, from an input or from a file. What is new here needs such a reason, or has to go through the root.
var systemFiles = map[string][]string{
	"engine/rows/open.go":         {"os.Open", "os.ReadDir", "os.Stat"},                                                                                    // system: only where Options.FS is nil, as on the command line
	"engine/study/items.go":       {"os.Open", "os.Stat"},                                                                                                  // the lists of `assign` and `draw`, which the action does not run
	"internal/cli/action.go":      {"os.OpenRoot"},                                                                                                         // the root itself
	"internal/cli/certificate.go": {"os.Stat"},                                                                                                             // --certificate
	"internal/cli/coverage.go":    {"os.Remove"},                                                                                                           // `coverage`
	"internal/cli/files.go":       {"filepath.EvalSymlinks", "os.Lstat", "os.MkdirAll", "os.OpenFile", "os.Readlink", "os.Remove", "os.Rename", "os.Stat"}, // the command line's files
	"internal/cli/gates.go":       {"os.Stat"},                                                                                                             // the command line's arguments
	"internal/cli/init.go":        {"os.Lstat", "os.MkdirAll"},                                                                                             // `init`
	"internal/cli/ledger.go":      {"os.OpenFile"},                                                                                                         // addWhole, of --ledger; the action has one of its own
	"internal/cli/run.go":         {"os.Open", "os.Stat"},                                                                                                  // readFile: only where it is given no fs.FS
	"summary/ci/azure.go":         {"os.Chmod", "os.MkdirTemp", "os.WriteFile"},                                                                            // AGENT_TEMPDIRECTORY, which the agent sets
	"summary/ci/event.go":         {"os.Open", "os.Stat"},                                                                                                  // GITHUB_EVENT_PATH, which the runner sets
	"summary/ci/github.go":        {"os.OpenFile", "os.Stat"},                                                                                              // GITHUB_OUTPUT and GITHUB_STEP_SUMMARY, which the runner sets
}

// usesOfFiles are the functions by which a package looks up paths of the operating system.
var usesOfFiles = map[string][]string{
	"os": {"Open", "OpenFile", "OpenRoot", "OpenInRoot", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "Mkdir", "MkdirAll", "MkdirTemp", "Remove", "RemoveAll", "Rename",
		"Link", "Symlink", "Readlink", "Chmod", "Chown", "Lchown", "Chtimes", "Truncate", "Chdir", "DirFS", "CopyFS", "Stat", "Lstat"},
	"path/filepath": {"Glob", "Walk", "WalkDir", "EvalSymlinks"},
	"os/exec":       {"Command", "CommandContext", "LookPath"},
	"io/ioutil":     {"ReadFile", "WriteFile", "ReadDir", "TempFile", "TempDir"},
	"syscall":       {"Open", "Openat", "Creat", "Link", "Symlink", "Rename", "Unlink", "Exec", "ForkExec", "Chmod", "Chown", "Mkdir", "Stat", "Lstat"},
	"net/http":      {"FileServer", "ServeFile", "Dir"},
}

// fileUses lists, by file, what of usesOfFiles it uses, under whatever name the package is imported.
func fileUses(all []source) map[string][]string {
	found := map[string][]string{}
	for _, s := range all {
		if strings.HasPrefix(s.path, "test/") {
			continue
		}
		packages := map[string]string{} // by the name in the file
		for _, spec := range s.file.Imports {
			imported := importPath(spec)
			name := imported[strings.LastIndexByte(imported, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = imported
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := selector.X.(*ast.Ident)
			if !ok || !slices.Contains(usesOfFiles[packages[x.Name]], selector.Sel.Name) {
				return true
			}
			imported := packages[x.Name]
			use := imported[strings.LastIndexByte(imported, '/')+1:] + "." + selector.Sel.Name
			if !slices.Contains(found[s.path], use) {
				found[s.path] = append(found[s.path], use)
			}
			return true
		})
	}
	for _, list := range found {
		slices.Sort(list)
	}
	return found
}

// TestFilesGoThroughTheRoot holds the program to systemFiles.
func TestFilesGoThroughTheRoot(t *testing.T) {
	if diff := cmp.Diff(systemFiles, fileUses(sources(t))); diff != "" {
		t.Errorf("files that use the system's paths, as systemFiles explains them (-) and as they are (+):\n%s", diff)
	}
	planted := fileUses([]source{
		parse(t, "engine/a.go", "package a\nimport (system \"os\"; \"path/filepath\")\nvar _, _ = system.ReadFile(\"/etc/passwd\")\nvar _, _ = filepath.Glob(\"*\")\nvar _ = filepath.Clean"),
		parse(t, "test/b.go", `package b; import "os"; var _, _ = os.ReadFile("x")`),
	})
	if diff := cmp.Diff(map[string][]string{"engine/a.go": {"filepath.Glob", "os.ReadFile"}}, planted); diff != "" {
		t.Errorf("planted (-want +got): %s\n%v", diff, slices.Sorted(maps.Keys(planted)))
	}
}

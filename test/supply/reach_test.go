package supply

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestReach: on every platform the program has nothing in it that starts another program or loads code, and of the project's packages
// one alone speaks to a network.
func TestReach(t *testing.T) {
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Module", ".")
		command.Dir = root
		command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		var speaking []string
		for list, seen := json.NewDecoder(strings.NewReader(string(out))), 0; ; seen++ {
			var p struct {
				ImportPath string
				Imports    []string
				Module     *struct{ Main bool }
			}
			if err := list.Decode(&p); errors.Is(err, io.EOF) {
				if seen < 100 {
					t.Errorf("%s: only %d packages", platform, seen)
				}
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.ImportPath == "os/exec" || p.ImportPath == "plugin" {
				t.Errorf("%s: %s is in the program", platform, p.ImportPath)
			}
			ours := p.Module != nil && p.Module.Main
			if ours && slices.ContainsFunc(p.Imports, func(i string) bool { return i == "net" || i == "net/http" || i == "net/rpc" || i == "crypto/tls" }) {
				speaking = append(speaking, p.ImportPath)
			}
			if ours && slices.Contains(p.Imports, "unsafe") {
				t.Errorf("%s: %s uses unsafe", platform, p.ImportPath)
			}
		}
		if !slices.Equal(speaking, []string{"github.com/oloproof/oloproof/summary/ci"}) {
			t.Errorf("%s: these speak to a network: %q", platform, speaking)
		}
	}
}

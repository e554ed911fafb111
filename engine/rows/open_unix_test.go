//go:build unix

package rows

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe checks that a named pipe without a writer is an error, and does not wait for one.
func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	checkOne(t, readAll([]string{name}, Options{Columns: abc}), name+": it is a pipe or a device, not a file: pass its content on standard input, as -")
	checkOne(t, readAll([]string{os.DevNull}, Options{Columns: abc}), os.DevNull+": it is a pipe or a device, not a file: pass its content on standard input, as -")
}

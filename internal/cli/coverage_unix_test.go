//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCoverageIsInterrupted ends a long run once its first cell is finished: it says how to go on, nothing was decided, and what is
// kept can be gone on from.
func TestCoverageIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"audit", "coverage", "--full", "--gate", "compare", "--resume", "kept/state.json"}
	cmd := exec.Command("oloproof", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // the error is the status
	for kept := false; !kept; {
		select {
		case <-ended:
			t.Fatalf("it ended by itself:\n%s", &stderr)
		case <-time.After(5 * time.Millisecond):
			_, err := os.Stat("kept/state.json")
			kept = err == nil
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	if status := cmd.ProcessState.ExitCode(); status != 2 || stdout.Len() > 0 {
		t.Errorf("exit %d\n%s%s", status, &stdout, &stderr)
	}
	for _, want := range []string{"oloproof: interrupted; ", " cells are finished, and kept in kept/state.json; the same command goes on from there\n", "exit status 2 (nothing was decided)\n"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &stderr)
		}
	}
	if list := names(t, "kept"); len(list) != 1 {
		t.Errorf("%q was left", list)
	}
	if status, _, told := runMain(append(args, "--seed", "another")...); status != 2 || !strings.Contains(told, "it is of another run") {
		t.Errorf("exit %d\n%s", status, told)
	}
}

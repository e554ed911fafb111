//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestModes checks the modes of what is written: what the umask leaves, or those of the file that was there.
func TestModes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	defer syscall.Umask(syscall.Umask(0o007))
	writeFile(t, "secret.json", "")
	if err := os.Chmod("secret.json", 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := runMain("human-ai", "check", "d.csv", "--format", "json:new/report.json", "--format", "markdown:secret.json"); status != 0 {
		t.Fatalf("exit %d\n%s", status, stderr)
	}
	if status, _, stderr := runMain("init", "--example", "human-ai", "study"); status != 0 {
		t.Fatalf("exit %d\n%s", status, stderr)
	}
	// 0666 and 0777 without 0007.
	for name, want := range map[string]fs.FileMode{
		"new/report.json": 0o660, "new": 0o770, "secret.json": 0o600, "study": 0o770, "study/policy.yaml": 0o660, "study/decisions.csv": 0o660,
	} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v", name, info.Mode().Perm(), want)
		}
	}
}

// heldFolder names, for a process that TestSignals starts, where to hold a temporary file open.
const heldFolder = "OLOPROOF_TEST_HELD_FOLDER"

// TestHeld is that process.
func TestHeld(t *testing.T) {
	folder := os.Getenv(heldFolder)
	if folder == "" { // an ordinary test run
		return
	}
	err := temporary(newIn(folder), func(f *os.File) error {
		fmt.Println(f.Name())
		_, err := io.Copy(io.Discard, os.Stdin) // until the end, which never comes
		return err
	})
	t.Fatalf("it was not ended: %v", err)
}

// TestSignals ends processes that are writing a file: it is removed, and they end by the signal.
func TestSignals(t *testing.T) {
	tried := 0
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) { // under nohup, or in the background of a shell: the program ignores it as well
			continue
		}
		tried++
		folder := t.TempDir()
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.run=^TestHeld$")
		cmd.Env = append(os.Environ(), heldFolder+"="+folder)
		stdout := started(t, cmd)
		name, err := bufio.NewReader(stdout).ReadString('\n')
		if list := names(t, folder); err != nil || len(list) != 1 || filepath.Join(folder, list[0])+"\n" != name {
			t.Fatalf("%v: %v, %q in %q", s, err, name, list)
		}
		endedBy(t, cmd, s)
		if list := names(t, folder); len(list) > 0 {
			t.Errorf("%v: %q was left", s, list)
		}
	}
	if tried == 0 {
		t.Fatal("every signal is ignored here, so nothing was tried")
	}
}

// TestSignalWhileReading ends a run that waits for its input: no file is there, because none is written yet.
func TestSignalWhileReading(t *testing.T) {
	t.Chdir(t.TempDir())
	cmd := exec.Command("oloproof", "human-ai", "check", "-", "--format", "json:out/report.json")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	started(t, cmd)
	// More than a pipe holds (64 KiB on Linux): when the last byte is taken, the run is reading.
	if _, err := stdin.Write([]byte(singles(4000, 1))); err != nil {
		t.Fatal(err)
	}
	if list := names(t, "out"); len(list) > 0 {
		t.Errorf("while reading there is %q", list)
	}
	endedBy(t, cmd, syscall.SIGTERM)
	if list := names(t, "out"); len(list) > 0 {
		t.Errorf("%q was left", list)
	}
}

// TestReaderGone lets nobody read standard output: the report's file is whole all the same, and alone.
func TestReaderGone(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := exec.Command("oloproof", "human-ai", "check", "d.csv", "--format", "markdown", "--format", "json:out/report.json")
	cmd.Stdout = w
	if err := cmd.Run(); err == nil {
		t.Error("the run ended with 0 although its output was lost")
	}
	w.Close()
	if list := names(t, "out"); len(list) != 1 || list[0] != "report.json" {
		t.Errorf("the folder holds %q", list)
	}
	doc, err := os.ReadFile("out/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(reportSchema(t), doc); err != nil {
		t.Errorf("the report: %v", err)
	}
}

// started starts a program with standard input held open.
func started(t *testing.T, cmd *exec.Cmd) io.Reader {
	t.Helper()
	if cmd.Stdin == nil {
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return stdout
}

// endedBy sends a signal and checks that the process ended by it.
func endedBy(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	tooLong := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // a test that fails, not one that hangs
	_ = cmd.Wait()                                                            // the error is the signal
	tooLong.Stop()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != s {
		t.Errorf("%v: the process ended with %v", s, cmd.ProcessState)
	}
}

// TestActionOpensNoPipe: a pipe that nobody writes to, in the place of any file that a step reads, ends the step with 2.
func TestActionOpensNoPipe(t *testing.T) {
	for _, inputs := range [][]string{
		{"policy", "pipe", "decisions", "data/decisions.csv"},
		{"policy", "pass.yaml", "declaration", "pipe"},
		{"policy", "pass.yaml", "decisions", "pipe"},
		{"policy", "pass.yaml", "decisions", "data/decisions.csv", "assignment", "pipe"},
		{"policy", "pass.yaml", "decisions", "data/decisions.csv", "baseline-report", "pipe"},
		{"policy", "pass.yaml", "decisions", "data/decisions.csv", "json", "pipe"},
	} {
		s := newStep(t)
		if err := syscall.Mkfifo(filepath.Join(s.workspace, "pipe"), 0o666); err != nil {
			t.Fatal(err)
		}
		s.check(s.run(inputs...), 2, "NO_VERDICT")
	}
}

//go:build linux

package limits

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEnded ends runs at random moments, of a command line and of a step, that write reports in every format and a ledger over older ones.
// Each file is then as it was, or whole as the new run writes it; a run that may clean up leaves no other file, and one that is killed
// leaves only files whose names begin with .oloproof. The moments are drawn from the time that a run takes here; what holds, holds at all.
func TestEnded(t *testing.T) {
	rounds := size(200, 8, 3) // for each gate, signal, and way to run
	random := rand.New(rand.NewPCG(2026, 11))
	ended, late, changed, temporaries := 0, 0, 0, map[string]int{}
	for _, s := range studies() {
		if !long && s.gate != "anchoring" {
			continue
		}
		dir := s.folder(t)
		out := filepath.Join(dir, "out")
		line := append(append(append(s.args("rows.csv"), "-q"), everyFormat()...), "--ledger", "out/ledger.jsonl")
		env := []string{"PATH=" + os.Getenv("PATH")}
		step := append(env, "GITHUB_WORKSPACE="+dir, "INPUT_POLICY=policy.yaml", "INPUT_DECISIONS=rows.csv", "INPUT_GATE="+s.gate, "INPUT_LEDGER=out/ledger.jsonl")
		for _, f := range everyFormat() {
			if name, path, found := strings.Cut(f, ":"); found {
				step = append(step, "INPUT_"+strings.ToUpper(name)+"="+path)
			}
		}
		run := func(isStep bool) *exec.Cmd {
			cmd := exec.Command(program, line...)
			if isStep {
				cmd = exec.Command(program, "action")
			}
			cmd.Dir, cmd.Env = dir, env
			if isStep {
				cmd.Env = step
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals of the test's own terminal are none of its business
			return cmd
		}
		finish := func(cmd *exec.Cmd) {
			t.Helper()
			if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code == 2 || code < 0 {
				t.Fatalf("%v: exit status %d", cmd.Args, code)
			}
		}
		for _, isStep := range []bool{false, true} {
			// What an older run and a newer one write.
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			put(t, dir, "rows.csv", s.content(300))
			finish(run(isStep))
			older := contents(t, out)
			put(t, dir, "rows.csv", s.content(400))
			started := time.Now()
			finish(run(isStep))
			takes := time.Since(started)
			newer := contents(t, out)
			if len(older) != 9 || len(newer) != 9 {
				t.Fatalf("%d and %d files", len(older), len(newer))
			}
			for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
				for range rounds {
					if err := os.RemoveAll(out); err != nil {
						t.Fatal(err)
					}
					if err := os.Mkdir(out, 0o777); err != nil {
						t.Fatal(err)
					}
					for name, text := range older {
						put(t, out, name, text)
					}
					cmd := run(isStep)
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Duration(random.Int64N(int64(takes))))
					_ = cmd.Process.Signal(signal) // that it has ended by itself is no mistake
					_ = cmd.Wait()
					status := cmd.ProcessState.Sys().(syscall.WaitStatus)
					switch {
					case status.Signaled() && status.Signal() == signal:
						ended++
					case status.Exited() && status.ExitStatus() != 2:
						late++
					default:
						t.Errorf("%s, a step %v, %v: the process ended with %v", s.gate, isStep, signal, cmd.ProcessState)
					}
					now := contents(t, out)
					for name := range older {
						if _, there := now[name]; !there {
							t.Errorf("%s, a step %v, %v: %s is gone", s.gate, isStep, signal, name)
						}
					}
					for name, text := range now {
						was, known := older[name]
						switch {
						case known && text != was && text != newer[name]:
							t.Errorf("%s, a step %v, %v: %s is neither the older nor the newer one: %d bytes, %d and %d", s.gate, isStep, signal, name, len(text), len(was), len(newer[name]))
						case known && text != was:
							changed++
						case !known && (signal != syscall.SIGKILL || !strings.HasPrefix(name, ".oloproof")):
							t.Errorf("%s, a step %v, %v: left %q of %d bytes", s.gate, isStep, signal, name, len(text))
						case !known:
							temporaries[strings.TrimRight(name, "0123456789-")]++
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs were ended, %d had ended before; %d files were new already; left behind by those that were killed: %v", ended, late, changed, temporaries)
	if ended == 0 && long {
		t.Error("no run was ended, so nothing was tried")
	}
}

// TestChanging: a file that grows, shrinks, or is replaced while it is read is an error, or it is read as it was or as it is, whole.
func TestChanging(t *testing.T) {
	rounds := size(60, 8, 2)
	for _, s := range studies() {
		if !long && s.gate != "fairness" {
			continue
		}
		dir := s.folder(t)
		rows := filepath.Join(dir, "rows.csv")
		many := size(100_000, 20_000, 5_000)
		one, other := s.content(many), s.content(many+many/2)
		digests := map[string]bool{}
		for _, text := range []string{one, other} {
			put(t, dir, "rows.csv", text)
			s.decide(t, dir, "rows.csv", nil).check(t, s.gate, "", filepath.Join(dir, "report.json"), 400)
			digests[inputDigest(t, filepath.Join(dir, "report.json"))] = true
		}
		random := rand.New(rand.NewPCG(7, 7))
		refused := 0
		for i := range rounds {
			put(t, dir, "rows.csv", one)
			started := make(chan struct{})
			go func() {
				defer close(started)
				time.Sleep(time.Duration(random.Int64N(int64(80 * time.Millisecond))))
				switch i % 3 {
				case 0: // it grows
					if f, err := os.OpenFile(rows, os.O_WRONLY|os.O_APPEND, 0); err == nil {
						_, _ = f.WriteString(other[len(one):])
						f.Close()
					}
				case 1: // it is cut in the middle of a row
					_ = os.Truncate(rows, int64(len(one)/2))
				case 2: // another takes its place
					_ = os.WriteFile(rows+".new", []byte(other), 0o644)
					_ = os.Rename(rows+".new", rows)
				}
			}()
			o := s.decide(t, dir, "rows.csv", nil)
			<-started
			if o.Status == 2 {
				refused++
				continue
			}
			o.check(t, s.gate+", a file that changes", "", filepath.Join(dir, "report.json"), 400)
			if digest := inputDigest(t, filepath.Join(dir, "report.json")); !digests[digest] && i%3 != 1 {
				t.Errorf("%s: decided on bytes that are neither file's: %s", s.gate, digest)
			}
		}
		t.Logf("%s: %d of %d were refused", s.gate, refused, rounds)
	}
}

// inputDigest is the digest of the rows in a report.
func inputDigest(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), `"inputs":`)
	_, after, again := strings.Cut(after, `"sha256": "`)
	if !found || !again || len(after) < 64 {
		t.Fatalf("no digest is in %s", clip(string(text)))
	}
	return after[:64]
}

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// usage is what one run of a program took.
type usage struct {
	Seconds float64 // from its start to its end
	CPU     float64 // seconds of all cores
	Peak    float64 // MB (10⁶ bytes) of memory resident at once
	Status  int     // its exit status
}

// measureWord makes this program run another one and say what it took, on file descriptor 3.
//
// A process begins with the peak of the one that started it, so the one that starts what is measured has to be small, and this one
// is not once it has held counts. What comes out is never below the few megabytes of a small Go program.
const measureWord = "run-and-measure"

// measureHere is the program after measureWord: it runs a command with its own input and output.
func measureHere(args []string) {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	started := time.Now()
	err := c.Run()
	seconds := time.Since(started).Seconds()
	if c.ProcessState == nil {
		log.Fatal(err)
	}
	u := usage{Seconds: seconds, CPU: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), Status: c.ProcessState.ExitCode()}
	if rusage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		unit := 1024.0 // of Maxrss, but on macOS
		if runtime.GOOS == "darwin" {
			unit = 1
		}
		u.Peak = float64(rusage.Maxrss) * unit / 1e6
	}
	if err := json.NewEncoder(os.NewFile(3, "usage")).Encode(u); err != nil {
		log.Fatal(err)
	}
}

// process runs a program in a folder and returns what it took and what it printed.
func (r *run) process(folder string, args ...string) (u usage, stdout []byte, err error) {
	c := exec.Command(r.self, append([]string{measureWord}, args...)...)
	var out, told bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = folder, &out, &told
	from, to, err := os.Pipe()
	if err != nil {
		return u, nil, err
	}
	defer from.Close()
	c.ExtraFiles = []*os.File{to}
	if err := c.Start(); err != nil {
		to.Close()
		return u, nil, err
	}
	to.Close()
	decoded := json.NewDecoder(from).Decode(&u)
	if err := c.Wait(); err != nil {
		return u, nil, fmt.Errorf("%v: %w\n%s", args, err, told.Bytes())
	}
	if decoded != nil {
		return u, nil, fmt.Errorf("%v: %w", args, decoded)
	}
	if u.Status != 0 && u.Status != 1 && u.Status != 3 && u.Status != 4 { // a verdict is none of its business
		return u, nil, fmt.Errorf("%v ends with status %d:\n%s%s", args, u.Status, clip(out.Bytes()), clip(told.Bytes()))
	}
	return u, out.Bytes(), nil
}

// clip is the beginning of what a program printed.
func clip(text []byte) []byte { return text[:min(len(text), 1000)] }

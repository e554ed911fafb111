//go:build unix

// Command perf measures oloproof beside DuckDB, which counts the same rows of the same files, and prints the table of docs/performance.md.
//
//	go run ./test/perf                  every line, about half an hour
//	go run ./test/perf -only csv,gzip   these lines
//	go run ./test/perf -list            what lines there are
//
// It builds the program, makes the data that a line needs and that are not there yet (test/perf/generate), installs DuckDB with npm unless
// -duckdb names a folder that has it, and then runs the programs by turns, each run a process of its own, so that what else the
// machine does falls on both. Both have to count the same, or the line is an error. Medians are printed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// duckdb is what npm installs.
const duckdb = "@duckdb/node-api@1.5.6-r.1"

func main() {
	log.SetFlags(0)
	log.SetPrefix("perf: ")
	if len(os.Args) > 2 && os.Args[1] == measureWord {
		measureHere(os.Args[2:])
		return
	}
	var r run
	only := flag.String("only", "", "the `LINES` to measure, joined by commas (default: all)")
	list := flag.Bool("list", false, "list the lines, and measure nothing")
	flag.StringVar(&r.folder, "folder", filepath.Join(os.TempDir(), "oloproof-perf"), "the `FOLDER` of the data, which stay there")
	flag.StringVar(&r.node, "duckdb", "", "a `FOLDER` in which `npm install "+duckdb+"` was run (default: done in -folder)")
	flag.StringVar(&r.program, "program", "", "the `PROGRAM` that is measured (default: built from here)")
	flag.IntVar(&r.rows, "rows", 10_000_000, "how many `ROWS` a file has; ten times as many in the lines of 100 million")
	flag.IntVar(&r.rounds, "rounds", 7, "how many `TIMES` each program runs on a line")
	flag.BoolVar(&r.keep, "keep", false, "keep the large files of the lines of 100 million rows")
	flag.Parse()
	if *list {
		for _, l := range lines {
			fmt.Printf("%-20s %s\n", l.name, l.what)
		}
		return
	}
	chosen, err := choose(*only)
	if err != nil || flag.NArg() > 0 || r.rounds < 1 || r.rows < 1 {
		log.Fatal(errors.Join(err, errors.New("usage: go run ./test/perf [flags]; -help lists them, -list the lines")))
	}
	if err := r.prepare(); err != nil {
		log.Fatal(err)
	}
	if err := r.measure(chosen); err != nil {
		log.Fatal(err)
	}
}

// choose returns the lines of a list of names, all for "".
func choose(names string) ([]line, error) {
	if names == "" {
		return lines, nil
	}
	var chosen []line
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(lines, func(l line) bool { return l.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no line %q", name)
		}
		chosen = append(chosen, lines[i])
	}
	return chosen, nil
}

// run is one run of the measurements.
type run struct {
	folder, node, program string
	rows, rounds          int
	keep                  bool

	self, generator string // programs
}

// prepare builds the programs.
func (r *run) prepare() (err error) {
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if r.folder, err = filepath.Abs(r.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return err
	}
	if r.program == "" {
		// As releases are built: without cgo and symbols.
		if r.program, err = r.build("oloproof", "."); err != nil {
			return err
		}
	}
	if r.program, err = filepath.Abs(r.program); err != nil {
		return err
	}
	if r.generator, err = r.build("generate", "./test/perf/generate"); err != nil {
		return err
	}
	return nil
}

// install installs DuckDB, once.
func (r *run) install() (err error) {
	if r.node == "" {
		r.node = filepath.Join(r.folder, "duckdb")
	}
	if r.node, err = filepath.Abs(r.node); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.node, "node_modules", "@duckdb", "node-api")); err == nil {
		return nil
	}
	log.Printf("installing %s in %s", duckdb, r.node)
	return command("npm", "install", "--prefix", r.node, "--no-audit", "--no-fund", "--save-exact", duckdb)
}

// build builds a package of this repository and returns the path of its program.
func (r *run) build(name, pkg string) (string, error) {
	path := filepath.Join(r.folder, name)
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	c.Env = append(c.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s, which has to be run in the repository: %w\n%s", pkg, err, out)
	}
	return path, nil
}

// command runs a program and returns what it printed where it fails.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// measure measures lines and prints each as a row of a Markdown table as soon as it is done.
func (r *run) measure(chosen []line) error {
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], ", ")
	}
	fmt.Printf("%s/%s, %d cores; %s; load before it began (1, 5 and 15 minutes): %s; medians of %d runs.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), duckdb, load, r.rounds)
	fmt.Println(tableHead)
	failed := 0
	for _, l := range chosen {
		row, err := r.line(l)
		if err != nil {
			failed++
			log.Printf("%s: %v", l.name, err)
			continue
		}
		fmt.Println(row)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d lines could not be measured", failed, len(chosen))
	}
	return nil
}

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oloproof/oloproof/engine/report"
)

// TestMain makes the test binary the program itself where a script runs it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"oloproof": func() {
			os.Exit(Main(os.Args[1:], World{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: "1.0.0", Licences: "the licences\n"}))
		},
	})
}

// TestScripts runs the whole program as a user does. go test -update rewrites the scripts' expected files.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			// What the program asks of its environment is what a script sets.
			for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "TERM", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"} {
				env.Setenv(name, "")
			}
			env.Setenv("GORACE", "atexit_sleep_ms=10") // under the race detector each program would wait a second before it ends
			return nil
		},
		Condition: func(cond string) (bool, error) { // [exists:PATH]: the machine has that file
			path, ok := strings.CutPrefix(cond, "exists:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := os.Stat(path)
			return err == nil, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":       exitsCommand,
			"write":       writeCommand,
			"gzip":        compressCommand("gzip", gzipped),
			"zstd":        compressCommand("zstd", zstandard),
			"jsonl":       convertCommand("jsonl", asJSONL),
			"parquet":     convertCommand("parquet", asParquet),
			"valid":       validCommand,
			"field":       fieldCommand,
			"same":        sameCommand,
			"study":       studyCommand,
			"cases":       rowsCommand("cases", caseRows),
			"labels":      rowsCommand("labels", labelRows),
			"certificate": certificateCommand,
			"begins":      beginsCommand,
		},
	})
}

// exitsCommand is `exits STATUS PROGRAM ARGS…`: the program ends with exactly that status. `! exec` would take any.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// writeCommand is `write FILE TEXT…`: the texts, joined, with Go escapes such as \r, \ufeff and \xff.
func writeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: write FILE TEXT…")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.Join(args[1:], ""), `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// compressCommand is `gzip FILE TO` or `zstd FILE TO`.
func compressCommand(name string, compress func([]byte) ([]byte, error)) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: %s FILE TO", name)
		}
		packed, err := compress([]byte(ts.ReadFile(args[0])))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), packed, 0o644))
	}
}

// validCommand is `valid FILE`: the file (or stdout) is a report that the published schema accepts.
func validCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: valid FILE")
	}
	schema, err := compileReportSchema()
	ts.Check(err)
	if err := validate(schema, []byte(ts.ReadFile(args[0]))); err != nil {
		ts.Fatalf("%#v", err)
	}
}

// fieldCommand is `field FILE PATH VALUE`: the value of a JSON document, as JSON. PATH is keys and indexes joined by
// points; * takes every element of a list. With ! there is no such value.
func fieldCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg != (len(args) == 2) {
		ts.Fatalf("usage: field FILE PATH VALUE, or ! field FILE PATH")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	found, ok := lookup(value, strings.Split(args[1], "."))
	if neg {
		if ok {
			ts.Fatalf("%s is there", args[1])
		}
		return
	}
	if !ok {
		ts.Fatalf("there is no %s", args[1])
	}
	text, err := json.Marshal(found)
	ts.Check(err)
	if want := strings.Join(args[2:], " "); string(text) != want {
		ts.Fatalf("%s is %s, want %s", args[1], text, want)
	}
}

// lookup finds a value in a decoded JSON document.
func lookup(value any, path []string) (any, bool) {
	if len(path) == 0 {
		return value, true
	}
	switch v := value.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return lookup(inner, path[1:])
	case []any:
		if path[0] == "*" {
			list := []any{}
			for _, item := range v {
				if inner, ok := lookup(item, path[1:]); ok {
					list = append(list, inner)
				}
			}
			return list, true
		}
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return lookup(v[i], path[1:])
	}
	return nil, false
}

// sameCommand is `same FILE FILE`: two reports differ in nothing but their inputs.
func sameCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	var docs [2]string
	for i, name := range args {
		var r report.Report
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &r))
		if len(r.Gates) == 0 || len(r.Inputs) == 0 {
			ts.Fatalf("%s is no report of a study", name)
		}
		r.Inputs = nil
		doc, err := r.JSON()
		ts.Check(err)
		docs[i] = string(doc)
	}
	if same := docs[0] == docs[1]; same == neg {
		ts.Fatalf("%s and %s: the same is %v", args[0], args[1], same)
	}
}

// studyCommand is `study FILE gains PEOPLE CASES`: a crossed study in which everyone is right with the output, which
// is always right, and wrong without; or `study FILE singles PEOPLE RIGHT`: one decision each with the output, which
// is always wrong.
func studyCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: study FILE gains PEOPLE CASES, or study FILE singles PEOPLE RIGHT")
	}
	people, err := strconv.Atoi(args[2])
	ts.Check(err)
	n, err := strconv.Atoi(args[3])
	ts.Check(err)
	text := ""
	switch args[1] {
	case "gains":
		text = crossedStudy(people, n, func(_, _ int, with bool) bool { return with })
	case "singles":
		text = singles(people, n)
	default:
		ts.Fatalf("unknown study %s", args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// rowsCommand is `cases FILE COLUMNS COUNT ROW …`, a file of decided cases, or `labels FILE COLUMNS COUNT ROW …`, one of
// labels. COUNT of its rows are alike: ROW holds the columns beside the first, the id or the item, which goes from 1
// upwards.
func rowsCommand(name string, rows func(columns string, blocks ...any) string) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 4 || len(args)%2 != 0 {
			ts.Fatalf("usage: %s FILE COLUMNS COUNT ROW [COUNT ROW …]", name)
		}
		var blocks []any
		for i := 2; i < len(args); i += 2 {
			count, err := strconv.Atoi(args[i])
			ts.Check(err)
			blocks = append(blocks, count, args[i+1])
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(rows(args[1], blocks...)), 0o644))
	}
}

// certificateCommand is `certificate FILE`: the file is a certificate that the published schema accepts.
func certificateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: certificate FILE")
	}
	schema, err := compilePrinted("certificate")
	ts.Check(err)
	if err := validate(schema, []byte(ts.ReadFile(args[0]))); err != nil {
		ts.Fatalf("%#v", err)
	}
}

// beginsCommand is `begins FILE START`: the file begins with the content of the other.
func beginsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: begins FILE START")
	}
	if !strings.HasPrefix(ts.ReadFile(args[0]), ts.ReadFile(args[1])) {
		ts.Fatalf("%s does not begin as %s", args[0], args[1])
	}
}

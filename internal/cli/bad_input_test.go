package cli

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// ask runs a verb of human-ai in memory.
func ask(verb gate.Verb, fsys fstest.MapFS, change func(*request), files ...string) *report.Report {
	req := request{verb: verb, gate: humanAI(), files: files, fs: fsys}
	if change != nil {
		change(&req)
	}
	return inMemory().run(req)
}

// problems writes a report's errors as file:line:column: message.
func problems(r *report.Report) []string {
	var list []string
	for _, p := range r.Errors {
		place := p.Pos().String()
		if place != "" {
			place += ": "
		}
		list = append(list, place+p.Message)
	}
	return list
}

// TestEmptyFileAmongOthers: a run that reads good files and one without a row decides nothing, and names that one.
func TestEmptyFileAmongOthers(t *testing.T) {
	for empty, why := range map[string]string{"": "the file is empty", header: "there is a header but no row"} {
		fsys := folder("a.csv", singles(40, 40), "b.csv", empty, "policy.yaml", "rules: [{id: a, metric: accuracy_with, minimum: 0.1}]\n")
		if r := decide(fsys, "a.csv"); r.Verdict != report.Pass {
			t.Fatalf("the good file alone comes to %v", r.Verdict)
		}
		r := decide(fsys, "*.csv")
		if r.ExitStatus != report.ExitUnusable || len(r.Errors) != 1 || r.Errors[0].File != "b.csv" || !strings.Contains(r.Errors[0].Message, why) {
			t.Errorf("exit status %d, errors %+v", r.ExitStatus, r.Errors)
		}
	}
}

// TestBadInput has every fault of a decision file that the specification names (section 2, details to 2 and 4), with
// its message and its place, counted by hand. Nothing is decided, whatever else is in the file.
func TestBadInput(t *testing.T) {
	const h, times = header, "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at\n"
	const good = "z,z,with,a,a,a\n"
	const required = `columns "case", "reviewer", "condition", "decision", "reference", "ai_output"`
	schema := reportSchema(t)
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"empty", "", []string{"f: no row was found: the file is empty"}},
		{"a header alone", h, []string{"f: there is a header but no row: every file needs one"}},
		{"no header", good, []string{"f:1: no required column is in this line, which must be the header (" + required + `; delimiter "," or ";" or "\t" or "|")`}},
		{"UTF-16", "\xFF\xFEc\x00,\x00", []string{"f: it is in UTF-16LE: save it as UTF-8"}},
		{"invalid UTF-8", h + good + "y,y,with,\xE9t\xE9,a,a\n", []string{"f:3:10: the byte 0xE9 is not UTF-8: save the file as UTF-8"}},
		{"old line ends", strings.ReplaceAll("case,reviewer,condition,decision,reference,ai_output,note\nz,z,with,a,a,a,b\n", "\n", "\r"), []string{"f: there is a header but no row: every file needs one (its lines end in a carriage return alone: save it with line feeds)"}},
		{"a missing column", "case,reviewer,condition,decision,reference\nz,z,with,a,a\n",
			[]string{`f:1: the column "ai_output" is missing: add it, or name the one that holds it under columns in the policy`}},
		{"two missing columns, one misspelt", "case,Reviewer,condition,reference,ai_output\nz,z,with,a,a\n", []string{
			`f:1: the column "decision" is missing: add it, or name the one that holds it under columns in the policy`,
			`f:1: the column "reviewer" is missing; there is "Reviewer": rename it, or write columns: {reviewer: "Reviewer"} in the policy`}},
		{"a needed column twice", "case,case,reviewer,condition,decision,reference,ai_output\nz,z,z,with,a,a,a\n",
			[]string{`f:1:6: the column "case" stands twice in the header: keep the one that is meant`}},
		{"delimiters that cannot be told", "case,reviewer,condition,decision,reference,ai_output,x;case;reviewer;condition;decision;reference;ai_output;x\n",
			[]string{`f:1: the header can be read with the delimiters "," and ";": name one with --delimiter`}},
		{"a declared delimiter that is wrong", "sep=;\n" + h + good, []string{"f:2: no required column is in this line, which must be the header (" + required + `; delimiter ";")`}},
		{"ragged rows", h + "z,z,with,a,a\ny,y,with,a,a,a,a\n" + good, []string{
			`f:2:13: the row has 5 fields and the header 6: nothing stands for "ai_output"`,
			`f:3:17: the row has 7 fields and the header 6: put a value that holds the delimiter "," in quotes`}},
		{"quotes", h + "z,\"z\"z,with,a,a,a\ny,y,with,a \"b\",a,a\nx,x,with,\"a,a,a\n", []string{
			"f:2:6: text follows a closing quote: a quoted field ends at its quote, and quotes inside it are doubled",
			"f:3:12: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside",
			"f:4:10: the quote that opens here is never closed"}},

		{"conditions", h + "z,z,WITH,a,a,a\ny,y,with ai,a,a,a\nx,x,,a,a,a\n", []string{
			`f:2:5: condition is "WITH"; write "with" or "without"`,
			`f:3:5: condition is "with ai"; write "with" or "without"`,
			"f:4:5: condition is empty; every row needs one"}},
		{"nothing where something is needed", h + " ,,with,a,,a\n", []string{
			"f:2:1: case is empty; every row needs one",
			"f:2:3: reviewer is empty; every row needs one",
			"f:2:11: reference is empty; every row needs one"}},
		{"the same row twice", h + good + good, []string{"f:3: the same case, reviewer and condition as at f:2; a person decides a case once in a condition"}},
		{"the same decision with another answer", h + good + "z,z,with,b,a,a\n", []string{"f:3: the same case, reviewer and condition as at f:2; a person decides a case once in a condition"}},
		{"two references", h + good + "z,y,with,a,b,a\n", []string{`f:3:12: the reference of case "z" is "b" here and "a" at f:2:12; a case has one reference`}},
		{"references that differ in letter case", h + good + "z,y,with,a,A,a\n", []string{`f:3:12: the reference of case "z" is "A" here and "a" at f:2:12; they differ only in letter case, spaces or Unicode form: write each label in one way`}},
		{"quoted newlines before", "note," + h + "\"one\ntwo\"," + good + "x,y,y,wth,a,a,a\n", []string{`f:4:7: condition is "wth"; write "with" or "without"`}},

		{"negative time", times + "z,z,with,a,a,a,10,7\n", []string{"f:2:19: decided_at is before started_at; a decision cannot take negative time"}},
		{"negative time over midnight in two zones", times + "z,z,with,a,a,a,2026-01-01T00:30:00+01:00,2025-12-31T23:29:59Z\n",
			[]string{"f:2:42: decided_at is before started_at; a decision cannot take negative time"}},
		{"times of two kinds", times + "z,z,with,a,a,a,2026-01-01T10:00:00Z,7\n",
			[]string{"f:2:37: decided_at is seconds, but the time at f:2:16 is ISO 8601; write all times of a study in one way"}},
		{"a decimal comma", times + "z,z,with,a,a,a,0,\"7,5\"\n", []string{`f:2:18: decided_at: found "7,5": a decimal comma is not read, write a point`}},

		{"a JSON array", `[{"case":1}]`, []string{"f: it is a JSON array: write its objects one a line, without the brackets and the commas between them"}},
		{"a key twice", `{"case":"z","reviewer":"z","condition":"with","decision":"a","reference":"a","ai_output":"a","decision":"b"}`,
			[]string{`f:1:94: the key "decision" stands twice in this object: keep the one that is meant`}},
		{"an object as a value", `{"case":"z","reviewer":"z","condition":"with","decision":{"label":"a"},"reference":"a","ai_output":"a"}`,
			[]string{`f:1:58: the value of "decision" is an object: a text, a number, true, false or null is allowed`}},
		{"a list as a value", `{"case":"z","reviewer":"z","condition":"with","decision":["a"],"reference":"a","ai_output":"a"}`,
			[]string{`f:1:58: the value of "decision" is an array: a text, a number, true, false or null is allowed`}},
		{"a key that no object has", `{"case":"z","reviewer":"z","condition":"with","reference":"a","ai_output":"a"}`,
			[]string{`f: the key "decision" is missing: add it, or name the one that holds it under columns in the policy`}},
		{"null where something is needed", `{"case":"z","reviewer":null,"condition":"with","decision":"a","reference":"a","ai_output":"a"}`,
			[]string{"f:1:24: reviewer is empty; every row needs one"}},
		{"an object that is not closed", `{"case":"z"`, []string{"f:1:1: the object that begins here is never closed: the file ends inside it"}},
		{"a spreadsheet", "PK\x03\x04", []string{"f: it is a zip archive (as .xlsx spreadsheets are): CSV and JSONL are read, plain or compressed with gzip or zstd, and Parquet"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := folder("f", test.content, "policy.yaml", "rules: [{id: a, metric: accuracy_with, minimum: 0}]\n")
			decided := decide(fsys, "f")
			for _, r := range []*report.Report{decided, ask(gate.Check, fsys, nil, "f"), ask(gate.Report, fsys, nil, "f")} {
				if diff := cmp.Diff(test.want, problems(r)); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
				if r.ExitStatus != 2 || r.Verdict != report.NoVerdict || len(r.Gates) > 0 {
					t.Errorf("exit status %d, verdict %v, %d gates", r.ExitStatus, r.Verdict, len(r.Gates))
				}
				doc, err := r.JSON()
				if err != nil {
					t.Fatal(err)
				}
				if err := validate(schema, doc); err != nil {
					t.Errorf("the schema refuses the report: %#v", err)
				}
			}

			// The same with a good file before and after: nothing is decided on what is left.
			for name := range map[string]bool{"a": true, "z": true} {
				fsys[name] = &fstest.MapFile{Data: []byte(h + "good-" + name + ",good-" + name + ",with,a,a,a\n")}
			}
			again := decide(fsys, "a", "f", "z")
			if diff := cmp.Diff(test.want, problems(again)); diff != "" && !strings.Contains(test.name, "times of two") {
				t.Errorf("between two good files (-want +got):\n%s", diff)
			}
			if again.ExitStatus != 2 {
				t.Errorf("between two good files the exit status is %d", again.ExitStatus)
			}
		})
	}
}

// TestBadPaths has the faults of what is named, not of what is in it.
func TestBadPaths(t *testing.T) {
	one := header + "a,a,with,a,a,a\n"
	fsys := folder("one.csv", one, "copy.csv", one, "two.csv", header+"b,b,with,a,a,a\n", "folder/x.csv", header+"c,c,with,a,a,a\n", "seven.yaml", "a")
	packed, err := gzipped([]byte(one))
	if err != nil {
		t.Fatal(err)
	}
	fsys["one.csv.gz"] = &fstest.MapFile{Data: packed}
	fsys["cut.csv.gz"] = &fstest.MapFile{Data: packed[:len(packed)-9]}
	for _, test := range []struct {
		files string
		want  []string
	}{
		{"absent.csv", []string{"absent.csv: there is no such file"}},
		{"*.tsv", []string{"*.tsv: nothing matches this glob"}},
		{"folder", []string{`folder: it is a folder: name its files, or give a glob such as "folder/*.csv"`}},
		{"one.csv one.csv", []string{"one.csv: the file is given twice: name it once"}},
		{"one.csv copy.csv", []string{"copy.csv: the content is the same as that of one.csv: a file can be given once",
			"copy.csv:2: the same case, reviewer and condition as at one.csv:2; a person decides a case once in a condition"}},
		{"one.csv one.csv.gz", []string{"one.csv.gz: the content is the same as that of one.csv: a file can be given once",
			"one.csv.gz:2: the same case, reviewer and condition as at one.csv:2; a person decides a case once in a condition"}},
		{"cut.csv.gz", []string{"cut.csv.gz:3: the compressed data end too early: the file is cut off"}},
		{"-", []string{"-: standard input cannot be read here: name a file"}},
		{"two.csv absent.csv *.tsv", []string{"*.tsv: nothing matches this glob", "absent.csv: there is no such file"}},
		{"", []string{"no decision file: name one or more files (CSV or JSONL), a glob, or - for standard input"}},
	} {
		t.Run(test.files, func(t *testing.T) {
			r := ask(gate.Report, fsys, nil, strings.Fields(test.files)...)
			if diff := cmp.Diff(test.want, problems(r)); diff != "" || r.ExitStatus != 2 {
				t.Errorf("exit status %d, problems (-want +got):\n%s", r.ExitStatus, diff)
			}
		})
	}
}

// TestManyProblems checks that all problems are counted, and how many are kept.
func TestManyProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString(header)
	for i := range 1500 {
		fmt.Fprintf(&b, "c%d,r,neither,a,a,a\n", i)
	}
	r := ask(gate.Check, folder("f", b.String()), nil, "f")
	if len(r.Errors)+r.MoreErrors != 1500 || len(r.Errors) < 20 {
		t.Errorf("%d problems and %d more, want 1500 in all", len(r.Errors), r.MoreErrors)
	}
}

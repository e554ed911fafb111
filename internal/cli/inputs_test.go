package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// assignmentOf is an assignment that the rows of singles(n, …) follow.
func assignmentOf(n int) string {
	lines := []string{"reviewer,case,condition"}
	for row := range strings.Lines(strings.TrimPrefix(singles(n, 0), header)) {
		fields := strings.Split(row, ",")
		lines = append(lines, fields[1]+","+fields[0]+","+fields[2])
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestReportOverStdin checks that a report does not take the place of the file that standard input comes from.
func TestReportOverStdin(t *testing.T) {
	t.Chdir(t.TempDir())
	study := singles(40, 38)
	run := func(args string) (status int, stderr string) {
		t.Helper()
		writeFile(t, "d.csv", study)
		in, err := os.Open("d.csv")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out, errs bytes.Buffer
		world := inMemory().World
		world.Stdin, world.Stdout, world.Stderr = in, &out, &errs
		return Main(strings.Fields(args), world), errs.String()
	}
	kept := func(args string) {
		t.Helper()
		if text, err := os.ReadFile("d.csv"); err != nil || string(text) != study {
			t.Errorf("%s: the file that was read is now %.40q (%v)", args, text, err)
		}
	}
	const refused = "oloproof: cannot write ./d.csv: the run read this file, and a report does not take its place\n"
	for _, args := range []string{"human-ai check - --format json:./d.csv", "human-ai check absent.csv - --format json:./d.csv"} {
		if status, stderr := run(args); status != 2 || !strings.Contains(stderr, refused) {
			t.Errorf("%s: exit %d\n%s", args, status, stderr)
		}
		kept(args)
	}
	// Also where the rows were no decisions at all.
	study = "no decisions\n"
	if status, stderr := run("human-ai check - --format json:./d.csv"); status != 2 || !strings.Contains(stderr, refused) {
		t.Errorf("exit %d\n%s", status, stderr)
	}
	kept("a file of something else")

	// A file that is only named "-" is another, and what was not read can be written.
	study = singles(40, 38)
	writeFile(t, "-", strings.ReplaceAll(study, "person", "other"))
	if status, stderr := run("human-ai check ./- --format json:d.csv"); status != 0 {
		t.Errorf("exit %d\n%s", status, stderr)
	}
	if text, err := os.ReadFile("d.csv"); err != nil || !strings.HasPrefix(string(text), "{") {
		t.Errorf("no report was written over the file that was not read: %.40q (%v)", text, err)
	}
}

// TestStdinTwice has the ways to ask for standard input twice in one run.
func TestStdinTwice(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	writeFile(t, "twice.yaml", "human_ai:\n"+
		"  - {name: one, decisions: '-', rules: [{id: a, metric: agreement, minimum: 0.1}]}\n"+
		"  - {name: two, decisions: '-', rules: [{id: b, metric: agreement, minimum: 0.1}]}\n")
	writeFile(t, "once.yaml", "human_ai:\n"+
		"  - {name: one, decisions: '-', rules: [{id: a, metric: accuracy_with, minimum: 0.1}]}\n"+
		"  - {name: two, decisions: d.csv, rules: [{id: b, metric: accuracy_with, minimum: 0.1}]}\n")
	writeFile(t, "assigned.yaml", "human_ai: {decisions: '-', assignment: '-', rules: [{id: a, metric: agreement, minimum: 0.1}]}\n")
	const once = ", and can be read once: put one of them in a file\n"
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"gate twice.yaml", 2, "\n-: standard input is given as the rows of human-ai and as the rows of human-ai" + once},
		{"gate assigned.yaml", 2, "\n-: standard input is given as the rows of human-ai and as the assignment of human-ai" + once},
		{"human-ai check - --assignment -", 2, "\n-: standard input is given as the rows of human-ai and as the assignment of human-ai" + once},
		{"human-ai check - -", 2, "\n-: the file is given twice: name it once\n"},
		{"compare check --baseline - --candidate -", 2, "\n-: standard input is given as the baseline of compare and as the candidate of compare" + once},
		// Once is no problem, also of two sections that read the same rows from a file and from there.
		{"gate once.yaml", 0, "PASS: 2 of 2 rules passed, exit 0\n"},
	} {
		var out, errs bytes.Buffer
		world := inMemory().World
		world.Stdin, world.Stdout, world.Stderr = strings.NewReader(singles(40, 38)), &out, &errs
		if status := Main(strings.Fields(test.args), world); status != test.status || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", test.args, status, test.status, test.want, &errs)
		}
	}
}

// TestOneFileTwoRoles checks that one gate is not given one file as two things; two sections may read the same one.
func TestOneFileTwoRoles(t *testing.T) {
	t.Chdir(t.TempDir())
	const trials = "case,trial,passed\na,1,1\na,2,0\nb,1,1\nb,2,1\n"
	for name, text := range map[string]string{
		"d.csv": singles(40, 38), "copy.csv": singles(40, 38), "assignment.csv": assignmentOf(40),
		"old.csv": trials, "new.csv": trials, "other.csv": trials + "c,1,0\n",
		"both.yaml": "human_ai:\n" +
			"  - {name: one, decisions: d.csv, rules: [{id: a, metric: accuracy_with, minimum: 0.1}]}\n" +
			"  - {name: two, decisions: copy.csv, rules: [{id: b, metric: accuracy_with, minimum: 0.1}]}\n",
		"roles.yaml": "human_ai: {decisions: d.csv, assignment: copy.csv, rules: [{id: a, metric: agreement, minimum: 0.1}]}\n",
	} {
		writeFile(t, name, text)
	}
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"human-ai check d.csv --assignment d.csv", 2, "\nd.csv: this is the same file as d.csv, which is given as the rows: the assignment needs a file of its own\n"},
		{"human-ai check d.csv --assignment copy.csv", 2, "\ncopy.csv: this is the same file as d.csv, which is given as the rows: the assignment needs a file of its own\n"},
		{"gate roles.yaml", 2, "\ncopy.csv: this is the same file as d.csv, which is given as the rows: the assignment needs a file of its own\n"},
		{"compare report --baseline old.csv --candidate new.csv", 2, "\nnew.csv: this is the same file as old.csv, which is given as the baseline: the candidate needs a file of its own\n"},
		{"compare report --baseline old.csv --candidate other.csv", 0, "Read 9 rows, and there was nothing to decide, exit 0\n"}, // 4 and 5
		{"human-ai check d.csv --assignment assignment.csv", 0, "Read 40 rows, and there was nothing to decide, exit 0\n"},
		{"gate both.yaml", 0, "PASS: 2 of 2 rules passed, exit 0\n"},
	} {
		status, _, stderr := runMain(strings.Fields(test.args)...)
		if status != test.status || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s", test.args, status, test.status, test.want, stderr)
		}
	}
}

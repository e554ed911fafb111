package ledger

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

const inputs = "abababababababababababababababababababababababababababababababab"

// read reads a ledger, and returns what is wrong with it.
func read(text string) (*Ledger, []string) {
	diags := &diag.List{}
	l := Read("l.jsonl", []byte(text), diags)
	items, _ := diags.Sorted()
	var list []string
	for _, d := range items {
		list = append(list, d.String())
	}
	return l, list
}

// mustAppend adds a look of a rule to a ledger's text.
func (l *Ledger) mustAppend(t testing.TB, day string, rules ...Rule) string {
	t.Helper()
	text, err := l.Append(Look{Day: day, Tool: "1.0.0", Inputs: inputs, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// written writes a ledger of so many looks, each with one unit more.
func written(t testing.TB, n int) string {
	t.Helper()
	text := ""
	for i := range n {
		l, problems := read(text)
		if problems != nil {
			t.Fatal(problems)
		}
		brackets := make([][2]float64, i+1)
		for j := range brackets {
			brackets[j] = [2]float64{-0.25, 1.0 / 3}
		}
		r := means(part(i+1, brackets...))
		r.Threshold = "minimum 0"
		text = l.mustAppend(t, fmt.Sprintf("2027-03-%02d", i+1), r)
	}
	return text
}

// TestAppend: what was there stays byte for byte, and what is written is read back.
func TestAppend(t *testing.T) {
	text := written(t, 3)
	if !strings.HasPrefix(text, written(t, 2)) {
		t.Errorf("two looks became\n%s", text)
	}
	l, problems := read(text)
	if problems != nil || len(l.Looks) != 3 {
		t.Fatalf("%d looks, %v", len(l.Looks), problems)
	}
	for i, look := range l.Looks {
		r := means(part(i+1, make([][2]float64, 0)...))
		r.Threshold, r.Units, r.Parts = "minimum 0", i+1, look.Rules[0].Parts
		want := []Rule{r}
		if diff := cmp.Diff(want, look.Rules, cmpopts.IgnoreUnexported(Rule{})); diff != "" || look.Rules[0].Parts[0].Units() != i+1 {
			t.Errorf("look %d (-want +got):\n%s", i+1, diff)
		}
		if look.Schema != SchemaName || look.Tool != "1.0.0" || look.Inputs != inputs {
			t.Errorf("%+v", look)
		}
	}
	if v := l.Looks[0].Rules[0].Parts[0].Values[0]; v.Low != -0.25 || v.High != 1.0/3 {
		t.Errorf("the value came back as %v", v)
	}
	windows, problems := read(strings.ReplaceAll(text, "\n", "\r\n"))
	if problems != nil || len(windows.Looks) != 3 {
		t.Errorf("with the line ends of Windows: %v", problems)
	}
	if next := windows.mustAppend(t, "2027-03-04", means(part(0))); !strings.HasPrefix(next, strings.ReplaceAll(text, "\n", "\r\n")) {
		t.Error("the line ends were changed")
	} else if _, problems := read(next); problems != nil {
		t.Error(problems)
	}
	if !l.Recorded(l.Looks[1].Rules) || l.Recorded([]Rule{means(part(3))}) {
		t.Error("what was recorded is not, or the reverse")
	}
	changed := l.Looks[1].Rules[0]
	changed.Threshold = "minimum 0.1"
	if l.Recorded([]Rule{changed}) {
		t.Error("another threshold is taken for the same")
	}
}

// TestHostile: one change each, and what is said of it, with its line.
func TestHostile(t *testing.T) {
	text := written(t, 3)
	lines := strings.SplitAfter(text, "\n")[:3]
	for _, c := range []struct{ name, text, want string }{
		{"cut off", text[:len(text)-1], "l.jsonl:3: the last line is cut off"},
		{"an empty line", lines[0] + "\n" + lines[1], "l.jsonl:2: the line is empty"},
		{"a table", "a,b\n", `l.jsonl:1: it begins with "a", and a look is a JSON object`},
		{"no UTF-8", "\xff\xfe\n", `l.jsonl:1: it begins with`},
		{"an unfinished merge", lines[0] + "<<<<<<< HEAD\n", "l.jsonl:2: a merge was not finished"},
		{"another schema", strings.Replace(text, "oloproof-ledger/1", "oloproof-ledger/2", 1), `l.jsonl:1: its schema is "oloproof-ledger/2"; this program reads oloproof-ledger/1`},
		{"no JSON", "{]\n", "l.jsonl:1: it is not a look: invalid character ']'"},
		{"a number that is a text", strings.Replace(lines[0], `"units":1`, `"units":"1"`, 1), "l.jsonl:1: it is not a look: "},
		{"an unknown name", strings.Replace(lines[0], `"day"`, `"note":"x","day"`, 1), "l.jsonl:1: it is not as this program writes looks, from column "},
		{"a name that is there twice", strings.Replace(lines[0], `"units":1`, `"units":2,"units":1`, 1), "l.jsonl:1: it is not as this program writes looks"},
		{"a name in capitals", strings.Replace(lines[0], `"units"`, `"Units"`, 1), "l.jsonl:1: it is not as this program writes looks"},
		{"white space", strings.Replace(lines[0], `"units":1`, `"units": 1`, 1), "l.jsonl:1: it is not as this program writes looks"},
		{"a day that is none", strings.Replace(lines[0], "2027-03-01", "2027-02-30", 1), `l.jsonl:1: day is "2027-02-30"`},
		{"no rules", strings.Replace(lines[0], `"rules":[`, `"rules":[],"x":[`, 1), "l.jsonl:1: it has no rules"},
		{"a rule twice", strings.Replace(lines[0], `"rules":[`, `"rules":[`+lines[0][strings.Index(lines[0], `{"id"`):strings.LastIndex(lines[0], `],"digest"`)]+",", 1), `l.jsonl:1: rule "a" is there twice`},
		{"no verdict", strings.Replace(lines[0], `"verdict":"PASS",`, ``, 1), `l.jsonl:1: rule "a": it has no verdict`},
		{"looks of another kind", strings.Replace(lines[0], `"looks":"any"`, `"looks":"all"`, 1), `looks is "all"; it is one, planned or any`},
		{"growth of another kind", strings.Replace(lines[0], `"grows":"either"`, `"grows":"both"`, 1), `grows is "both"`},
		{"a plan of none", strings.Replace(lines[0], `"looks":"any"`, `"looks":"planned"`, 1), "planned goes with looks planned"},
		{"no error", strings.Replace(lines[0], `"error":0.025`, `"error":0`, 1), "error is not above 0"},
		{"other units", strings.Replace(lines[0], `"units":1`, `"units":7`, 1), "units is 7, and its values are of 1"},
		{"ends in another order", strings.Replace(lines[0], "[-0.25,", "[0.75,", 1), "a value's ends are not in order"},
		{"an endless end", strings.Replace(lines[0], "[-0.25,", "[-1e999,", 1), "l.jsonl:1: it is not a look: "},
		{"two numbers", strings.Replace(lines[0], "[-0.25,", "[", 1), "a value has 2 numbers"},
		{"a value of no unit", strings.Replace(lines[0], ",1]]", ",0]]", 1), "a value has no units"},
		{"values in another order", strings.Replace(lines[0], "[[-0.25,0.3333333333333333,1]]", "[[0,0,1],[0,0,1]]", 1), "values are not in order"},
		{"a part twice", strings.Replace(lines[0], `"parts":[`, `"parts":[{"decisions":0,"values":[]},`, 1), "is there twice"},
		{"no values", strings.Replace(lines[0], `"values":[[-0.25,0.3333333333333333,1]]`, `"values":null`, 1), "a list of values"},
		{"a digest that is none", strings.Replace(lines[0], `"previous":[]`, `"previous":["x"]`, 1), `previous has "x"`},
		{"no digests", strings.Replace(lines[0], `"previous":[]`, `"previous":null`, 1), "it has no previous"},
		{"the first line taken out", lines[1] + lines[2], "l.jsonl:1: it follows on a line, and is the first: lines above it were taken out"},
		{"a line taken out", lines[0] + lines[2], "l.jsonl:2: a line that it follows on is not above it"},
		{"lines in another order", lines[0] + lines[2] + lines[1], "l.jsonl:2: a line that it follows on is not above it"},
		{"a verdict changed", strings.Replace(text, "PASS", "FAIL", 1), "l.jsonl:1: it was changed after it was written"},
		{"the last verdict changed", lines[0] + lines[1] + strings.Replace(lines[2], "PASS", "FAIL", 1), "l.jsonl:3: it was changed after it was written"},
		{"no digest of its own", lines[0][:strings.LastIndex(lines[0], `,"digest"`)] + "}\n", "l.jsonl:1: it has no digest of its own"},
		{"a section below the first", strings.Replace(lines[0], `"question"`, `"section":-1,"question"`, 1), "section is -1"},
		{"another ledger behind it", lines[0] + lines[0], "l.jsonl:2: it follows on no line, and is not the first"},
		{"too long", strings.Repeat("x", MaxBytes+1), "longer than 32 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.text == text || c.text == lines[0] {
				t.Fatal("nothing was changed")
			}
			diags := &diag.List{}
			Read("l.jsonl", []byte(c.text), diags)
			err := diags.Err()
			if diags.Len() != 1 || !strings.Contains(err.Error(), c.want) { // what comes of it in the lines below is not told as well
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestMerge: two branches that each add a look make one ledger that holds both; the next look follows on both, and neither can be
// taken out any more.
func TestMerge(t *testing.T) {
	base := written(t, 1)
	l, _ := read(base)
	ours := strings.TrimPrefix(l.mustAppend(t, "2027-03-02", means(part(1, [2]float64{0, 0}))), base)
	theirs := strings.TrimPrefix(l.mustAppend(t, "2027-03-03", means(part(1, [2]float64{1, 1}))), base)
	merged, problems := read(base + ours + theirs)
	if problems != nil {
		t.Fatal(problems)
	}
	next := merged.mustAppend(t, "2027-03-04", means(part(2, [2]float64{0, 0}, [2]float64{1, 1})))
	after, problems := read(next)
	if problems != nil || len(after.Looks[3].Previous) != 2 {
		t.Fatalf("%v, previous %v", problems, after.Looks[3].Previous)
	}
	for _, gone := range []string{ours, theirs} {
		if _, problems := read(strings.Replace(next, gone, "", 1)); len(problems) != 1 || !strings.HasPrefix(problems[0], "l.jsonl:3: a line that it follows on is not above it") {
			t.Errorf("without a side: %v", problems)
		}
	}
	for _, c := range []struct {
		older string
		holds bool
	}{{base, true}, {base + ours, true}, {base + theirs, true}, {base + ours + theirs, true}, {"", true}, {base + theirs + ours, false}} {
		older, problems := read(c.older)
		if problems != nil {
			t.Fatal(problems)
		}
		if err := after.Extends(older); (err == nil) != c.holds {
			t.Errorf("%v, want %v of\n%s", err, c.holds, c.older)
		}
	}
	if err := merged.Extends(after); err == nil || !strings.Contains(err.Error(), "look 4 of the older ledger, of 2027-03-04") {
		t.Errorf("a ledger without its last line: %v", err)
	}
}

// TestManyLooks: there are so many looks at most, and the first that is one too many is told.
func TestManyLooks(t *testing.T) {
	l, text := looks(means(part(0))), &strings.Builder{}
	for range mostLooks + 1 {
		line := strings.TrimPrefix(l.mustAppend(t, "2027-03-01", means(part(0))), string(l.text))
		text.WriteString(line)
		l.heads = []string{digestOf([]byte(strings.TrimSuffix(line, "\n")))}
	}
	if _, problems := read(text.String()); len(problems) != 1 || !strings.HasPrefix(problems[0], fmt.Sprintf("l.jsonl:%d: it has more than %d looks", mostLooks+1, mostLooks)) {
		t.Errorf("%d problems: %.300s", len(problems), problems)
	}
}

// TestFull: a ledger does not grow beyond what is read.
func TestFull(t *testing.T) {
	l := &Ledger{text: bytes.Repeat([]byte("x"), MaxBytes)}
	if _, err := l.Append(Look{}); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("got %v", err)
	}
	if _, err := (&Ledger{Looks: make([]Look, mostLooks)}).Append(Look{}); err == nil {
		t.Error("more looks than are read")
	}
}

// TestStandings: a ledger shows at each of its looks what the run was told then.
func TestStandings(t *testing.T) {
	l, _ := read(written(t, 3))
	for i, seen := range l.Standings() {
		want := report.Look{Number: i + 1, Change: report.LookUnitsAdded, ErrorAtMost: 0.025}
		if i == 0 {
			want.Change = report.LookFirst
		}
		if diff := cmp.Diff(want, seen.Standings[0].Look); diff != "" || seen.Day != fmt.Sprintf("2027-03-%02d", i+1) {
			t.Errorf("look %d of %s (-want +got):\n%s", i+1, seen.Day, diff)
		}
	}
}

// FuzzRead: whatever a ledger holds, it is refused or taken whole, and what is taken can be held against and added to.
func FuzzRead(f *testing.F) {
	text := written(f, 2)
	f.Add(text)
	f.Add(strings.ReplaceAll(text, "\n", "\r\n"))
	f.Add(strings.Replace(text, "PASS", "FAIL", 1))
	f.Add("{}\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		l, problems := read(text)
		if problems != nil {
			return
		}
		l.Standings()
		for _, look := range l.Looks {
			if !l.Recorded(look.Rules) {
				t.Fatal("a look is not recorded that is there")
			}
		}
		rule := means(part(1, [2]float64{0, 1}))
		l.holdOne(rule)
		next := l.mustAppend(t, "2027-03-09", rule)
		if !strings.HasPrefix(next, text) {
			t.Fatal("what was there has changed")
		}
		if again, problems := read(next); problems != nil || again.Extends(l) != nil {
			t.Fatalf("what was added is refused: %v", problems)
		}
	})
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// runDraw runs `anchoring draw` and returns its output, what it says, and whether it could be carried out.
func runDraw(stdin string, args ...string) (stdout_, stderr string, ok bool) {
	var out, said bytes.Buffer
	a := inMemory()
	a.World.Stdin, a.World.Stderr = strings.NewReader(stdin), &said
	a.stdout = &stdout{Writer: &out}
	a.World.Stdout = a.stdout
	cmd := a.drawCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(&said, err)
	}
	return out.String(), said.String(), err == nil
}

// list is a list of n items, one a line.
func list(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "item-%05d\n", i)
	}
	return b.String()
}

// blindOf is how many rows of a draw are blind.
func blindOf(text string) int { return strings.Count(text, ",blind,") }

func TestDraw(t *testing.T) {
	text, said, ok := runDraw(list(1000), "--items", "-", "--rate", "0.20", "--seed", "s")
	if !ok || said != "" {
		t.Fatalf("it says:\n%s", said)
	}
	lines := strings.Split(text, "\n")
	if lines[0] != "item,visibility,inclusion_probability" || len(lines) != 1002 || lines[1001] != "" {
		t.Fatalf("%d lines, the first %q", len(lines), lines[0])
	}
	for i, line := range lines[1:1001] {
		if blind, visible := fmt.Sprintf("item-%05d,blind,0.2", i), fmt.Sprintf("item-%05d,visible,0.2", i); line != blind && line != visible {
			t.Fatalf("line %d is %q", i+2, line)
		}
	}
	// 0.2 × 1000, and 3.29 standard deviations of sqrt(1000 × 0.2 × 0.8) = 12.6.
	if blind := blindOf(text); blind < 200-41 || blind > 200+41 {
		t.Errorf("%d items are blind, want about 200", blind)
	}
	again, _, _ := runDraw(list(1000), "--items", "-", "--rate", "0.2", "--seed", "s", "--minimum", "0")
	if diff := cmp.Diff(text, again); diff != "" {
		t.Errorf("drawn again (-before +after):\n%s", diff)
	}
	if other, _, _ := runDraw(list(1000), "--items", "-", "--rate", "0.2", "--seed", "t"); other == text {
		t.Error("another seed gave the same draw")
	}
}

// TestDrawUnderTheFloor has its probabilities from exact fractions of the binomial: E[max(Bin(50, 0.2), 20)]/50 =
// 0.4000092798 (engine/study/testdata/draw.py).
func TestDrawUnderTheFloor(t *testing.T) {
	for _, test := range []struct {
		n    int
		said string
		each string // the probability
	}{
		{50, "oloproof: warning: rate × items is under --minimum 20: at the rate 0.2, 50 items can supply a floor of 10; with the next by their hashes, 20 are blind\n", "0.4000092798"},
		{7, "oloproof: warning: rate × items is under --minimum 20: at the rate 0.2, 7 items can supply a floor of 1; all are blind, and still too few\n", "1"},
		{1, "oloproof: warning: rate × items is under --minimum 20: at the rate 0.2, 1 item can supply a floor of 0; all are blind, and still too few\n", "1"},
	} {
		text, said, ok := runDraw(list(test.n), "--items", "-", "--rate", "0.2", "--seed", "s")
		if !ok || said != test.said {
			t.Errorf("%d items: it says\n%swant\n%s", test.n, said, test.said)
		}
		if blindOf(text) != min(test.n, 20) || strings.Count(text, ","+test.each+"\n") != test.n {
			t.Errorf("%d items: drawn\n%s", test.n, text)
		}
	}
}

func TestDrawKeepsAnEarlierOne(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "before.txt", list(30))
	before, _, ok := runDraw("", "--items", "before.txt", "--rate", "0.1", "--seed", "s")
	if !ok || blindOf(before) != 20 {
		t.Fatalf("drawn\n%s", before)
	}
	write(t, "draw.csv", before)
	// Without the first two items, with 470 new ones.
	write(t, "after.txt", strings.Join(strings.SplitAfter(list(500), "\n")[2:], ""))
	after, said, ok := runDraw(before, "--items", "after.txt", "--rate", "0.5", "--seed", "s", "--previous", "-")
	lines := strings.SplitAfter(before, "\n")
	want := fmt.Sprintf("oloproof: warning: left out 2 items of the previous draw (%d blind) not among the items; leave their labels out too\n",
		blindOf(lines[1]+lines[2]))
	if !ok || said != want {
		t.Errorf("it says\n%swant\n%s", said, want)
	}
	if kept := lines[0] + strings.Join(lines[3:], ""); !strings.HasPrefix(after, kept) {
		t.Errorf("drawn\n%swant first\n%s", after, kept)
	}
	if n := strings.Count(after, ",0.5\n"); n != 470 {
		t.Errorf("%d new items have the rate, want 470", n)
	}
	// The floor adds none, and what cannot be reached any more is said.
	_, said, ok = runDraw("", "--items", "after.txt", "--rate", "0.5", "--seed", "s", "--previous", "draw.csv", "--minimum", "400")
	if !ok || !strings.Contains(said, "of 498 items are blind, under --minimum 400, which adds none to an earlier draw: an item drawn visible stays so") {
		t.Errorf("it says\n%s", said)
	}
}

func TestDrawWarnsOfIdsLikeFormulas(t *testing.T) {
	text, said, ok := runDraw("-17\n@ann\n+1\nb\n", "--items", "-", "--rate", "1", "--minimum", "0", "--seed", "s")
	want := "oloproof: warning: a spreadsheet takes ids that begin with = + - or @ for formulas (3 here); where the file is opened in one, import the column as text\n"
	if !ok || said != want || text != "item,visibility,inclusion_probability\n-17,blind,1\n@ann,blind,1\n+1,blind,1\nb,blind,1\n" {
		t.Errorf("it says\n%s%s", said, text)
	}
}

func TestDrawThatCannotBeMade(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "bad.csv", "item,text\na,x\na,y\n")
	write(t, "draw.csv", "item,visibility,inclusion_probability\na,blind,0.2\nb,seen,0.2\n")
	write(t, "other.csv", "item,visibility,inclusion_probability\nz,blind,0.2\n")
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing given", nil, `oloproof: 3 problems

--items is missing; give a file with one id a line, or with a column item
--rate is missing; write the probability with which an item is blind, such as 0.2
--seed is empty; give a text of your own, and keep it with the study
`},
		{"everything wrong", []string{"--items", "bad.csv", "--rate", "20%", "--minimum", "-1", "--seed", " ", "--previous", "draw.csv"}, `oloproof: 5 problems

--minimum is "-1"; write a whole number of items, from 0 to 10000000
--rate: found "20%": a decimal number such as 0.25 or 1e-3 is allowed
--seed is empty; give a text of your own, and keep it with the study
bad.csv:3:1: the item "a" is the same as at bad.csv:2:1: each item may stand once
draw.csv:3:3: visibility is "seen"; write "visible" or "blind"
`},
		{"standard input twice", []string{"--items", "-", "--rate", "0", "--seed", "s", "--previous", "-"}, `oloproof: 2 problems

--items and --previous are both standard input, which can be read once: put one of them in a file
--rate: found "0": a decimal number above 0 and at most 1, such as 0.2, is allowed
`},
		{"files that are not there", []string{"--items", "a.txt", "--rate", "1", "--seed", "s", "--previous", "b.csv"}, `oloproof: 2 problems

a.txt: the items cannot be read: there is no such file
b.csv: there is no such file
`},
		{"the draw of another corpus", []string{"--items", "-", "--rate", "1", "--seed", "s", "--previous", "other.csv"}, `oloproof: 1 problem

no item of the previous draw is among these: give the draw of this corpus, or none
`},
		{"a word too many", []string{"items.txt", "--rate", "1"}, "unknown command \"items.txt\" for \"draw\"\n"},
	} {
		text, said, ok := runDraw("a\nb\n", test.args...)
		if ok || text != "" {
			t.Errorf("%s: drawn\n%s", test.name, text)
		}
		if diff := cmp.Diff(test.want, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestDrawOntoItsOwnInput: a shell has emptied the file by then.
func TestDrawOntoItsOwnInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "items.txt", list(3))
	f, err := os.Create("draw.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var said bytes.Buffer
	a := inMemory()
	a.World.Stderr, a.stdout = &said, &stdout{Writer: f}
	a.World.Stdout = a.stdout
	err = a.draw(drawing{items: "items.txt", rate: "0.2", minimum: "1", seed: "s", previous: filepath.Join(".", "draw.csv")})
	want := "oloproof: 1 problem\n\ndraw.csv: standard output goes to the file of --previous; write the draw to another one\n"
	if !errors.Is(err, errReported) || said.String() != want {
		t.Errorf("%v; it says\n%s", err, &said)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

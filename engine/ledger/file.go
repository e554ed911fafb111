package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// SchemaName names the form of a ledger's lines.
const SchemaName = "oloproof-ledger/1"

// MaxBytes is how long a ledger may be: 32 MiB.
const MaxBytes = 32 << 20

// mostLooks is how many looks a ledger may hold: one a day for eight years.
const mostLooks = 3000

// Ledger is a file of looks.
type Ledger struct {
	Looks []Look
	text  []byte // of the file
	heads []string

	branched bool // a line does not follow on all above it: two copies of the ledger were merged

	known known // what is worked out of the looks, as far as it was asked for
}

// Look is one line: what a run looked at, and what it came to.
type Look struct {
	Schema string `json:"schema"`
	// The SHA-256, in hexadecimal, of each line above that no line before this one follows: of one line, or of several where two
	// ledgers were merged. None in the first line.
	Previous []string `json:"previous"`
	Day      string   `json:"day"`    // of the run, YYYY-MM-DD in UTC
	Tool     string   `json:"tool"`   // the version of this program
	Inputs   string   `json:"inputs"` // the digest of the run's inputs: report.InputsDigest
	Rules    []Rule   `json:"rules"`
	// The SHA-256 of the line without it. It finds a line that was changed, not one by whoever also computed it anew.
	Digest string `json:"digest,omitempty"`

	above []int // the lines that it follows on, by their place in Ledger.Looks
}

// own is what Digest is of a look that was not changed.
func (look Look) own() (string, error) {
	look.Digest = ""
	line, err := json.Marshal(look)
	return digestOf(line), err
}

// Rule is what a look saw of one rule with an interval.
type Rule struct {
	ID        string          `json:"id"`
	Metric    string          `json:"metric"`
	Section   int             `json:"section,omitempty"`   // of the run, from 0: the rules of one read the same rows
	Question  string          `json:"question"`            // gate.Units.Question
	Threshold string          `json:"threshold,omitempty"` // in words, such as "minimum 0.8"
	Verdict   report.Verdict  `json:"verdict"`             // as the report has it
	Method    interval.Method `json:"method"`
	Looks     interval.Looks  `json:"looks"`
	Planned   int             `json:"planned,omitempty"` // with LooksPlanned
	Error     float64         `json:"error"`             // gate.Units.Error
	Grows     gate.Growth     `json:"grows,omitempty"`   // gate.Units.Grows
	Units     int             `json:"units"`
	Parts     []gate.Part     `json:"parts"`

	key string // of its data; "" until it is asked for
}

// NewRule is a rule's look at the units that its interval rests on, in that section of the run. Its verdict is not known yet.
func NewRule(id string, section int, t *policy.Threshold, u gate.Units) Rule {
	r := Rule{ID: id, Section: section, Metric: u.Metric, Question: u.Question, Method: u.Method, Looks: u.Looks, Error: u.Error, Grows: u.Grows, Parts: u.Parts}
	if u.Looks == interval.LooksPlanned {
		r.Planned = u.Planned
	}
	if t != nil {
		r.Threshold = strings.TrimSpace(string(t.Kind)+" "+string(t.Side)) + " " + t.Value.Text
	}
	for _, p := range u.Parts {
		r.Units += p.Units()
	}
	return r
}

// data is a text that is the same for two looks exactly where their units are.
func (r *Rule) data() string {
	if r.key == "" {
		text, _ := json.Marshal(r.Parts) // which has no error: values are finite numbers
		r.key = digestOf(text)
	}
	return r.key
}

// instrument is what data were looked at by.
type instrument struct {
	looks   interval.Looks
	method  interval.Method
	planned int
}

// looked is what the rule's data were looked at by.
func (r *Rule) looked() instrument { return instrument{r.Looks, r.Method, r.Planned} }

// Read reads a ledger, whose file has that name in errors; one without a byte holds no look. It may come from anybody: whatever is
// not as Append writes it goes to diags, with its line, and so does a line that does not follow on those above it.
func Read(file string, data []byte, diags *diag.List) *Ledger {
	l := &Ledger{text: data}
	wrong := func(line int, format string, args ...any) {
		diags.Addf(diag.Pos{File: file, Line: line}, format, args...)
	}
	switch {
	case len(data) > MaxBytes:
		wrong(0, "it is longer than %d MiB; no ledger is: begin a new one, for a new sample", MaxBytes>>20)
		return l
	case len(data) > 0 && data[len(data)-1] != '\n':
		wrong(bytes.Count(data, []byte{'\n'})+1, "the last line is cut off: it has no line end; take the file from where it is whole")
		return l
	}
	above := map[string]int{} // where the line with a digest is
	number, unread := 0, false
	for text := range bytes.Lines(data) {
		number++
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'}) // some checkouts write it
		if number > mostLooks {
			wrong(number, "it has more than %d looks; begin a new ledger, for a new sample", mostLooks)
			break
		}
		look, err := parse(text)
		if err != nil {
			wrong(number, "%v", err)
			unread = true
		} else if why := look.follow(above, number); why != "" && !unread { // after a line that is told already it says nothing new
			wrong(number, "%s", why)
		}
		digest := digestOf(text)
		above[digest] = len(l.Looks)
		if !slices.Equal(look.Previous, l.heads) {
			l.branched = true
		}
		l.heads = slices.DeleteFunc(l.heads, func(head string) bool { return slices.Contains(look.Previous, head) })
		l.heads = append(l.heads, digest)
		l.Looks = append(l.Looks, look)
	}
	return l
}

// follow finds the lines that a look follows on, and says how it does not follow on those above; "" where it does.
func (look *Look) follow(above map[string]int, number int) string {
	switch {
	case number == 1 && len(look.Previous) > 0:
		return "it follows on a line, and is the first: lines above it were taken out"
	case number > 1 && len(look.Previous) == 0:
		return "it follows on no line, and is not the first: it is of another ledger"
	}
	for _, p := range look.Previous {
		line, found := above[p]
		if !found {
			return "a line that it follows on is not above it: one between the first and this one was taken out, moved or written anew; take the file from its history"
		}
		look.above = append(look.above, line)
	}
	return ""
}

// digestOf is the SHA-256 of a line.
func digestOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// parse reads a line. Only what Append writes is taken: the line is written again and compared.
func parse(line []byte) (Look, error) {
	var look Look
	switch {
	case len(line) == 0:
		return look, errors.New("the line is empty; every line is a look")
	case bytes.HasPrefix(line, []byte("<<<<<<<")), bytes.HasPrefix(line, []byte("=======")), bytes.HasPrefix(line, []byte(">>>>>>>")):
		return look, errors.New("a merge was not finished: keep the lines of both sides, first those of one and then those of the other, and take out the marks")
	case line[0] != '{':
		_, size := utf8.DecodeRune(line)
		return look, fmt.Errorf("it begins with %s, and a look is a JSON object", diag.Quote(string(line[:size])))
	}
	var schema struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(line, &schema); err == nil && schema.Schema != SchemaName {
		return look, fmt.Errorf("its schema is %s; this program reads %s", diag.Quote(schema.Schema), SchemaName)
	}
	if err := json.Unmarshal(line, &look); err != nil {
		return Look{}, fmt.Errorf("it is not a look: %s", diag.Cause(err.Error()))
	}
	if err := look.check(); err != nil {
		return Look{}, err
	}
	again, err := json.Marshal(look)
	if err != nil || !bytes.Equal(again, line) {
		at := 0
		for at < min(len(again), len(line)) && again[at] == line[at] {
			at++
		}
		return Look{}, fmt.Errorf("it is not as this program writes looks, from column %d on", utf8.RuneCount(line[:at])+1)
	}
	if own, err := look.own(); err != nil || own != look.Digest {
		return Look{}, errors.New("it was changed after it was written: its digest is that of another line; take the file from its history")
	}
	return look, nil
}

var digest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

// check says what of a look cannot be.
func (look *Look) check() error {
	for _, p := range look.Previous {
		if !digest().MatchString(p) {
			return fmt.Errorf("previous has %s, which is no digest of a line", diag.Quote(p))
		}
	}
	switch {
	case look.Previous == nil:
		return errors.New("it has no previous")
	case !policy.ValidDay(look.Day):
		return fmt.Errorf("day is %s; a day is written YYYY-MM-DD", diag.Quote(look.Day))
	case !digest().MatchString(look.Inputs):
		return fmt.Errorf("inputs is %s, which is no digest", diag.Quote(look.Inputs))
	case len(look.Rules) == 0:
		return errors.New("it has no rules")
	case look.Digest == "":
		return errors.New("it has no digest of its own")
	}
	ids := map[string]bool{}
	for i := range look.Rules {
		r := &look.Rules[i]
		if ids[r.ID] {
			return fmt.Errorf("rule %s is there twice", diag.Quote(r.ID))
		}
		ids[r.ID] = true
		err := r.check()
		r.data() // once: the looks of a history are compared with each other many times
		if err != nil {
			return fmt.Errorf("rule %s: %w", diag.Quote(r.ID), err)
		}
	}
	return nil
}

// check says what of a rule cannot be.
func (r *Rule) check() error {
	planned := r.Looks == interval.LooksPlanned
	switch {
	case r.Section < 0:
		return fmt.Errorf("section is %d; sections are counted from 0", r.Section)
	case !digest().MatchString(r.Question):
		return fmt.Errorf("question is %s, which is no digest", diag.Quote(r.Question))
	case !slices.Contains(report.Verdicts, r.Verdict):
		return errors.New("it has no verdict")
	case !slices.Contains([]interval.Looks{interval.LooksOne, interval.LooksPlanned, interval.LooksAny}, r.Looks):
		return fmt.Errorf("looks is %s; it is one, planned or any", diag.Quote(string(r.Looks)))
	case !slices.Contains([]gate.Growth{gate.GrowsNot, gate.GrowsUnits, gate.GrowsDecisions, gate.GrowsEither}, r.Grows):
		return fmt.Errorf("grows is %s; it is units, decisions or either", diag.Quote(string(r.Grows)))
	case planned != (r.Planned > 0):
		return errors.New("planned goes with looks planned, and is above 0")
	case !(r.Error > 0 && r.Error <= 1):
		return errors.New("error is not above 0 and at most 1")
	case r.Parts == nil:
		return errors.New("it has no parts")
	}
	units := 0
	names := map[string]bool{}
	for _, p := range r.Parts {
		if names[p.Name] {
			return fmt.Errorf("part %s is there twice", diag.Quote(p.Name))
		}
		names[p.Name] = true
		if p.Decisions < 0 || p.Values == nil {
			return errors.New("a part has decisions from 0 on, and a list of values")
		}
		for i, v := range p.Values {
			switch {
			case math.IsNaN(v.Low) || math.IsInf(v.Low, 0) || math.IsInf(v.High, 0) || !(v.Low <= v.High):
				return errors.New("a value's ends are not in order")
			case v.Count < 1 || v.Count > math.MaxInt32 || units > math.MaxInt32:
				return errors.New("a value has no units, or more than can be")
			case i > 0 && p.Values[i-1].Compare(v) >= 0:
				return errors.New("values are not in order")
			}
			units += v.Count
		}
	}
	if units != r.Units {
		return fmt.Errorf("units is %d, and its values are of %d", r.Units, units)
	}
	return nil
}

// Recorded reports whether a look at the same data by the same rules was written before: it would add nothing.
func (l *Ledger) Recorded(rules []Rule) bool {
	known := map[string]bool{}
	key := func(r Rule) string {
		return strings.Join([]string{strconv.Quote(r.ID), r.Question, strconv.Quote(r.Threshold), strconv.FormatFloat(r.Error, 'g', -1, 64), fmt.Sprint(r.looked()), r.data()}, " ")
	}
	for _, look := range l.Looks {
		for _, r := range look.Rules {
			known[key(r)] = true
		}
	}
	return !slices.ContainsFunc(rules, func(r Rule) bool { return !known[key(r)] })
}

// Append returns the file's bytes with one look more: those that are there stay as they are. The look's schema and what it follows
// on are filled in. An error says that the ledger is full.
func (l *Ledger) Append(look Look) ([]byte, error) {
	look.Schema, look.Previous = SchemaName, slices.Clone(l.heads)
	if look.Previous == nil {
		look.Previous = []string{}
	}
	var err error
	if look.Digest, err = look.own(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(look)
	if err != nil {
		return nil, err
	}
	if len(l.text)+len(line)+1 > MaxBytes || len(l.Looks) == mostLooks {
		return nil, fmt.Errorf("the ledger is full (%d MiB or %d looks): begin a new one, for a new sample", MaxBytes>>20, mostLooks)
	}
	return slices.Concat(l.text, line, []byte{'\n'}), nil
}

// Extends says where a ledger does not hold every line of an older one, in its order; nil where it does.
func (l *Ledger) Extends(older *Ledger) error {
	lines := func(text []byte) [][]byte {
		return bytes.Split(bytes.ReplaceAll(text, []byte("\r\n"), []byte{'\n'}), []byte{'\n'})
	}
	now, next := lines(l.text), 0
	for i, line := range lines(older.text) {
		if len(line) == 0 {
			continue
		}
		for next < len(now) && !bytes.Equal(now[next], line) {
			next++
		}
		if next == len(now) {
			return fmt.Errorf("look %d of the older ledger, of %s, is not in it, or not in its place", i+1, older.Looks[i].Day)
		}
		next++
	}
	return nil
}

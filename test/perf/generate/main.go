// Command generate writes made-up data of any size, the same bytes for the same flags on every machine: cases of the fairness gate, or
// trials of the compare gate. It streams: its memory does not grow with the rows.
//
//	go run ./test/perf/generate -rows 10000000 -seed 1 -format csv -ids dense -o cases.csv
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	var d data
	flag.IntVar(&d.rows, "rows", 1_000_000, "how many `ROWS`; of trials a multiple of 200,000 gives every case the same number")
	flag.Uint64Var(&d.seed, "seed", 1, "of the generator: another `SEED`, other rows")
	flag.StringVar(&d.format, "format", "csv", "the `FORMAT`: "+strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
	flag.StringVar(&d.ids, "ids", "dense", "the `IDS`: dense (1, 2, 3, …), any (16 hexadecimal digits, in no order), or none (of trials: no such column)")
	compression := flag.String("compress", "", "compress with `METHOD`: gzip or zstd (default: plain)")
	output := flag.String("o", "", "the `FILE` that is written")
	flag.Parse()
	if flag.NArg() > 0 || *output == "" {
		log.Fatal("usage: go run ./test/perf/generate [flags] -o FILE; -help lists them")
	}
	if err := create(*output, d, *compression); err != nil {
		log.Fatal(err)
	}
}

// create writes a file: whole, or not at all.
func create(path string, d data, compression string) error {
	if err := d.check(); err != nil {
		return err
	}
	if compression != "" && compression != "gzip" && compression != "zstd" {
		return fmt.Errorf("-compress is %q: gzip and zstd are allowed", compression)
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	to := io.WriteCloser(nothing{f})
	switch compression {
	case "gzip":
		to = gzip.NewWriter(f)
	case "zstd":
		// One goroutine, so that the bytes do not depend on how many there are.
		if to, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if err := errors.Join(d.write(out), out.Flush(), to.Close(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}

// nothing is a writer that is closed elsewhere.
type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

// data says what is written.
type data struct {
	rows   int
	seed   uint64
	format string
	ids    string
}

// check says what cannot be written.
func (d data) check() error {
	switch {
	case formats[d.format] == nil:
		return fmt.Errorf("-format is %q: %s are allowed", d.format, strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
	case d.ids != "dense" && d.ids != "any" && (d.ids != "none" || d.format != "compare"):
		return fmt.Errorf("-ids is %q: dense and any are allowed, and none for -format compare", d.ids)
	case d.rows < 1:
		return fmt.Errorf("-rows is %d: at least 1 is allowed", d.rows)
	}
	return nil
}

// formats write a row, whose texts are those of names; "" is a value that is not recorded.
var formats = map[string]func(b []byte, names, texts []string, r *rand.Rand) []byte{
	"csv": func(b []byte, _, texts []string, _ *rand.Rand) []byte { return delimited(b, texts, "", "\n") },
	// as spreadsheets on Windows write it
	"crlf":   func(b []byte, _, texts []string, _ *rand.Rand) []byte { return delimited(b, texts, "", "\r\n") },
	"quoted": func(b []byte, _, texts []string, _ *rand.Rand) []byte { return delimited(b, texts, `"`, "\n") },
	// 100,000 areas in the place of the three age bands
	"areas":   func(b []byte, _, texts []string, _ *rand.Rand) []byte { return delimited(b, texts, "", "\n") },
	"compare": func(b []byte, _, texts []string, _ *rand.Rand) []byte { return delimited(b, texts, "", "\n") },
	"jsonl": func(b []byte, names, texts []string, _ *rand.Rand) []byte {
		return object(b, names, texts, []int{0, 1, 2, 3, 4, 5})
	},
	"jsonl-any-order": func(b []byte, names, texts []string, r *rand.Rand) []byte {
		order := [6]int{0, 1, 2, 3, 4, 5}
		for i := range order {
			j := i + r.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
		}
		return object(b, names, texts, order[:])
	},
}

// delimited appends texts as a line of CSV. None of them has a comma or a quote.
func delimited(b []byte, texts []string, quote, end string) []byte {
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quote...)
		b = append(b, text...)
		b = append(b, quote...)
	}
	return append(b, end...)
}

// object appends texts as a JSON object with its keys in an order. The first four are numbers, but for ids of 16 digits.
func object(b []byte, names, texts []string, order []int) []byte {
	for n, i := range order {
		b = append(b, "{,"[min(n, 1)], '"')
		b = append(b, names[i]...)
		b = append(b, `":`...)
		switch text := texts[i]; {
		case text == "":
			b = append(b, "null"...)
		case i < 4 && len(text) < 16:
			b = append(b, text...)
		default:
			b = append(b, '"')
			b = append(b, text...)
			b = append(b, '"')
		}
	}
	return append(b, "}\n"...)
}

// write writes the rows, and the header that CSV has.
func (d data) write(w io.Writer) error {
	// Rows and the order of keys are drawn apart, so that every format of a seed has the same rows.
	r, order := rand.New(rand.NewPCG(d.seed, 0)), rand.New(rand.NewPCG(d.seed, 1))
	names, row := caseNames, newCases(d, r)
	if d.format == "areas" {
		names = areaNames
	}
	if d.format == "compare" {
		names, row = trialNames, newTrials(d, r)
		if d.ids == "none" {
			names = slices.Delete(slices.Clone(names), trialID, trialID+1)
		}
	}
	format := formats[d.format]
	var b []byte
	if !strings.HasPrefix(d.format, "jsonl") {
		b = format(b, names, names, order)
	}
	for i := range d.rows {
		b = format(b, names, row(i), order)
		if len(b) >= 1<<16 || i == d.rows-1 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return nil
}

var (
	caseNames  = []string{"id", "label", "prediction", "score", "sex", "age_band"}
	areaNames  = []string{"id", "label", "prediction", "score", "sex", "area"}
	trialNames = []string{"version", "case", "trial", "passed"}
)

const (
	areas   = 100_000
	trialed = 100_000 // cases that are tried
	trialID = 2       // the place of the trial's name among trialNames
)

// bits are the two results.
var bits = []string{"0", "1"}

// newCases returns what draws case i. One prediction of 500 and one age band of 500 are not recorded; a case has label 1 the more
// often, the higher its score, in every group alike.
func newCases(d data, r *rand.Rand) func(i int) []string {
	scores := make([]string, 10_000)
	for i := range scores {
		scores[i] = fmt.Sprintf("0.%04d", i)
	}
	groups := []string{"under_30", "30_to_60", "over_60"}
	if d.format == "areas" {
		groups = numbered("area-%06d", areas)
	}
	texts := make([]string, len(caseNames))
	return func(i int) []string {
		score := r.IntN(len(scores))
		texts[0] = d.id(i)
		texts[1] = bits[0]
		if r.IntN(10_000) < 1000+score*8/10 {
			texts[1] = bits[1]
		}
		texts[2] = bits[score/5000]
		if r.IntN(500) == 0 {
			texts[2] = ""
		}
		texts[3] = scores[score]
		texts[4] = "female"
		if r.IntN(2) == 0 {
			texts[4] = "male"
		}
		texts[5] = groups[r.IntN(len(groups))]
		if r.IntN(500) == 0 {
			texts[5] = ""
		}
		return texts
	}
}

// newTrials returns what draws trial i: all cases in both versions, and then all of them again. The new version passes a little more
// often; one trial of 500 is not recorded.
func newTrials(d data, r *rand.Rand) func(i int) []string {
	cases := numbered("case-%06d", trialed)
	texts := make([]string, len(trialNames))
	return func(i int) []string {
		texts = texts[:len(trialNames)]
		version := i / trialed % 2
		texts[0] = []string{"old", "new"}[version]
		texts[1] = cases[i%trialed]
		texts[3] = bits[0]
		if r.IntN(100) < 60+5*version {
			texts[3] = bits[1]
		}
		if r.IntN(500) == 0 {
			texts[3] = ""
		}
		switch d.ids {
		case "dense":
			texts[trialID] = strconv.Itoa(i/(2*trialed) + 1)
		case "any":
			texts[trialID] = d.id(i)
		case "none":
			texts[trialID] = texts[3]
			texts = texts[:trialID+1]
		}
		return texts
	}
}

// numbered are n texts of a form.
func numbered(form string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(form, i)
	}
	return list
}

// id is the id of row i: its number, or 16 hexadecimal digits that look drawn and that no other row has.
func (d data) id(i int) string {
	if d.ids == "dense" {
		return strconv.Itoa(i + 1)
	}
	// SplitMix64 (Steele, Lea and Flood 2014): each of its steps can be undone, so that two numbers never come to the same.
	z := (uint64(i) + 1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	const digits = "0123456789abcdef"
	var text [16]byte
	for k := range text {
		text[k] = digits[z>>(60-4*k)&15]
	}
	return string(text[:])
}

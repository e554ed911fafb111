package rows

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Reading is one score of a reader study: a reader's score for a case in a modality.
type Reading struct {
	Reader, Case, Modality string
	Score                  Decimal
	Pos                    diag.Pos // of the score
}

// ReaderStudy is what a file in the format of the iMRMC program holds.
type ReaderStudy struct {
	Readings []Reading       // in the file's order
	Truth    map[string]bool // by case: whether the condition looked for is present
}

// Modalities lists the study's modalities, sorted.
func (s ReaderStudy) Modalities() []string {
	set := map[string]bool{}
	for _, r := range s.Readings {
		set[r.Modality] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// The words of the format.
const (
	imrmcBegin = "BEGIN DATA:"
	imrmcTruth = "truth" // the reader of the rows that tell a case's truth; also -1
)

// ReadIMRMC reads a file in the text format of the iMRMC program (its user manual, "Format of the input file"): a
// description of the study, in which lines such as "NR: 5" may tell the numbers of readers, of cases without (N0) and with
// (N1) the condition and of modalities (NM); the line "BEGIN DATA:"; then a row readerID,caseID,modalityID,score per
// observation. For each case one row of the reader "truth" or "-1", whatever its modality, holds 0 or 1. Spaces around fields,
// and the empty columns that spreadsheets add at the end, do not count.
//
// Every problem is added to diags: no data, a row of other than four fields, an empty id, a score that is no number, a case
// without a truth or with two, two scores of one reader for one case in one modality, a number in the description that
// the data do not have.
func ReadIMRMC(file string, data []byte, diags *diag.List) ReaderStudy {
	s := ReaderStudy{Truth: map[string]bool{}}
	told := map[string]toldCount{}
	truthAt := map[string]diag.Pos{}
	scoreAt := map[[3]string]diag.Pos{}
	begun := false
	before := diags.Len()
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		at := diag.Pos{File: file, Line: i + 1}
		if !utf8.ValidString(line) {
			diags.Addf(at, "the line is not UTF-8; save the file as UTF-8 text")
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		if !begun {
			text := strings.TrimSpace(strings.TrimRight(line, ", \t"))
			begun = text == imrmcBegin
			if strings.EqualFold(strings.TrimSuffix(text, ":"), strings.TrimSuffix(imrmcBegin, ":")) && !begun {
				diags.Addf(at, "found %s; the line before the data is %s", diag.Quote(text), diag.Quote(imrmcBegin))
				return s
			}
			if name, value, found := strings.Cut(text, ":"); found && slices.Contains([]string{"NR", "N0", "N1", "NM"}, strings.TrimSpace(name)) {
				n, err := strconv.Atoi(strings.TrimSpace(value))
				if err != nil || n < 0 {
					diags.Addf(at, "%s is %s; it is a whole number", strings.TrimSpace(name), diag.Quote(strings.TrimSpace(value)))
					continue
				}
				told[strings.TrimSpace(name)] = toldCount{n, at}
			}
			continue
		}
		if strings.Trim(line, ", \t") == "" {
			continue
		}
		fields, columns := imrmcFields(line)
		if len(fields) != 4 {
			diags.Addf(at, "the row has %d fields; a row is readerID,caseID,modalityID,score", len(fields))
			continue
		}
		field := func(i int) diag.Pos { return diag.Pos{File: file, Line: at.Line, Column: columns[i]} }
		sound := true
		for i, name := range []string{"readerID", "caseID", "modalityID", "score"} {
			if fields[i] == "" {
				diags.Addf(field(i), "%s is empty; every row needs one", name)
				sound = false
			}
		}
		score, _, err := ParseDecimal(fields[3]) // what is rounded beyond 18 decimals cannot matter to a score
		if err != nil && fields[3] != "" {
			diags.Addf(field(3), "score: %v", err)
			sound = false
		}
		if !sound {
			continue
		}
		if strings.EqualFold(fields[0], imrmcTruth) || fields[0] == "-1" {
			one, _, _ := ParseDecimal("1")
			switch first, found := truthAt[fields[1]]; {
			case found:
				diags.Addf(at, "the truth of case %s is told a second time; the first is at %s", diag.Quote(fields[1]), first)
			case score.Sign() != 0 && score.Cmp(one) != 0:
				diags.Addf(field(3), "the truth of case %s is %s; write 0 (without the condition) or 1 (with it)", diag.Quote(fields[1]), diag.Quote(fields[3]))
				truthAt[fields[1]] = at
			default:
				s.Truth[fields[1]], truthAt[fields[1]] = score.Sign() != 0, at
			}
			continue
		}
		k := [3]string{fields[0], fields[1], fields[2]}
		if first, found := scoreAt[k]; found {
			diags.Addf(at, "a second score of the same reader for case %s in modality %s; the first is at %s", diag.Quote(k[1]), diag.Quote(k[2]), first)
			continue
		}
		scoreAt[k] = at
		s.Readings = append(s.Readings, Reading{fields[0], fields[1], fields[2], score, field(3)})
	}
	if !begun {
		diags.Addf(diag.Pos{File: file}, "no line %s, after which the data stand; is this a file of the iMRMC program?", diag.Quote(imrmcBegin))
		return s
	}
	if len(s.Readings) == 0 && diags.Len() == before {
		diags.Addf(diag.Pos{File: file}, "no score of any reader after %s", diag.Quote(imrmcBegin))
	}
	untold := map[string]bool{} // one problem a case
	for _, r := range s.Readings {
		if _, found := truthAt[r.Case]; !found && !untold[r.Case] {
			untold[r.Case] = true
			diags.Addf(diag.Pos{File: file, Line: r.Pos.Line}, "the truth of case %s is told nowhere; a row of the reader truth tells it, as 0 or 1", diag.Quote(r.Case))
		}
	}
	if diags.Len() == before {
		s.compare(told, diags)
	}
	return s
}

// toldCount is a number that the description tells, and where.
type toldCount struct {
	n   int
	pos diag.Pos
}

// compare holds the data to the numbers of the description: a file cut short would otherwise pass for a whole one.
func (s ReaderStudy) compare(told map[string]toldCount, diags *diag.List) {
	readers := map[string]bool{}
	for _, r := range s.Readings {
		readers[r.Reader] = true
	}
	with := 0
	for _, present := range s.Truth {
		if present {
			with++
		}
	}
	for _, c := range []struct {
		name, what string
		n          int
	}{
		{"NR", "readers", len(readers)}, {"N0", "cases whose truth is 0", len(s.Truth) - with},
		{"N1", "cases whose truth is 1", with}, {"NM", "modalities", len(s.Modalities())},
	} {
		if t, found := told[c.name]; found && t.n != c.n {
			diags.Addf(t.pos, "%s says %d, and the data have %d %s; correct the one that is wrong", c.name, t.n, c.n, c.what)
		}
	}
}

// imrmcFields cuts a row at its commas. Spaces around fields and empty columns after the fourth are dropped. columns are
// where the fields begin, in characters from 1.
func imrmcFields(line string) (fields []string, columns []int) {
	start := 1
	for _, f := range strings.Split(line, ",") {
		trimmed := strings.TrimSpace(f)
		lead := utf8.RuneCountInString(f) - utf8.RuneCountInString(strings.TrimLeft(f, " \t"))
		fields, columns = append(fields, trimmed), append(columns, start+lead)
		start += utf8.RuneCountInString(f) + 1
	}
	for len(fields) > 4 && fields[len(fields)-1] == "" {
		fields, columns = fields[:len(fields)-1], columns[:len(columns)-1]
	}
	return fields, columns
}

// Package sql writes the parts of queries that count rows where they are stored, for several kinds of databases. Nothing that a person
// gives gets into a query but as a quoted name or a quoted text: see Name, Text and From.
package sql

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Dialect is one kind of SQL.
type Dialect struct {
	name string
	// quote encloses names; it is doubled in them, but where a backslash is an escape in them too.
	quote        byte
	quoteEscapes bool   // a backslash in a name is an escape
	textEscapes  bool   // a backslash in a text is an escape
	textDoubles  bool   // a quote in a text is doubled; else it follows a backslash
	text         string // the type of texts
	// number, trim, matches and edge are formats. number takes a text that is surely a number; trim what is trimmed and the characters (of duckdb the first alone: a pattern is three times as fast there); matches what
	// is looked at and a pattern for all of it; edge a number. matches is "" where the dialect has no patterns.
	number, trim, matches, edge string
	blanks                      func() string // the literal of all white space; nil for spaces alone
	files                       bool          // files can be read
}

// dialects are all that there are.
var dialects = []Dialect{
	{name: "duckdb", quote: '"', textDoubles: true, text: "VARCHAR", number: "TRY_CAST(%s AS DECIMAL(38,18))", trim: `regexp_replace(%[1]s, '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g')`, matches: "regexp_full_match(%s, '%s')", edge: "%s", files: true},
	{name: "postgres", quote: '"', textDoubles: true, text: "TEXT", number: "CAST(%s AS NUMERIC(38,18))", trim: "btrim(%s, %s)", matches: "%s ~ '^(%s)$'", edge: "%s", blanks: func() string { return "E" + blanksEscaped() }},
	{name: "bigquery", quote: '`', quoteEscapes: true, textEscapes: true, text: "STRING", number: "PARSE_BIGNUMERIC(%s)", trim: "TRIM(%s, %s)", matches: "REGEXP_CONTAINS(%s, '^(%s)$')", edge: "PARSE_BIGNUMERIC('%s')", blanks: blanksEscaped},
	{name: "snowflake", quote: '"', textEscapes: true, textDoubles: true, text: "VARCHAR", number: "CAST(%s AS NUMBER(38,18))", trim: "TRIM(%s, %s)", matches: "REGEXP_LIKE(%s, '%s')", edge: "%s", blanks: blanksEscaped},
	{name: "spark", quote: '`', textEscapes: true, text: "STRING", number: "CAST(%s AS DECIMAL(38,18))", trim: "btrim(%s, %s)", matches: "%s RLIKE '^(%s)$'", edge: "%s", blanks: blanksEscaped},
	{name: "ansi", quote: '"', textDoubles: true, text: "VARCHAR", trim: "TRIM(BOTH %[2]s FROM %[1]s)"},
}

// Names lists the dialects.
func Names() []string {
	var list []string
	for _, d := range dialects {
		list = append(list, d.name)
	}
	return list
}

// Lookup returns the dialect of a name; ok is false where there is none.
func Lookup(name string) (d Dialect, ok bool) {
	i := slices.IndexFunc(dialects, func(d Dialect) bool { return d.name == name })
	if i < 0 {
		return Dialect{}, false
	}
	return dialects[i], true
}

// Refused says why a text can stand in no query; "" where it can. Control characters have no business in names, and not every database
// takes them.
func Refused(text string) string {
	switch {
	case text == "":
		return "it is empty"
	case !utf8.ValidString(text):
		return "it is not UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "it has a control character, which no query can hold"
	}
	return ""
}

// RefusedName says why a text can be no name in the dialect; "" where it can.
func (d Dialect) RefusedName(text string) string {
	if problem := Refused(text); problem != "" {
		return problem
	}
	if d.quoteEscapes && strings.ContainsAny(text, "\\`") {
		return "no name in " + d.name + " has a backslash or a backtick"
	}
	return ""
}

// Name quotes a name, such as a column's. The text is one that RefusedName has nothing against.
func (d Dialect) Name(text string) string {
	q := string(d.quote)
	if d.quoteEscapes {
		text = strings.NewReplacer(`\`, `\\`, q, `\`+q).Replace(text)
	} else {
		text = strings.ReplaceAll(text, q, q+q)
	}
	return q + text + q
}

// Text quotes a text. It is one that Refused has nothing against, or empty.
func (d Dialect) Text(text string) string {
	prefix := ""
	switch {
	case d.textEscapes:
		text = strings.ReplaceAll(text, `\`, `\\`)
	case d.name == "postgres" && strings.Contains(text, `\`): // whatever standard_conforming_strings says there
		prefix, text = "E", strings.ReplaceAll(text, `\`, `\\`)
	}
	if d.textDoubles {
		text = strings.ReplaceAll(text, `'`, `''`)
	} else {
		text = strings.ReplaceAll(text, `'`, `\'`)
	}
	return prefix + "'" + text + "'"
}

// AsText is an expression as text, whatever its type.
func (d Dialect) AsText(expression string) string {
	return "CAST(" + expression + " AS " + d.text + ")"
}

// Trimmed is a text without the white space around it: as files are read, but in ansi, where only spaces are dropped.
func (d Dialect) Trimmed(expression string) string {
	blanks := "' '"
	if d.blanks != nil {
		blanks = d.blanks()
	}
	return fmt.Sprintf(d.trim, expression, blanks)
}

// The patterns of numbers that a database and a file's reader take for the same: plain decimals of at most 18 places.
const (
	share  = "[0-9]{1,19}([.][0-9]{1,18})?"
	signed = "-?[0-9]{1,19}([.][0-9]{1,18})?"
)

// HasNumbers reports whether texts can be told to be numbers.
func (d Dialect) HasNumbers() bool { return d.matches != "" }

// Number is the text expression as a decimal of 18 places, and NULL where it is none, or is written in another way, such as with an
// exponent or more places: such texts are for the reader of the result. Without a sign where unsigned.
func (d Dialect) Number(expression string, unsigned bool) string {
	pattern := signed
	if unsigned {
		pattern = share
	}
	return "CASE WHEN " + fmt.Sprintf(d.matches, expression, pattern) + " THEN " + fmt.Sprintf(d.number, expression) + " END"
}

// Edge is a number that decimals are compared with, written with a point or as a whole number.
func (d Dialect) Edge(number string) string { return fmt.Sprintf(d.edge, number) }

// blank lists what white space is: the 25 characters of Unicode's White_Space, which the readers of files drop around a value.
var blank = []rune{'\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}

// blanksEscaped is white space as a text with escapes.
func blanksEscaped() string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range blank {
		if r == ' ' {
			b.WriteByte(' ')
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// File endings that a file is known by where files can be read.
var (
	tables   = []string{".csv", ".tsv"}
	objects  = []string{".json", ".jsonl", ".ndjson"}
	parquets = []string{".parquet"}
	packed   = []string{".gz", ".zst"}
)

// From is what the rows come from: a table, whose name may have dots between its parts ("a.b.c", and "a"."b.c" in double quotes), or in duckdb
// a file, known by its ending or a slash. columns are those that are read. problem is "" or why it cannot be used. Every part is quoted.
func (d Dialect) From(source string, columns []string) (expression, problem string) {
	if problem := Refused(source); problem != "" {
		return "", problem
	}
	if d.files {
		if file, is := d.file(source, columns); is {
			return file, ""
		}
	}
	parts, problem := split(source)
	if problem != "" {
		return "", problem
	}
	if most := 4; len(parts) > most {
		return "", fmt.Sprintf("it has %d parts; the name of a table has at most %d", len(parts), most)
	}
	for i := range parts {
		if problem := d.RefusedName(parts[i]); problem != "" {
			return "", problem
		}
		parts[i] = d.Name(parts[i])
	}
	return strings.Join(parts, "."), ""
}

// file is what reads a file as text, where the source looks like one.
func (d Dialect) file(source string, columns []string) (expression string, is bool) {
	plain := strings.ToLower(source)
	for _, ending := range packed {
		plain = strings.TrimSuffix(plain, ending)
	}
	ends := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return strings.HasSuffix(plain, e) })
	}
	path := d.Text(source)
	switch {
	case ends(tables):
		return "read_csv(" + path + ", all_varchar = true, header = true, union_by_name = true, quote = '\"', escape = '\"')", true
	case ends(objects):
		var types []string
		for _, c := range columns {
			if types = append(types, d.Text(c)+": 'VARCHAR'"); slices.Contains(types[:len(types)-1], types[len(types)-1]) {
				types = types[:len(types)-1]
			}
		}
		return "read_json(" + path + ", columns = {" + strings.Join(types, ", ") + "})", true
	case ends(parquets), strings.ContainsRune(source, '/'):
		return "read_parquet(" + path + ", union_by_name = true)", true
	}
	return "", false
}

// split takes the name of a table apart at its dots, but those in double quotes.
func split(source string) (parts []string, problem string) {
	for rest := source; ; {
		var part string
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			end := 1
			for {
				i := strings.IndexByte(rest[end:], '"')
				if i < 0 {
					return nil, "a double quote is opened and not closed"
				}
				part += rest[end : end+i]
				end += i + 1
				if !strings.HasPrefix(rest[end:], `"`) {
					break
				}
				part += `"`
				end++
			}
			rest = rest[end:]
			if rest != "" && rest[0] != '.' {
				return nil, fmt.Sprintf("%s follows a closing double quote; a dot is wanted there", diag.Quote(rest))
			}
		} else {
			part, rest = rest, ""
			if i := strings.IndexByte(part, '.'); i >= 0 {
				part, rest = part[:i], part[i:]
			}
		}
		if strings.TrimSpace(part) == "" {
			return nil, "a part of the name is empty"
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, ""
		}
		rest = rest[1:]
	}
}

// ReadsFiles reports whether the rows can come from a file.
func (d Dialect) ReadsFiles() bool { return d.files }

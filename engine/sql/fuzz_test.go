package sql

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// lexer is how a database reads what is quoted, after its documentation: the lexical structure of PostgreSQL (string constants,
// escapes in E”), BigQuery (quoted identifiers and literals), Snowflake (single-quoted string constants), Spark (string literals,
// delimited identifiers), and of DuckDB and the standard, which know no escapes. It shares nothing with what quotes.
type lexer struct {
	name         byte // encloses names
	nameEscapes  bool // a backslash in a name takes the next character with it
	nameDoubles  bool // two of the enclosing are one
	textEscapes  bool // likewise in a text
	textDoubles  bool
	escapeString bool // a text may begin with E, and only then has escapes
}

var lexers = map[string]lexer{
	"duckdb":    {name: '"', nameDoubles: true, textDoubles: true},
	"postgres":  {name: '"', nameDoubles: true, textDoubles: true, escapeString: true},
	"bigquery":  {name: '`', nameEscapes: true, textEscapes: true},
	"snowflake": {name: '"', nameDoubles: true, textDoubles: true, textEscapes: true},
	"spark":     {name: '`', nameDoubles: true, textEscapes: true},
	"ansi":      {name: '"', nameDoubles: true, textDoubles: true},
}

// read takes a quoted piece from the beginning of a query; rest is what follows it, and ok is false where it has no end.
func read(query string, quote byte, escapes, doubles bool) (value, rest string, ok bool) {
	if query == "" || query[0] != quote {
		return "", query, false
	}
	var b strings.Builder
	for i := 1; i < len(query); i++ {
		switch c := query[i]; {
		case c == '\\' && escapes:
			if i++; i == len(query) || query[i] != '\\' && query[i] != quote { // another escape would mean another character
				return "", query, false
			}
			b.WriteByte(query[i])
		case c == quote && doubles && i+1 < len(query) && query[i+1] == quote:
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), query[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", query, false
}

func (l lexer) text(query string) (value, rest string, ok bool) {
	escapes := l.textEscapes
	if l.escapeString {
		query, escapes = strings.CutPrefix(query, "E")
	}
	return read(query, '\'', escapes, l.textDoubles)
}

// FuzzQuote quotes any name and any text in every dialect: a database reads back what was given, and what follows is the query's own.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{
		"", "a", `"`, `""`, "'", "''", "`", "``", `\`, `\\`, `\'`, `'\`, `a\`, "a.b", `"a.b"."c"`, `x'); DROP TABLE t; --`, "/* */", "--", "$1", "$$", "%s", "%", "?", ":a", "@a", "{", "é", "漢",
		"\u202e", "a/b.csv", "s3://b/*.parquet", "a.jsonl.gz", `E'`, `E'\'`, "\x00", "\n", "\xff", `\u0027`, `\x27`, `\047`, "ʼ", "’", "'", "\u2028",
	} {
		f.Add(s, s)
	}
	const after = ` FROM "t" WHERE 'x' = 'x'`
	f.Fuzz(func(t *testing.T, s, column string) {
		for _, d := range dialects {
			l := lexers[d.name]
			if Refused(s) == "" {
				if got, rest, ok := l.text(d.Text(s) + after); !ok || got != s || rest != after {
					t.Errorf("%s: the text %q is %s, which a database reads as %q, and then %q", d.name, s, d.Text(s), got, rest)
				}
			}
			if d.RefusedName(s) == "" {
				if got, rest, ok := read(d.Name(s)+after, l.name, l.nameEscapes, l.nameDoubles); !ok || got != s || rest != after {
					t.Errorf("%s: the name %q is %s, which a database reads as %q, and then %q", d.name, s, d.Name(s), got, rest)
				}
			}
			columns := []string{"id", column}
			if Refused(column) != "" {
				columns = columns[:1]
			}
			from, problem := d.From(s, columns)
			if problem == "" {
				l.checkFrom(t, d, s, columns, from+after, after)
			} else if from != "" || problem == "it is empty" != (s == "") {
				t.Errorf("%s: %q comes from %q, and cannot: %s", d.name, s, from, problem)
			}
		}
		if Refused(s) == "" && (!utf8.ValidString(s) || strings.ContainsAny(s, "\x00\n\r\x7f\u0085")) {
			t.Errorf("%q may stand in a query", s)
		}
	})
}

// checkFrom reads what rows come from: a function of our own with the file's name as a text, or names with dots between them.
func (l lexer) checkFrom(t *testing.T, d Dialect, source string, columns []string, query, after string) {
	t.Helper()
	for _, function := range []string{"read_csv(", "read_json(", "read_parquet("} {
		rest, is := strings.CutPrefix(query, function)
		if !is {
			continue
		}
		file, rest, ok := l.text(rest)
		if !ok || file != source || !d.files {
			t.Fatalf("%s: the file %q is read from %s as %q", d.name, source, query, file)
		}
		var got []string
		if function == "read_json(" {
			rest = strings.TrimPrefix(rest, ", columns = {")
			for !strings.HasPrefix(rest, "}") {
				var column string
				if column, rest, ok = l.text(strings.TrimPrefix(rest, ", ")); !ok || !strings.HasPrefix(rest, ": 'VARCHAR'") {
					t.Fatalf("%s: after the column %q stands %q", d.name, column, rest)
				}
				got = append(got, column)
				rest = strings.TrimPrefix(rest, ": 'VARCHAR'")
			}
			if want := slices.Compact(slices.Clone(columns)); !slices.Equal(got, want) {
				t.Errorf("%s: the columns %q are read as %q", d.name, want, got)
			}
		}
		own := map[string]string{"read_csv(": `, all_varchar = true, header = true, union_by_name = true, quote = '"', escape = '"')`, "read_json(": "})", "read_parquet(": ", union_by_name = true)"}
		if rest != own[function]+after {
			t.Errorf("%s: after the file %q stands %q", d.name, source, rest)
		}
		return
	}
	var parts []string
	for rest := query; ; {
		part, next, ok := read(rest, l.name, l.nameEscapes, l.nameDoubles)
		if !ok || part == "" {
			t.Fatalf("%s: the table %q is read from %s as %q, and then %q", d.name, source, query, parts, rest)
		}
		parts = append(parts, part)
		if rest = next; !strings.HasPrefix(rest, ".") {
			if rest != after {
				t.Errorf("%s: after the table %q stands %q", d.name, source, rest)
			}
			break
		}
		rest = rest[1:]
	}
	if len(parts) > 4 || !strings.Contains(source, `"`) && strings.Join(parts, ".") != source {
		t.Errorf("%s: the table %q is read as %q", d.name, source, parts)
	}
}

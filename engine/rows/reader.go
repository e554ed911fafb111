package rows

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Column is a column that a gate reads.
type Column struct {
	Name     string   // the gate's own name for it
	Required bool     // every file must have it; otherwise a file without it does not record it
	Named    diag.Pos // where a policy gives the name that it has in the files; zero: nowhere, the name is the gate's
}

// Options says what to read and how.
type Options struct {
	// Columns are the columns read; Row refers to them by their index here. Others are ignored.
	Columns []Column
	// Rename gives, for a column's own name, the name it has in the files (the policy's "columns"). nil: no policy can rename
	// the columns of these files, such as a draw's, and no message tells anybody to.
	Rename map[string]string
	// MissingValues are texts that mean "not recorded", in any column, compared after trimming.
	MissingValues []string
	// Once are texts that no two rows may share, in all files together.
	Once []Once
	// Delimiter separates the fields of every CSV file. 0: found in each file from its header. Otherwise
	// an ASCII character that is no letter, digit, quote or line end; it also overrules a "sep=;" line.
	Delimiter rune
	// Contents asks for Input.Content of a compressed file even where it is the only one: then it is of no use here.
	Contents bool
	// Stdin is what the path "-" reads. nil: "-" is an error.
	Stdin io.Reader
	// FS is where paths are looked up, relative to its root: the FS of an os.Root confines reading to
	// that folder. nil: the operating system's paths.
	FS fs.FS
	// Progress, where it is set, is told how far reading is.
	Progress *Progress
}

// Input is one file that was read, as the report lists it.
type Input struct {
	Path     string    // as given, or as a glob found it; "-" is standard input
	SHA256   string    // of the bytes on disk, in lower-case hex; "" when reading stopped early
	Content  string    // the SHA-256 of what was decompressed, where the file is compressed and see Options.Contents; else the same
	Bytes    int64     // size on disk: the bytes that were read, all of them when SHA256 is there
	Rows     int       // rows handed over
	Has      []bool    // by column of Options.Columns: whether this file has it
	Findings []Finding // what a person should know about the file
}

// Finding is something about a file that is no error.
type Finding struct {
	Code     string // FindingColumnMissing
	Position diag.Pos
	Message  string
}

// FindingColumnMissing is the code of the finding that an optional column is missing in one file while
// another of the same run has it.
const FindingColumnMissing = "column_missing_in_file"

// Row is one row, handed to the function given to Read. It is valid only until that function returns;
// the strings it gave may be kept.
type Row struct {
	rec  *record
	made []string // of a row that is in no file, by column; nil for one that is
	line int      // of such a row
}

// Made returns a row that is in no file, such as one of a simulated study: texts by column as Text is to return them, "" where
// nothing is recorded. line is the line that it would have, from 1. The texts must stay as they are as long as the row is used.
func Made(texts []string, line int) Row { return Row{made: texts, line: line} }

// Text returns the value of column col (an index into Options.Columns), trimmed of Unicode white space
// at both ends, and whether it was recorded: it is not when the column or the key is absent, null,
// empty, or one of the missing values.
func (r Row) Text(col int) (text string, recorded bool) {
	if r.rec == nil {
		text = r.made[col]
		return text, text != ""
	}
	return r.rec.text(col)
}

// Bytes returns the same value as Text, and costs less where a column has many values: it is valid only until another value of the row is
// asked for, and must not be changed.
func (r Row) Bytes(col int) (text []byte, recorded bool) {
	if r.rec == nil {
		text = []byte(r.made[col])
		return text, len(text) > 0
	}
	return r.rec.bytes(col)
}

// Has reports whether column col is there for the row, with or without a value: in CSV and Parquet the file has the column, in JSONL the
// object has the key.
func (r Row) Has(col int) bool {
	if r.rec == nil {
		return r.made[col] != ""
	}
	return r.rec.cell(col).form != formAbsent
}

// Pos returns where the value of column col begins: its quote, if it has one. When col is −1, or the
// row has no such value, it is the row's first line as a whole (Column 0). In a Parquet file it is the row.
func (r Row) Pos(col int) diag.Pos {
	if r.rec == nil {
		return diag.Pos{Line: r.line}
	}
	return r.rec.pos(col)
}

// Line returns the 1-based line on which the row begins; in a Parquet file, the number of the row.
func (r Row) Line() int {
	if r.rec == nil {
		return r.line
	}
	return r.rec.line
}

// File returns the index of the row's file among the inputs that Read returns.
func (r Row) File() int {
	if r.rec == nil {
		return 0
	}
	return r.rec.file
}

// Read reads all files and calls add for every row, in the order of paths, matches and lines. Problems
// go to diags; as long as it has one, the rows decide nothing. Rows after a bad one are still handed
// over, so that the caller can report all problems at once. The inputs stand in the order of reading.
//
// paths are names, globs (see path.Match) or "-". A name is tried before it is taken as a glob. A path
// that names nothing, a file that is given twice (by path or by content), and one without a row are
// problems.
func Read(paths []string, opts Options, add func(Row), diags *diag.List) []Input {
	return read(paths, opts, defaultLimits(), add, diags)
}

const (
	maxRecord  = 16 << 20 // bytes of one record
	maxColumns = 1 << 16  // names in a CSV header
)

// limits are the sizes that tests make small.
type limits struct {
	buffer int   // bytes held at first
	head   int   // bytes looked at to tell what a file is
	record int   // bytes of the longest record
	free   int64 // decompressed bytes before the limit on growth holds
	single bool  // the digest of what is decompressed is not asked for
	block  int   // bytes that a goroutine counts at once
	rows   int64 // rows of a Parquet file that are read one by one before the limit on growth holds
	part   int64 // rows of a Parquet file that it counts at once, at least
}

// defaultLimits are the limits of a run.
func defaultLimits() limits {
	return limits{buffer: 256 << 10, head: 4 << 10, record: maxRecord, free: 64 << 20, rows: 2 << 20, block: 128 << 10, part: 64 << 10}
}

// read is Read with its limits.
func read(paths []string, opts Options, lim limits, add func(Row), diags *diag.List) []Input {
	if opts.Delimiter != 0 && !isDelimiter(opts.Delimiter) {
		diags.Addf(diag.Pos{}, "the delimiter %s is not allowed: give one ASCII character that is no letter, digit, quote or line end", diag.Quote(string(opts.Delimiter)))
		return nil
	}
	r := newReader(opts, lim, add, diags)
	files := expand(paths, opts.FS, diags)
	r.lim.single = len(files) == 1 && !opts.Contents
	r.watcher = newRepeats(opts.Once, slices.Contains(files, stdin)).watcher()
	inputs := r.readFiles(files)
	if !r.same {
		r.watcher.confirm(files, opts, lim, inputs, diags)
	}
	return inputs
}

// readFiles reads files one after the other.
func (r *reader) readFiles(files []string) []Input {
	r.opts.Progress.begin(files, r.opts)
	inputs := make([]Input, 0, len(files))
	first := map[string]string{} // digest of a content: the file that had it first
	for i, path := range files {
		inputs = append(inputs, Input{Path: path, Has: make([]bool, len(r.opts.Columns))})
		r.input, r.rec.file, r.rec.path = &inputs[i], i, path
		content := r.readFile(path)
		if content == "" {
			continue
		}
		inputs[i].Content = content
		if earlier, again := first[content]; again {
			r.fail(0, "the content is the same as that of %s: a file can be given once", diag.Printable(earlier))
			r.same = true
		} else {
			first[content] = path
		}
	}
	r.findMissingColumns(inputs)
	return inputs
}

// newReader returns what reads files with these options.
func newReader(opts Options, lim limits, add func(Row), diags *diag.List) *reader {
	r := &reader{opts: opts, lim: lim, add: add, diags: diags, missing: map[string]bool{}}
	for _, c := range opts.Columns {
		name := c.Name
		if other, renamed := opts.Rename[name]; renamed {
			name = strings.TrimSpace(other)
		}
		r.names = append(r.names, name)
	}
	for _, m := range opts.MissingValues {
		r.missing[strings.TrimSpace(m)] = true
	}
	r.rec = r.record()
	return r
}

// record returns a record of the columns, not read yet.
func (r *reader) record() record {
	return record{missing: r.missing, known: make([][256]string, len(r.opts.Columns))}
}

// reader holds what one call of Read shares between its files.
type reader struct {
	opts    Options
	lim     limits
	names   []string // by column: the name looked for in the files
	missing map[string]bool
	add     func(Row)
	diags   *diag.List
	input   *Input   // the file being read
	rec     record   // the row being read
	watcher *watcher // nil: rows may come twice
	same    bool     // two files are the same: then all their rows come twice, which need not be told
}

// format is a kind of content.
type format struct {
	name   string
	begins func(head []byte) bool     // whether content with this beginning has the format
	read   func(r *reader, w *window) // reads the rows
}

// formats are the kinds of content that are read; the first whose beginning matches is taken.
var formats = []format{
	{"JSONL", beginsObject, (*reader).readJSONL},
	{"CSV", func([]byte) bool { return true }, (*reader).readCSV},
}

// open opens a file and reads its beginning. problem is "" or why it cannot be opened.
func (r *reader) open(path string) (s *stream, w *window, problem string) {
	if s, problem = openStream(path, r.opts, r.lim); problem != "" {
		return nil, nil, problem
	}
	w = newWindow(s.content, r.lim)
	for len(w.bytes()) < r.lim.head && w.more() {
	}
	return s, w, ""
}

// readFile reads one file and returns the digest of its content, or "" when that was not read to its end.
func (r *reader) readFile(path string) string {
	s, w, problem := r.open(path)
	if problem != "" {
		r.fail(0, "%s", problem)
		return ""
	}
	defer s.close()
	head := w.bytes()
	if r.rec.numbered = IsParquet(head); r.rec.numbered {
		return r.readParquet(s)
	}
	problems := r.diags.Len()
	if what := unreadable(head); what != "" {
		r.fail(0, "%s", what)
	} else {
		w.skip(len(bom(head)))
		for _, f := range formats {
			if f.begins(w.bytes()) {
				f.read(r, w)
				break
			}
		}
	}
	r.input.Bytes = s.disk.bytes
	if r.input.Rows == 0 && r.diags.Len() == problems {
		r.fail(0, "no row was found: the file is empty")
	}
	if r.diags.Len() == problems && !s.unchanged() {
		r.fail(0, changedMessage)
	}
	if !w.eof() || len(w.bytes()) > 0 || !s.disk.ended {
		return ""
	}
	r.input.SHA256 = hex.EncodeToString(s.disk.hash.Sum(nil))
	return hex.EncodeToString(s.contentSum())
}

// fail reports a problem of the file at a line, or of the whole file at line 0.
func (r *reader) fail(line int, message string, args ...any) {
	r.diags.Addf(diag.Pos{File: r.rec.path, Line: line}, message, args...)
}

// failAt reports a problem at an offset of text, which begins at line and column.
func (r *reader) failAt(text []byte, line, column, offset int, message string) {
	line, column = advance(line, column, text[:offset])
	r.diags.Add(diag.Diagnostic{Pos: diag.Pos{File: r.rec.path, Line: line, Column: column}, Message: message})
}

// handOver gives the row to the caller.
func (r *reader) handOver() {
	r.input.Rows++
	r.opts.Progress.addRows(1)
	row := Row{rec: &r.rec}
	if r.watcher != nil {
		r.watcher.see(row, r.diags)
	}
	r.add(row)
}

// checkText reports the first byte of text that is not UTF-8. text begins at line and column.
func (r *reader) checkText(text []byte, line, column int) bool {
	if utf8.Valid(text) {
		return true
	}
	i := invalidByte(text)
	r.failAt(text, line, column, i, fmt.Sprintf("the byte 0x%02X is not UTF-8: save the file as UTF-8", text[i]))
	return false
}

// invalidByte returns the offset of the first byte that is not UTF-8, or len(text).
func invalidByte(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// findMissingColumns adds a finding to each file that lacks an optional column which another file has.
func (r *reader) findMissingColumns(inputs []Input) {
	for col, c := range r.opts.Columns {
		if c.Required {
			continue
		}
		somewhere := false
		for _, in := range inputs {
			somewhere = somewhere || in.Has[col]
		}
		for i := range inputs {
			in := &inputs[i]
			if somewhere && !in.Has[col] && in.Rows > 0 {
				in.Findings = append(in.Findings, Finding{
					Code:     FindingColumnMissing,
					Position: diag.Pos{File: in.Path},
					Message:  fmt.Sprintf("the column %s is missing here, while another file has it: it counts as not recorded in this file", diag.Quote(r.names[col])),
				})
			}
		}
	}
}

// label names column col in a message: by its name in the files, and its own where that differs.
func (r *reader) label(col int) string {
	if own := r.opts.Columns[col].Name; own != r.names[col] {
		return fmt.Sprintf("%s (the policy's name for %s)", diag.Quote(r.names[col]), own)
	}
	return diag.Quote(r.names[col])
}

// missingColumn is the message for a required column that a file does not have. names are what it has. Where a policy names the
// column, the slip is most likely there.
func (r *reader) missingColumn(col int, what string, names []string) string {
	c := r.opts.Columns[col]
	message := fmt.Sprintf("the %s %s is missing", what, r.label(col))
	near := nearest(r.names[col], names)
	write := fmt.Sprintf("write columns: {%s: %s} in the policy", plain(c.Name), diag.Quote(near))
	switch named := c.Named != (diag.Pos{}); {
	case !named && r.opts.Rename == nil && near == "":
		return message + ": add it"
	case !named && r.opts.Rename == nil:
		return fmt.Sprintf("%s; there is %s: rename it", message, diag.Quote(near))
	case !named && near == "":
		return message + ": add it, or name the one that holds it under columns in the policy"
	case !named:
		return fmt.Sprintf("%s; there is %s: rename it, or %s", message, diag.Quote(near), write)
	case near == "":
		return fmt.Sprintf("%s; %s names it: correct it there, add the %s, or name the one that holds it under columns in the policy", message, c.Named, what)
	case c.Name != r.names[col]: // columns is where it is named
		return fmt.Sprintf("%s; %s names it, and there is %s: correct it there, or rename the %s", message, c.Named, diag.Quote(near), what)
	}
	return fmt.Sprintf("%s; %s names it, and there is %s: correct it there, rename the %s, or %s", message, c.Named, diag.Quote(near), what, write)
}

// plain is a name as a policy can hold it: in quotes where it is not made of letters, digits and underscores alone.
func plain(name string) string {
	for _, c := range name {
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return diag.Quote(name)
		}
	}
	return name
}

// cell is where the value of one field lies in its record.
type cell struct {
	start, end int32 // bytes of the record's text, without quotes
	form       form
}

// form is how a value is written.
type form uint8

const (
	formAbsent  form = iota // no such field
	formNull                // JSON null
	formPlain               // as it stands: an unquoted CSV field, a JSON number, true or false
	formQuoted              // in quotes, with nothing to undo
	formDoubled             // in quotes, each inner quote doubled
	formEscaped             // a JSON string with escapes
)

// record is the row being read. Texts are decoded, and columns counted, only when asked for.
type record struct {
	path         string
	file         int
	raw          []byte // the row as written, valid UTF-8
	line, column int    // where raw begins
	numbered     bool   // the file has no lines: line is the number of the row
	cells        []cell
	index        []int // by column of Options.Columns: its place in cells, or −1
	missing      map[string]bool
	scratch      []byte
	known        [][256]string // by column and hash: short values met lately
}

// maxShared is the length of the longest values that share strings.
const maxShared = 64

// cell returns the cell of column col.
func (r *record) cell(col int) cell {
	if i := r.index[col]; i >= 0 {
		return r.cells[i]
	}
	return cell{}
}

// noSpace reports whether a byte at an end of a text is surely no part of white space.
func noSpace(b byte) bool { return b > ' ' && b < utf8.RuneSelf }

func (r *record) bytes(col int) ([]byte, bool) {
	c := r.cell(col)
	if c.form == formAbsent || c.form == formNull {
		return nil, false
	}
	value := r.raw[c.start:c.end]
	switch c.form {
	case formDoubled:
		r.scratch = undouble(r.scratch[:0], value)
		value = r.scratch
	case formEscaped:
		r.scratch = unescape(r.scratch[:0], value)
		value = r.scratch
	}
	if n := len(value); n > 0 && !(noSpace(value[0]) && noSpace(value[n-1])) {
		value = bytes.TrimSpace(value)
	}
	if len(value) == 0 || len(r.missing) > 0 && r.missing[string(value)] {
		return nil, false
	}
	return value, true
}

func (r *record) text(col int) (string, bool) {
	value, recorded := r.bytes(col)
	if !recorded {
		return "", false
	}
	if len(value) > maxShared {
		return string(value), true
	}
	// Most columns hold a few values again and again: those met lately share one string.
	hash := uint32(2166136261) // FNV-1a
	for _, c := range value {
		hash = (hash ^ uint32(c)) * 16777619
	}
	known := &r.known[col][hash%uint32(len(r.known[col]))]
	if *known != string(value) {
		*known = string(value)
	}
	return *known, true
}

func (r *record) pos(col int) diag.Pos {
	if r.numbered {
		return diag.Pos{File: r.path, Row: r.line}
	}
	p := diag.Pos{File: r.path, Line: r.line}
	if col < 0 {
		return p
	}
	c := r.cell(col)
	if c.form == formAbsent {
		return p
	}
	begin := c.start
	if c.form >= formQuoted {
		begin--
	}
	p.Line, p.Column = advance(r.line, r.column, r.raw[:begin])
	return p
}

// advance returns the line and column that follow text, which begins at line and column.
func advance(line, column int, text []byte) (int, int) {
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		line += n
		column = 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	return line, column + utf8.RuneCount(text)
}

// nearest returns the one of names that a person may have meant by want: equal but for letter case,
// spaces, hyphens, dots and underscores, or at most a third of its letters away. "" when none is.
func nearest(want string, names []string) string {
	plain := strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")
	fold := func(s string) string { return plain.Replace(strings.ToLower(s)) }
	best, distance := "", max(1, len([]rune(want))/3)+1
	for _, name := range names {
		if name == "" || len(name) > 256 {
			continue
		}
		if fold(name) == fold(want) {
			return name
		}
		if d := edits([]rune(fold(want)), []rune(fold(name)), distance); d < distance {
			best, distance = name, d
		}
	}
	return best
}

// edits is the Levenshtein distance of a and b, or limit when it is at least that.
func edits(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}

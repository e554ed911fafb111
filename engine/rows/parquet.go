package rows

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/parquet"
)

// IsParquet reports whether content with this beginning is a Parquet file's.
func IsParquet(head []byte) bool { return bytes.HasPrefix(head, []byte(parquet.Magic)) }

// parquetFile is an open Parquet file, and what is read of it.
type parquetFile struct {
	*parquet.File
	columns []*parquet.Column // those that are read
	names   []string          // their names, trimmed
	most    int64             // bytes of long texts that its rows may have in all, see longText
	rows    int64             // rows that may be read one by one
	index   []int             // by column of Options.Columns: its place in columns, or −1
}

// longText is how many bytes of a text are free. What the longer ones have beyond it is limited in all, as what compressed data grow to is: a
// dictionary lets a small file repeat one text in each of a hundred million rows, and a text of a megabyte would take days.
const longText = 256

// longProblem is the message where that is too much.
const longProblem = "the long texts of its rows grow to more than %d times the size of the file, which those of no decision file do"

// rowsToByte is how many rows to each byte of the file are read one by one, beyond those that are free. The rows of a gzip file of the same size
// could be as many; files of decisions have a byte or more for each.
const rowsToByte = 16

// openParquet reads a file's metadata, and reports what is wrong with them.
func (r *reader) openParquet(s *stream) (f *parquetFile, ok bool) {
	at, seeks := s.file.(io.ReaderAt)
	switch {
	case s.packed:
		r.fail(0, "it is a Parquet file, compressed as a whole: decompress it, for its pages are compressed as they are")
		return nil, false
	case s.file == nil:
		r.fail(0, "a Parquet file cannot be read from standard input, since it is read from its end: name the file")
		return nil, false
	case !seeks:
		r.fail(0, "a Parquet file is read from its end, which cannot be done where this one lies")
		return nil, false
	}
	file, err := parquet.Open(at, s.size)
	if err != nil {
		r.fail(0, "the Parquet file cannot be read: %s", diag.Cause(err.Error()))
		return nil, false
	}
	f = &parquetFile{File: file, most: r.lim.free + maxGrowth*s.size, rows: r.lim.rows + rowsToByte*s.size}
	where, again := map[string]int{}, map[string]bool{} // by name: its first place in the file; whether it has another
	var names []string
	for i, col := range file.Columns {
		name := strings.TrimSpace(col.Name)
		names = append(names, name)
		if _, met := where[name]; met {
			again[name] = true
			continue
		}
		where[name] = i
	}
	places := map[string]int{} // by name: its place in f.columns
	ok = true
	for col, name := range r.names {
		i, met := where[name]
		place, read := places[name]
		switch {
		case !met || name == "":
			place = -1
			if r.opts.Columns[col].Required {
				r.fail(0, "%s", r.missingColumn(col, "column", names))
				ok = false
			}
		case again[name]:
			r.fail(0, "the column %s is there twice: keep the one that is meant", r.label(col))
			ok = false
		case file.Columns[i].Problem != "":
			r.fail(0, "the column %s %s: texts, numbers, booleans, dates and times, one in each row, are read", r.label(col), file.Columns[i].Problem)
			ok = false
		case !read:
			place = len(f.columns)
			places[name] = place
			f.columns, f.names = append(f.columns, &file.Columns[i]), append(f.names, name)
		}
		f.index = append(f.index, place)
		r.input.Has[col] = place >= 0
	}
	return f, ok
}

// digestFile reads a file to its end, and returns its digest; "" where that fails, or where the file is no longer what was opened.
func (r *reader) digestFile(s *stream) (sum string, problem string) {
	buffer := make([]byte, 128<<10)
	for {
		_, err := s.content.Read(buffer)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", readProblem(err)
		}
	}
	if s.disk.bytes != s.size || !s.unchanged() {
		return "", changedMessage
	}
	return hex.EncodeToString(s.disk.hash.Sum(nil)), ""
}

// readParquet reads the rows of a Parquet file, and returns its digest, or "" when it could not be read to its end.
func (r *reader) readParquet(s *stream) string {
	problems := r.diags.Len()
	f, ok := r.openParquet(s)
	if !ok {
		return ""
	}
	r.readGroups(f)
	if r.input.Rows == 0 && r.diags.Len() == problems {
		r.fail(0, "there are columns but no row: every file needs one")
	}
	sum, problem := r.digestFile(s)
	r.input.Bytes, r.input.SHA256 = s.disk.bytes, sum
	if problem != "" && r.diags.Len() == problems {
		r.fail(0, "%s", problem)
	}
	return sum
}

// readGroups reads the rows of all row groups.
func (r *reader) readGroups(f *parquetFile) {
	rec := &r.rec
	rec.index, rec.cells = f.index, make([]cell, len(f.columns))
	rec.raw, rec.line = rec.raw[:0:0], 0
	cursors := make([]*parquet.Cursor, len(f.columns))
	for i, col := range f.columns {
		cursors[i] = f.Cursor(col)
		defer cursors[i].Close()
	}
	// broken reports that nothing after the last row can be read.
	broken := func(i int, err error) {
		r.diags.Addf(diag.Pos{File: rec.path, Row: rec.line}, "the column %s cannot be read: %s", diag.Quote(f.names[i]), diag.Cause(err.Error()))
	}
	long := int64(0)
	for _, group := range f.Groups {
		for i, c := range cursors {
			if err := c.Open(group); err != nil {
				rec.line++
				broken(i, err)
				return
			}
		}
		for range group.Rows {
			if rec.line++; int64(rec.line) > f.rows {
				// Who reads them one by one may keep each, and metadata can name the same rows again and again.
				r.fail(0, "it has more than %d rows to each of its bytes, which no decision file does", rowsToByte)
				return
			}
			rec.raw = rec.raw[:0]
			sound := true
			for i, c := range cursors {
				text, recorded, wrong, err := c.Text()
				long += int64(max(0, len(text)-longText))
				switch {
				case err != nil:
					broken(i, err)
					return
				case long > f.most:
					broken(i, fmt.Errorf(longProblem, maxGrowth))
					return
				case len(rec.raw)+len(text) > r.lim.record:
					wrong = "the row is longer than " + size(r.lim.record)
					fallthrough
				case wrong != "":
					r.diags.Addf(diag.Pos{File: rec.path, Row: rec.line}, "%s: %s", diag.Quote(f.names[i]), wrong)
					sound = false
				case !recorded:
					rec.cells[i] = cell{form: formNull}
				default:
					start := len(rec.raw)
					rec.raw = append(rec.raw, text...)
					rec.cells[i] = cell{int32(start), int32(len(rec.raw)), formPlain}
				}
			}
			if sound {
				r.handOver()
			}
		}
	}
}

// stretch is a part of a row group that one goroutine counts.
type stretch struct {
	group    parquet.Group
	from, to int64 // rows of the group
}

// atOnce is how many rows are counted at once: their combinations stay near the processor.
const atOnce = 1 << 12

// stretches cuts the row groups of a file so that several workers have about as much to do, and none less than least rows at once where
// a group has more.
func stretches(groups []parquet.Group, workers int, least int64) (list []stretch) {
	total := int64(0)
	for _, g := range groups {
		total += g.Rows
	}
	size := max(1, least, total/int64(2*workers))
	for _, g := range groups {
		parts := max(1, (g.Rows+size/2)/size)
		for i := range parts {
			list = append(list, stretch{g, g.Rows / parts * i, g.Rows / parts * (i + 1)})
		}
		list[len(list)-1].to = g.Rows
	}
	return list
}

// countParquet counts the rows of a Parquet file on all cores, as countFile does.
func (r *reader) countParquet(s *stream, total *Cube, once map[int]*unique) string {
	f, ok := r.openParquet(s)
	if !ok || len(f.Groups) == 0 {
		return ""
	}
	list := stretches(f.Groups, runtime.GOMAXPROCS(0), r.lim.part)
	telling := &sync.Mutex{}
	var workers []*counter
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		c := r.counter(f.names, f.index, total.uses, once)
		if c == nil {
			return ""
		}
		c.telling = telling
		workers = append(workers, c)
	}
	var wait sync.WaitGroup
	var bad atomic.Bool
	var next atomic.Int64 // of list
	for _, c := range workers {
		wait.Go(func() {
			p := newParquetCounter(c, f, r.lim.record)
			defer p.close()
			for !bad.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					break
				}
				if !p.count(list[i]) {
					bad.Store(true)
				}
				r.opts.Progress.addRows(int(list[i].to - list[i].from))
			}
			c.finish()
		})
	}
	sum, problem := r.digestFile(s)
	wait.Wait()
	if bad.Load() || problem != "" || !s.unchanged() { // it was counted beside the digest, and perhaps longer
		return ""
	}
	before := total.rows
	for _, c := range workers {
		total.merge(c.cube)
	}
	r.input.Rows = total.rows - before
	r.input.Bytes, r.input.SHA256 = s.disk.bytes, sum
	return sum
}

// parquetCounter counts rows of a Parquet file. It belongs to one goroutine.
type parquetCounter struct {
	*counter
	long    int64 // bytes of long texts so far, of which the file may have most
	most    int64
	longest int            // bytes of a text: with longer ones a row may be over the limit, which Read knows
	fields  []parquetField // those that are looked at; the one whose numbers are added up is the last
	at      [atOnce]uint64 // the combinations of rows
}

// parquetField is a field that is looked at.
type parquetField struct {
	*dictionary
	*parquet.Cursor
	filled  bool       // a value that is there is recorded, whatever it is
	plain   bool       // filled, and its values are whole numbers
	numbers []numberAt // of the row group's dictionary, by place
}

// numberAt is what a number adds to a row.
type numberAt struct {
	known, ok, rounded bool
	offset             uint64
	value              Sum
}

// newParquetCounter returns what counts with c; record is how many bytes a row may have.
func newParquetCounter(c *counter, f *parquetFile, record int) *parquetCounter {
	p := &parquetCounter{counter: c, most: f.most, longest: record / max(1, len(f.columns))}
	for _, l := range c.looked {
		col := f.columns[l.field]
		begins := col.Begins()
		field := parquetField{dictionary: l.dictionary, Cursor: f.Cursor(col), filled: begins != ""}
		for _, b := range []byte(begins) {
			field.filled = field.filled && !c.unclear[b]
		}
		field.plain = field.filled && col.Integers()
		p.fields = append(p.fields, field)
	}
	slices.SortStableFunc(p.fields, func(a, b parquetField) int { return cmp.Compare(min(a.number, 0), min(b.number, 0)) })
	return p
}

func (p *parquetCounter) close() {
	for _, f := range p.fields {
		f.Close()
	}
}

// count counts the rows of a stretch. It is false where anything is wrong with them.
func (p *parquetCounter) count(s stretch) bool {
	for i := range p.fields {
		f := &p.fields[i]
		if f.Open(s.group) != nil {
			return false
		}
		f.numbers = f.numbers[:0]
		if f.Skip(s.from) != nil {
			return false
		}
	}
	for left := s.to - s.from; left > 0; {
		at := p.at[:min(left, atOnce)]
		left -= int64(len(at))
		for i := range at {
			at[i] = p.base
		}
		counted := false
		for i := range p.fields {
			switch f := &p.fields[i]; {
			case f.number >= 0:
				if !p.addNumbers(f, at) {
					return false
				}
				counted = true
			case f.each && f.filled && f.ids == nil:
				if filled, err := f.Filled(len(at)); !filled || err != nil {
					return false
				}
			case f.each:
				if !p.look(f, len(at)) {
					return false
				}
			case !p.add(f, at):
				return false
			}
		}
		switch {
		case counted:
		case p.cube.dense != nil && !p.cube.number:
			for _, a := range at {
				p.cube.dense[a]++
			}
			p.cube.rows += len(at)
		default:
			for _, a := range at {
				p.cube.add(a, 1, Sum{})
			}
		}
		if p.cube.tooMany() {
			return false
		}
	}
	return true
}

// short reports whether a text is within the limits, which Read tells.
func (p *parquetCounter) short(text []byte) bool {
	p.long += int64(max(0, len(text)-longText))
	return len(text) <= p.longest && p.long <= p.most
}

// add adds to the combinations of the next rows what a field adds to them.
func (p *parquetCounter) add(f *parquetField, at []uint64) bool {
	ok, err := f.Sum(at, func(text []byte, _ bool) (worth uint64, keep, ok bool) {
		ok = p.short(text) && p.text(f.dictionary, text, &worth)
		return worth, ok && !f.tells(text), ok
	})
	return ok && err == nil
}

// look looks at the next n values of a field that is not counted by.
func (p *parquetCounter) look(f *parquetField, n int) bool {
	ok, err := f.Each(n, func(v parquet.Value) bool {
		if f.plain && !v.Null && f.ids != nil {
			if number := f.IntegerOf(v); number >= 0 && number < mostPlain {
				if added, again := f.ids.addPlain(uint64(number)); added {
					return !again // Read finds what is there again
				}
			}
		}
		text, ok := f.TextOf(v)
		return ok && p.short(text) && p.text(f.dictionary, text, nil)
	})
	return ok && err == nil
}

// addNumbers counts the next rows, with the numbers that are added up.
func (p *parquetCounter) addNumbers(f *parquetField, at []uint64) bool {
	i := 0
	ok, err := f.Each(len(at), func(v parquet.Value) bool {
		n := p.numberOf(f, v)
		if n.rounded {
			p.cube.rounded++
		}
		p.value = n.value
		p.end(at[i] + n.offset)
		i++
		return n.ok
	})
	return ok && err == nil
}

// numberOf is what a value adds to a row. What stands in a dictionary is read once in a row group.
func (p *parquetCounter) numberOf(f *parquetField, v parquet.Value) numberAt {
	if v.Place >= 0 && v.Place < len(f.numbers) && f.numbers[v.Place].known {
		return f.numbers[v.Place]
	}
	n := numberAt{known: true}
	text, ok := f.TextOf(v)
	rounded := p.cube.rounded
	p.begin()
	n.ok = ok && p.short(text) && p.text(f.dictionary, text, &n.offset)
	n.value, n.rounded = p.value, p.cube.rounded > rounded
	p.cube.rounded = rounded
	if v.Place >= 0 && v.Place < mostKnown {
		if more := v.Place + 1 - len(f.numbers); more > 0 {
			f.numbers = append(f.numbers, make([]numberAt, more)...)
		}
		f.numbers[v.Place] = n
	}
	return n
}

package rows

import (
	"bytes"
	"encoding/hex"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/parquet"
)

// isParquet reports whether content with this beginning is a Parquet file's.
func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte(parquet.Magic)) }

// parquetFile is an open Parquet file, and what is read of it.
type parquetFile struct {
	*parquet.File
	columns []*parquet.Column // those that are read
	names   []string          // their names, trimmed
	index   []int             // by column of Options.Columns: its place in columns, or −1
}

// openParquet reads a file's metadata, and reports what is wrong with them.
func (r *reader) openParquet(s *stream) (f *parquetFile, ok bool) {
	at, seeks := s.file.(io.ReaderAt)
	switch {
	case s.inner != nil:
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
	f = &parquetFile{File: file}
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
	if s.disk.bytes != s.size {
		return "", "the file changed while it was read: run again when it is finished"
	}
	return hex.EncodeToString(s.disk.hash.Sum(nil)), ""
}

// readParquet reads the rows of a Parquet file, and returns its digest, or "" when it could not be read to its end.
func (r *reader) readParquet(s *stream) string {
	problems := r.diags.Len()
	if f, ok := r.openParquet(s); ok {
		r.readGroups(f)
		if r.input.Rows == 0 && r.diags.Len() == problems {
			r.fail(0, "there are columns but no row: every file needs one")
		}
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
	for _, group := range f.Groups {
		for i, c := range cursors {
			if err := c.Open(group); err != nil {
				rec.line++
				broken(i, err)
				return
			}
		}
		for range group.Rows {
			rec.line++
			rec.raw = rec.raw[:0]
			sound := true
			for i, c := range cursors {
				text, recorded, wrong, err := c.Text()
				switch {
				case err != nil:
					broken(i, err)
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
	size := max(1, least, total/int64(4*workers))
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
			p := newParquetCounter(c, f)
			defer p.close()
			for !bad.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					break
				}
				if !p.count(list[i]) {
					bad.Store(true)
				}
			}
			if !c.finish() {
				bad.Store(true)
			}
		})
	}
	sum, problem := r.digestFile(s)
	wait.Wait()
	if bad.Load() || problem != "" {
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
	cursors []*parquet.Cursor // by field; nil where it is not looked at
	at      [atOnce]uint64    // the combinations of rows
	number  int               // the field whose numbers are added up; −1 for none
}

func newParquetCounter(c *counter, f *parquetFile) *parquetCounter {
	p := &parquetCounter{counter: c, cursors: make([]*parquet.Cursor, len(c.fields)), number: -1}
	for _, l := range c.looked {
		p.cursors[l.field] = f.Cursor(f.columns[l.field])
		if l.number >= 0 {
			p.number = l.field
		}
	}
	return p
}

func (p *parquetCounter) close() {
	for _, c := range p.cursors {
		if c != nil {
			c.Close()
		}
	}
}

// count counts the rows of a stretch. It is false where anything is wrong with them.
func (p *parquetCounter) count(s stretch) bool {
	for _, l := range p.looked {
		c := p.cursors[l.field]
		if c.Open(s.group) != nil || c.Skip(s.from) != nil {
			return false
		}
	}
	for left := s.to - s.from; left > 0; {
		at := p.at[:min(left, atOnce)]
		left -= int64(len(at))
		for i := range at {
			at[i] = p.base
		}
		for _, l := range p.looked {
			if l.field != p.number && !p.add(l, at) {
				return false
			}
		}
		switch {
		case p.number >= 0:
			if !p.addNumbers(at) {
				return false
			}
		case p.cube.dense != nil:
			for _, a := range at {
				p.cube.dense[a]++
			}
			p.cube.rows += len(at)
		default:
			for _, a := range at {
				p.cube.add(a, 1, Sum{})
			}
		}
	}
	return true
}

// add adds to the combinations of the next rows what a field adds to them.
func (p *parquetCounter) add(l looked, at []uint64) bool {
	var ok bool
	var err error
	d, c := l.dictionary, p.cursors[l.field]
	if d.each {
		ok, err = c.Each(len(at), func(text []byte, _ bool) bool { return p.text(d, text, nil) })
	} else {
		ok, err = c.Sum(at, func(text []byte, _ bool) (worth uint64, keep, ok bool) {
			ok = p.text(d, text, &worth)
			return worth, ok && !d.tells(text), ok
		})
	}
	return ok && err == nil
}

// addNumbers counts the next rows, with the numbers that are added up.
func (p *parquetCounter) addNumbers(at []uint64) bool {
	d, i := p.fields[p.number], 0
	ok, err := p.cursors[p.number].Each(len(at), func(text []byte, _ bool) bool {
		p.begin()
		ok := p.text(d, text, &at[i])
		p.end(at[i])
		i++
		return ok
	})
	return ok && err == nil
}

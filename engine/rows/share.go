package rows

import (
	"bytes"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Share reads all files as Read does, but on all cores: each has a function of its own, returned by begin, which is given some of the
// rows, those of a file in the order of its lines. It is for tallies that merge. A function returns false where a row cannot be used; then
// no more rows follow. ok is false in that case, and where anything at all is wrong with a file, or might be: nothing is told of it here,
// and Read says what it is. Standard input, which can be read once only, is not shared.
func Share(paths []string, opts Options, begin func() (add func(Row) bool)) (inputs []Input, ok bool) {
	return shareWithin(paths, opts, begin, defaultLimits())
}

// shareWithin is Share with its limits.
func shareWithin(paths []string, opts Options, begin func() func(Row) bool, lim limits) (inputs []Input, ok bool) {
	diags := &diag.List{}
	r := newReader(opts, lim, nil, diags)
	files := expand(paths, opts.FS, diags)
	if diags.Len() > 0 || slices.Contains(files, stdin) || opts.Delimiter != 0 && !isDelimiter(opts.Delimiter) {
		return nil, false
	}
	opts.Progress.begin(files, opts)
	repeats := newRepeats(opts.Once, false)
	workers := make([]*sharer, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = &sharer{rec: r.record(), watcher: repeats.watcher(), add: begin()}
	}
	r.lim.single = len(files) == 1 && !opts.Contents
	inputs = make([]Input, 0, len(files))
	contents := map[string]bool{}
	for i, path := range files {
		inputs = append(inputs, Input{Path: path, Has: make([]bool, len(opts.Columns))})
		r.input, r.rec.path = &inputs[i], path
		for _, w := range workers {
			w.rec.path, w.rec.file = path, i
		}
		content := r.shareFile(path, workers)
		if content == "" || diags.Len() > 0 || contents[content] {
			return nil, false
		}
		inputs[i].Content = content
		contents[content] = true
	}
	for _, w := range workers {
		w.watcher.end()
	}
	if repeats.suspect() {
		return nil, false
	}
	r.findMissingColumns(inputs)
	return inputs, true
}

// shareFile hands over the rows of one file, and returns the digest of its content; "" where anything is wrong with it.
func (r *reader) shareFile(path string, workers []*sharer) string {
	s, w, problem := r.open(path)
	if problem != "" {
		return ""
	}
	defer s.close()
	if IsParquet(w.bytes()) { // Read reads it
		return ""
	}
	f := r.openText(w)
	if f == nil {
		return ""
	}
	for _, worker := range workers {
		worker.rows, worker.json = 0, nil
		if f.jsonl {
			scan, index := r.newScanner()
			worker.rec.index = index
			worker.take = worker.objects(&scan)
		} else {
			worker.take = worker.records(f.header)
		}
	}
	sound := f.each(r.opts.Progress, len(workers), func(worker int, block []byte, n, line int) (rows int, ok bool) {
		of := workers[worker]
		before := of.rows
		ok = utf8.Valid(block[:n]) && of.take(block, n, line)
		return of.rows - before, ok
	})
	for _, worker := range workers {
		r.input.Rows += worker.rows
		if worker.json != nil {
			for col, slot := range worker.rec.index {
				r.input.Has[col] = r.input.Has[col] || worker.json.has[slot]
			}
		}
	}
	if !sound {
		return ""
	}
	return r.ended(s)
}

// sharer hands over the rows of blocks. It belongs to one goroutine.
type sharer struct {
	rec     record
	watcher *watcher
	marker  marker
	add     func(Row) bool
	rows    int                                  // of the file
	take    func(block []byte, n, line int) bool // hands over the rows of block[:n], which begins a line; false where anything is wrong
	json    *jsonScanner                         // of a file of JSONL; else nil
}

// handOver gives the row to the function; false where that cannot use it.
func (s *sharer) handOver() bool {
	s.rows++
	row := Row{rec: &s.rec}
	s.watcher.see(row, nil)
	return s.add(row)
}

// records returns what takes blocks of CSV.
func (s *sharer) records(header csvHeader) func(block []byte, n, line int) bool {
	s.json = nil
	s.rec.index, s.rec.column = header.index, 1
	s.marker.delimiter = header.delimiter
	scan := csvScanner{delimiter: header.delimiter}
	for _, i := range header.index {
		scan.keep = max(scan.keep, i+1)
	}
	cells := make([]cell, scan.keep)
	return func(block []byte, n, line int) bool {
		if ok, quoted := s.marked(block, n, line, len(header.names), cells); !quoted {
			return ok
		}
		return s.scanned(block[:n], line, len(header.names), &scan)
	}
}

// marked hands over the records of block[:n], which have so many fields: it lists where they are first, as counter.count does, and puts those of a
// record into cells. Where quotes stand elsewhere than around whole fields it does nothing, and returns quoted.
func (s *sharer) marked(block []byte, n, line, fields int, cells []cell) (ok, quoted bool) {
	b := block[:n+padding]
	for i := range padding {
		b[n+i] = '\n'
	}
	last := n
	if n > 0 && b[n-1] == '\n' {
		last--
	}
	quotes, _ := s.marker.mark(b, last)
	if quotes > 0 && !s.marker.around(b, n, quotes) {
		return false, true
	}
	marks, j := s.marker.marks, 0
	for _, next := range s.marker.lines {
		first, end := int(marks[j]), int(marks[next])-1 // of the line
		if end > first && end < n && b[end-1] == '\r' {
			end--
		}
		if first == end { // a line that is wholly empty
			j = int(next)
			line++
			continue
		}
		if int(next)-j != fields {
			return false, false
		}
		for i := range cells {
			start, stop := int(marks[j+i])-first, int(marks[j+i+1])-1-first
			stop = min(stop, end-first)
			cells[i] = cell{int32(start), int32(stop), formPlain}
			if quotes > 0 && stop > start && b[first+start] == '"' {
				cells[i] = cell{int32(start + 1), int32(stop - 1), formQuoted}
			}
		}
		s.rec.raw, s.rec.line, s.rec.cells = b[first:end], line, cells
		if !s.handOver() {
			return false, false
		}
		j = int(next)
		line++
	}
	return true, false
}

// scanned hands over the records of a block, which have so many fields, whatever they look like.
func (s *sharer) scanned(block []byte, line, fields int, scan *csvScanner) bool {
	for len(block) > 0 {
		if block[0] == '\n' || bytes.HasPrefix(block, []byte("\r\n")) {
			block = block[bytes.IndexByte(block, '\n')+1:]
			line++
			continue
		}
		end, next, bad, _ := scan.scan(block, true)
		if bad != nil || scan.fields != fields {
			return false
		}
		s.rec.raw, s.rec.line, s.rec.cells = block[:end], line, scan.cells
		if !s.handOver() {
			return false
		}
		line += bytes.Count(block[:next], []byte{'\n'})
		block = block[next:]
	}
	return true
}

// objects returns what takes blocks of JSONL.
func (s *sharer) objects(scan *jsonScanner) func(block []byte, n, line int) bool {
	s.json = scan
	return func(block []byte, n, line int) bool {
		block = block[:n]
		column := 1
		skip := func(n int) {
			line, column = advance(line, column, block[:n])
			block = block[n:]
		}
		for {
			skip(len(block) - len(bytes.TrimLeft(block, blanks)))
			if len(block) == 0 {
				return true
			}
			if block[0] != '{' {
				return false
			}
			end, bad, _ := scan.scan(block, true)
			if bad != nil {
				return false
			}
			s.rec.raw, s.rec.line, s.rec.column, s.rec.cells = block[:end], line, column, scan.cells
			if !s.handOver() {
				return false
			}
			skip(end)
		}
	}
}

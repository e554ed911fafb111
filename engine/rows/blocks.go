package rows

import (
	"bytes"
	"encoding/hex"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// ended finishes a file whose rows were read to the end, and returns the digest of its content; "" where something is missing.
func (r *reader) ended(s *stream) string {
	if !s.disk.ended || r.input.Rows == 0 || !s.unchanged() {
		return ""
	}
	for col, c := range r.opts.Columns {
		if c.Required && !r.input.Has[col] {
			return "" // a key of no object
		}
	}
	r.input.Bytes, r.input.SHA256 = s.disk.bytes, hex.EncodeToString(s.disk.hash.Sum(nil))
	return hex.EncodeToString(s.contentSum())
}

// textFile is a file of CSV or JSONL that is read in blocks.
type textFile struct {
	*blocks
	jsonl  bool
	header csvHeader // of JSONL: a name for each slot of a scanner, and by column its slot
}

// openText reads the header of a file whose beginning is in a window; nil where anything is wrong with it.
func (r *reader) openText(w *window) *textFile {
	if unreadable(w.bytes()) != "" {
		return nil
	}
	w.skip(len(bom(w.bytes())))
	f := &textFile{blocks: &blocks{from: w, cut: lastEnd, size: r.lim.block, most: r.lim.record, line: 1}}
	if f.jsonl = beginsObject(w.bytes()); f.jsonl {
		f.cut = lastObject
		var scan jsonScanner
		scan, f.header.index = r.newScanner()
		f.header.names = make([]string, len(scan.cells))
	} else {
		csv := csvFile{reader: r, w: w, line: 1}
		var ok bool
		if f.header, ok = csv.header(); !ok {
			return nil
		}
		csv.skip(f.header.next)
		f.line = csv.line
	}
	f.left, f.ended = w.bytes(), w.eof()
	if w.failed() { // what is read after that is anyone's guess
		return nil
	}
	return f
}

// workers is how many goroutines there is work for.
func (b *blocks) workers() int {
	if b.ended && len(b.left) <= b.size {
		return 1
	}
	return runtime.GOMAXPROCS(0) + 1 // so that no core is idle while one waits for the file
}

// each hands all blocks to so many goroutines, each block with the line that it begins on. do returns how many rows there were, and false
// where anything is wrong with them; then each returns false too.
func (b *blocks) each(progress *Progress, workers int, do func(worker int, block []byte, n, line int) (rows int, ok bool)) bool {
	var wait sync.WaitGroup
	var bad atomic.Bool
	for worker := range workers {
		wait.Go(func() {
			var block []byte
			for !bad.Load() {
				var n, line int
				if block, n, line = b.next(block); n == 0 {
					break
				}
				rows, ok := do(worker, block, n, line)
				progress.addRows(rows)
				if !ok {
					bad.Store(true)
				}
			}
		})
	}
	wait.Wait()
	return !bad.Load() && b.ended
}

// blocks cuts a stream into blocks that end with the end of a record. It is shared by several goroutines.
type blocks struct {
	lock  sync.Mutex
	from  *window
	cut   func(text []byte) int // where the last record of a text ends; 0 where none does
	left  []byte                // what was read and is in no block yet
	store []byte                // where it lies
	size  int
	most  int // bytes of a record
	line  int // of the first byte that is in no block yet
	ended bool
	done  bool // nothing follows, or nothing can
}

// next returns the next block: buffer, or one in its place, with n bytes of text and padding behind them, and the line on which it
// begins. n is 0 at the end.
func (b *blocks) next(buffer []byte) (block []byte, n, line int) {
	b.lock.Lock()
	defer b.lock.Unlock()
	line = b.line
	if b.done {
		return buffer, 0, line
	}
	size := b.size
	if b.ended {
		size = 0
	}
	for {
		if need := max(size, len(b.left)) + padding; len(buffer) < need {
			grown := make([]byte, need)
			copy(grown, buffer[:n])
			buffer = grown
		}
		if len(b.left) > 0 {
			n = copy(buffer, b.left)
			b.left = nil
		}
		if !b.ended {
			m, err := fill(b.from.r, buffer[n:len(buffer)-padding])
			n += m
			if err != nil {
				if err != io.EOF {
					b.done = true
					return buffer, 0, line
				}
				b.ended = true
			}
		}
		if b.ended {
			b.done = true
			return buffer, n, line
		}
		if cut := b.cut(buffer[:n]); cut > 0 {
			b.store = append(b.store[:0], buffer[cut:n]...)
			b.left = b.store
			b.line += bytes.Count(buffer[:cut], []byte{'\n'})
			return buffer, cut, line
		}
		if n >= b.most {
			b.done = true
			return buffer, 0, line
		}
		size = min(2*n, b.most)
	}
}

// lastEnd returns where the last record of text ends, behind its line feed; 0 where none does.
func lastEnd(text []byte) int {
	quotes := bytes.Count(text, []byte{'"'})
	for end := len(text); ; {
		line := bytes.LastIndexByte(text[:end], '\n')
		if line < 0 {
			return 0
		}
		quotes -= bytes.Count(text[line:end], []byte{'"'})
		if quotes%2 == 0 {
			return line + 1
		}
		end = line
	}
}

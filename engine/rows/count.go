package rows

import (
	"bytes"
	"encoding/hex"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oloproof/oloproof/engine/diag"
)

// Use is what Count does with a column.
type Use struct {
	// Codes is how many codes the column's texts can have; 0: the column is not counted by.
	Codes int
	// Code gives a text its code, below Codes, as Row.Text returns it. ok is false where no row may hold it. It is called for texts
	// as they are met first, by several goroutines at once.
	Code func(text string, recorded bool) (code int, ok bool)
	// Unique says that every row has a text of its own here. Codes is 0 then.
	Unique bool
}

// Cube is how many rows have each combination of codes.
type Cube struct {
	uses    []Use
	strides []uint64 // by column; 0 where it is not counted by
	cells   uint64   // combinations
	dense   []uint64 // by combination, where there are few
	sparse  map[uint64]uint64
	rows    int
}

// mostDense is how many combinations are kept as a list: 8 MiB a worker.
const mostDense = 1 << 20

// newCube returns an empty cube; nil where its combinations cannot be numbered.
func newCube(uses []Use) *Cube {
	c := &Cube{uses: uses, strides: make([]uint64, len(uses)), cells: 1}
	for i, u := range uses {
		if u.Codes == 0 {
			continue
		}
		c.strides[i] = c.cells
		if c.cells > math.MaxInt64/uint64(u.Codes) {
			return nil
		}
		c.cells *= uint64(u.Codes)
	}
	if c.cells <= mostDense {
		c.dense = make([]uint64, c.cells)
	} else {
		c.sparse = map[uint64]uint64{}
	}
	return c
}

// add counts n rows.
func (c *Cube) add(at, n uint64) {
	c.rows += int(n)
	if c.dense != nil {
		c.dense[at] += n
	} else {
		c.sparse[at] += n
	}
}

// merge adds the rows of another cube with the same uses.
func (c *Cube) merge(other *Cube) {
	for at, n := range other.dense {
		c.add(uint64(at), n)
	}
	for at, n := range other.sparse {
		c.add(at, n)
	}
}

// Rows is how many rows were counted.
func (c *Cube) Rows() int { return c.rows }

// Each hands over every combination that occurs, in no order: the code of each column, 0 where a column has none, and how many
// rows have it. codes is valid only until do returns.
func (c *Cube) Each(do func(codes []int, rows int)) {
	codes := make([]int, len(c.uses))
	hand := func(at, n uint64) {
		for i, u := range c.uses {
			if u.Codes > 0 {
				codes[i] = int(at / c.strides[i] % uint64(u.Codes))
			}
		}
		do(codes, int(n))
	}
	for at, n := range c.dense {
		if n > 0 {
			hand(uint64(at), n)
		}
	}
	for at, n := range c.sparse {
		hand(at, n)
	}
}

// Count reads all files on all cores and counts their rows by the codes of columns, in memory that does not grow with them. ok is
// false where anything at all is wrong with a file or a row, or might be: nothing is told of it here, and Read says what it is.
// Standard input, which can be read once only, is not counted.
func Count(paths []string, opts Options, uses []Use) (cube *Cube, inputs []Input, ok bool) {
	return countWithin(paths, opts, uses, defaultLimits())
}

// countWithin is Count with its limits.
func countWithin(paths []string, opts Options, uses []Use, lim limits) (cube *Cube, inputs []Input, ok bool) {
	diags := &diag.List{}
	r := newReader(opts, lim, nil, diags)
	files := expand(paths, opts.FS, diags)
	total := newCube(uses)
	if diags.Len() > 0 || total == nil || slices.Contains(files, stdin) {
		return nil, nil, false
	}
	ids := newUnique()
	inputs = make([]Input, 0, len(files))
	contents := map[string]bool{}
	for _, path := range files {
		inputs = append(inputs, Input{Path: path, Has: make([]bool, len(opts.Columns))})
		r.input, r.rec.path = &inputs[len(inputs)-1], path
		content := r.countFile(path, total, ids)
		if content == "" || diags.Len() > 0 || contents[content] {
			return nil, nil, false
		}
		inputs[len(inputs)-1].Content = content
		contents[content] = true
	}
	r.findMissingColumns(inputs)
	return total, inputs, true
}

// countFile counts the rows of one file, on all cores, and returns the digest of its content; "" where anything is wrong with it.
func (r *reader) countFile(path string, total *Cube, ids *unique) string {
	s, problem := openStream(path, r.opts, r.lim)
	if problem != "" {
		return ""
	}
	defer s.close()
	w := newWindow(s.content, r.lim)
	for len(w.bytes()) < r.lim.head && w.more() {
	}
	if unreadable(w.bytes()) != "" {
		return ""
	}
	w.skip(len(bom(w.bytes())))
	if beginsObject(w.bytes()) {
		return ""
	}
	f := csvFile{reader: r, w: w, line: 1}
	header, ok := f.header()
	if !ok {
		return ""
	}
	f.skip(header.next)
	blocks := &blocks{left: w.bytes(), from: w, size: r.lim.block, most: r.lim.record, cut: lastEnd, line: f.line}
	workers := make([]*counter, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	var bad atomic.Bool
	for i := range workers {
		if workers[i] = r.counter(header, total.uses, ids); workers[i] == nil {
			return ""
		}
		wait.Go(func() {
			c := workers[i]
			var block []byte
			for !bad.Load() {
				var n int
				if block, n, _ = blocks.next(block); n == 0 {
					break
				}
				if !c.count(block, n) {
					bad.Store(true)
				}
			}
			if c.unique != nil && !c.unique.end() {
				bad.Store(true)
			}
		})
	}
	wait.Wait()
	if bad.Load() || !blocks.ended || !s.disk.ended {
		return ""
	}
	before := total.rows
	for _, c := range workers {
		total.merge(c.cube)
	}
	r.input.Rows = total.rows - before
	if r.input.Rows == 0 {
		return ""
	}
	r.input.Bytes, r.input.SHA256 = s.disk.bytes, hex.EncodeToString(s.disk.hash.Sum(nil))
	return hex.EncodeToString(s.contentSum())
}

// counter returns what counts the records under a header; nil where a column that the file does not have cannot be empty.
func (r *reader) counter(header csvHeader, uses []Use, ids *unique) *counter {
	c := &counter{delimiter: header.delimiter, missing: r.missing, cube: newCube(uses), fields: make([]*dictionary, len(header.names))}
	for col, use := range uses {
		i := header.index[col]
		switch {
		case i < 0 && use.Unique:
			return nil
		case i < 0 && use.Codes > 0:
			code, ok := use.Code("", false)
			if !ok {
				return nil
			}
			c.base += uint64(code) * c.cube.strides[col]
		case i >= 0 && (use.Unique || use.Codes > 0):
			if c.fields[i] == nil {
				c.fields[i] = &dictionary{rest: map[short]uint64{}, long: map[string]uint64{}}
			}
			c.fields[i].columns = append(c.fields[i].columns, col)
			if use.Unique {
				c.fields[i].unique, c.unique = true, ids.batch()
			}
		}
	}
	for i, d := range c.fields {
		if d != nil && d.unique && len(d.columns) > 1 {
			return nil
		}
		if d != nil {
			c.looked = append(c.looked, looked{d, i, i == len(c.fields)-1})
		}
	}
	return c
}

// blocks cuts a stream into blocks that end with the end of a record. It is shared by several goroutines.
type blocks struct {
	lock  sync.Mutex
	from  *window
	left  []byte // what was read and is in no block yet
	store []byte // where it lies
	size  int
	most  int                   // bytes of a record
	cut   func(text []byte) int // where the last record of text ends; 0 where none does
	line  int                   // of the first byte that is in no block yet
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

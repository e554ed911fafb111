package rows

import (
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Use is what Count does with a column.
type Use struct {
	// Codes is how many codes the column's texts can have; 0: the column is not counted by.
	Codes int
	// Code gives a text, as Row.Text returns it, its code, below Codes. tell asks for the text to be told to Tell; ok is false where no
	// row may hold it. It is called for texts as they are met first, and again now and then, by several goroutines at once.
	Code func(text string, recorded bool) (code int, tell, ok bool)
	// Tell hears how many rows have a text that Code wanted told, in one or more parts, in no order, by one goroutine at a time.
	Tell func(text string, rows int)
	// Number reads the column's texts as decimals, in place of Code, which then codes only what is not recorded. The decimals of the rows
	// alike are added up. rounded is as in ParseDecimal. At most one column has it.
	Number func(value Decimal, rounded bool) (code int, ok bool)
	// Full says that every row has something here.
	Full bool
}

// Cube is how many rows have each combination of codes.
type Cube struct {
	uses    []Use
	strides []uint64 // by column; 0 where it is not counted by
	cells   uint64   // combinations
	dense   []uint64 // by combination, where there are few: rows
	sums    []Sum    // likewise, where a column is of numbers
	sparse  map[uint64]*counted
	number  bool
	rows    int
	rounded int
}

// counted is a combination where there are many.
type counted struct {
	rows uint64
	sum  Sum
}

const (
	mostDense  = 1 << 18 // combinations that are kept as a list: 2 MiB a worker, and 8 with numbers
	mostSparse = 1 << 16 // combinations that are counted where there can be more: a row each would be a list of all rows
)

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
		c.number = c.number || u.Number != nil
	}
	switch {
	case c.cells > mostDense:
		c.sparse = map[uint64]*counted{}
	case c.number:
		c.sums = make([]Sum, c.cells)
		fallthrough
	default:
		c.dense = make([]uint64, c.cells)
	}
	return c
}

// add counts n rows.
func (c *Cube) add(at, n uint64, sum Sum) {
	c.rows += int(n)
	if c.dense == nil {
		of := c.sparse[at]
		if of == nil {
			of = &counted{}
			c.sparse[at] = of
		}
		of.rows, of.sum = of.rows+n, of.sum.Merge(sum)
		return
	}
	c.dense[at] += n
	if c.number {
		c.sums[at] = c.sums[at].Merge(sum)
	}
}

// tooMany reports that rows have more combinations than are counted. Reading one by one then costs less, in memory and in time.
func (c *Cube) tooMany() bool { return len(c.sparse) > mostSparse }

// sum is what the numbers of a combination that is kept in the list add up to.
func (c *Cube) sum(at int) Sum {
	if c.number {
		return c.sums[at]
	}
	return Sum{}
}

// merge adds the rows of another cube with the same uses.
func (c *Cube) merge(other *Cube) {
	for at, n := range other.dense {
		c.add(uint64(at), n, other.sum(at))
	}
	for at, of := range other.sparse {
		c.add(at, of.rows, of.sum)
	}
	c.rounded += other.rounded
}

// Rows is how many rows were counted.
func (c *Cube) Rows() int { return c.rows }

// Rounded is how many numbers had more decimals than are kept.
func (c *Cube) Rounded() int { return c.rounded }

// Each hands over every combination that occurs, in no order: the code of each column, 0 where a column has none, how many
// rows have it, and the sum of their numbers. codes is valid only until do returns.
func (c *Cube) Each(do func(codes []int, rows int, sum Sum)) {
	codes := make([]int, len(c.uses))
	hand := func(at, n uint64, sum Sum) {
		for i, u := range c.uses {
			if u.Codes > 0 {
				codes[i] = int(at / c.strides[i] % uint64(u.Codes))
			}
		}
		do(codes, int(n), sum)
	}
	for at, n := range c.dense {
		if n > 0 {
			hand(uint64(at), n, c.sum(at))
		}
	}
	for at, of := range c.sparse {
		hand(at, of.rows, of.sum)
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
	r.lim.single = len(files) == 1 && !opts.Contents
	once := map[int]*unique{}
	for _, o := range opts.Once {
		if len(o.Columns) > 1 || once[o.Columns[0]] != nil {
			return nil, nil, false
		}
		once[o.Columns[0]] = newUnique(false)
	}
	opts.Progress.begin(files, opts)
	inputs = make([]Input, 0, len(files))
	contents := map[string]bool{}
	for _, path := range files {
		inputs = append(inputs, Input{Path: path, Has: make([]bool, len(opts.Columns))})
		r.input, r.rec.path = &inputs[len(inputs)-1], path
		content := r.countFile(path, total, once)
		if content == "" || diags.Len() > 0 || contents[content] || total.tooMany() {
			return nil, nil, false
		}
		inputs[len(inputs)-1].Content = content
		contents[content] = true
	}
	for _, ids := range once {
		if ids.repeated() {
			return nil, nil, false
		}
	}
	r.findMissingColumns(inputs)
	return total, inputs, true
}

// countFile counts the rows of one file, on all cores, and returns the digest of its content; "" where anything is wrong with it.
func (r *reader) countFile(path string, total *Cube, once map[int]*unique) string {
	s, w, problem := r.open(path)
	if problem != "" {
		return ""
	}
	defer s.close()
	if IsParquet(w.bytes()) {
		return r.countParquet(s, total, once)
	}
	f := r.openText(w)
	if f == nil {
		return ""
	}
	var counts []func(block []byte, n int) bool // by worker
	var scans []*objects                        // likewise, where the file is JSONL
	telling := &sync.Mutex{}
	var workers []*counter
	for range f.workers() {
		c := r.counter(f.header.names, f.header.index, total.uses, once)
		if c == nil {
			return ""
		}
		c.delimiter, c.telling = f.header.delimiter, telling
		workers, counts = append(workers, c), append(counts, c.count)
		if f.jsonl {
			o := r.newObjects(c)
			scans, counts[len(counts)-1] = append(scans, o), o.count
		}
	}
	sound := f.each(r.opts.Progress, len(workers), func(worker int, block []byte, n, _ int) (rows int, ok bool) {
		before := workers[worker].cube.rows
		ok = counts[worker](block, n) && !workers[worker].cube.tooMany()
		return workers[worker].cube.rows - before, ok
	})
	if !sound {
		return ""
	}
	before := total.rows
	for _, c := range workers {
		c.finish()
		total.merge(c.cube)
	}
	for _, o := range scans {
		for col, slot := range f.header.index {
			r.input.Has[col] = r.input.Has[col] || o.scan.has[slot]
		}
	}
	r.input.Rows = total.rows - before
	return r.ended(s)
}

// counter returns what counts the records of a file whose fields have these names; index is by column the place of its field, or −1. It
// is nil where a column that the file does not have cannot be empty, or a field is used in ways that do not go together.
func (r *reader) counter(names []string, index []int, uses []Use, once map[int]*unique) *counter {
	c := &counter{missing: r.missing, cube: newCube(uses), fields: make([]*dictionary, len(names))}
	for b := range c.unclear {
		c.unclear[b] = b <= ' ' || b >= utf8.RuneSelf
	}
	for m := range r.missing {
		if m != "" {
			c.unclear[m[0]] = true
		}
	}
	for col, use := range uses {
		i, ids := index[col], once[col]
		if i < 0 {
			if use.Full {
				return nil
			}
			if use.Codes > 0 {
				code, _, ok := use.Code("", false)
				if !ok {
					return nil
				}
				c.base += uint64(code) * c.cube.strides[col]
			}
			continue
		}
		if use.Codes == 0 && !use.Full && ids == nil {
			continue
		}
		d := c.fields[i]
		if d == nil {
			d = &dictionary{number: -1, rest: map[short]entry{}, long: map[string]entry{}}
			c.fields[i] = d
		} else if d.each || use.Codes == 0 || use.Number != nil {
			return nil
		}
		d.full = d.full || use.Full
		switch {
		case use.Codes == 0:
			d.each = true
			if ids != nil {
				d.ids = ids.batch()
			}
		case ids != nil:
			return nil
		default:
			d.columns = append(d.columns, col)
			if use.Number != nil {
				d.each, d.number = true, col
			}
		}
	}
	for i, d := range c.fields {
		if d != nil {
			c.looked = append(c.looked, looked{d, i, i == len(c.fields)-1})
		}
	}
	return c
}

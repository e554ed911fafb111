package rows

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// unique finds the texts that come more than once, exactly or to the safe side: a text that may have come before is a suspect, and
// only reading again can say whether it did. Whole numbers written plainly are bits in pages, as long as they lie densely
// enough; any other text is its hash, under a key that no file knows. Where a text is made of those of several columns (see watcher.of)
// and the last is such a number, as trials of a case have them, 64 numbers in a row are bits beside one hash. Other hashes are only written down, in parts, while rows are read, and
// looked up part by part at the end, so that a table of them lies in the processor's cache. It is shared by several goroutines, each
// with a batch of its own.
type unique struct {
	seed    maphash.Seed
	several bool // texts are made of those of several columns
	lock    sync.RWMutex
	pages   map[uint64]*page
	frozen  bool         // no page is begun any more: the numbers do not lie densely
	paged   atomic.Int64 // numbers that stand in pages, about
	parts   [parts]part

	suspectsLock sync.Mutex
	suspects     hashes
}

// page is the numbers that have all bits but the last sixteen in common.
type page [1 << 10]uint64

const (
	pageBytes = 8 << 10
	freePages = 1 << 10 // pages that may be begun however few numbers they hold: 8 MiB
	perNumber = 12      // bytes that a number or a text may take
	parts     = 1 << 8
	together  = 1 << 9 // hashes of a part that are written down together: 4 KiB

	perRun   = 24      // bytes that a run takes at most
	freeRuns = 1 << 12 // runs of a part that may be begun however few numbers they hold: 24 MiB in all
	batched  = 1 << 6  // runs of a part that wait before they are looked up
)

// part is the hashes that have the last byte in common.
type part struct {
	lock sync.Mutex
	list [][]uint64
	n    int

	runs    runs
	numbers int  // that stand in runs
	frozen  bool // no run is begun any more: the numbers do not lie densely
}

// run is 64 numbers in a row that may follow a text: the hash of the text and of the first number, and a bit for each that was met.
type run struct{ hash, bits uint64 }

// newUnique returns what watches over texts; several says that they are made of those of several columns.
func newUnique(several bool) *unique {
	return &unique{seed: maphash.MakeSeed(), several: several, pages: map[uint64]*page{}}
}

// hash is the hash by which a text is looked up or a suspect, which is never 0.
func (u *unique) hash(text []byte) uint64 {
	if r, is := u.run(text); is {
		return r.single()
	}
	return max(1, maphash.Bytes(u.seed, text))
}

// run returns the run in which a text stands, with its bit; is says whether it is one of those.
func (u *unique) run(text []byte) (r run, is bool) {
	if !u.several {
		return run{}, false
	}
	end := bytes.LastIndexByte(text, separator)
	number, plain := plainNumber(text[end+1:])
	if !plain {
		return run{}, false
	}
	return run{mixed(maphash.Bytes(u.seed, text[:end]), number>>6), 1 << (number & 63)}, true
}

// single is the hash of the one number that a run has.
func (r run) single() uint64 { return mixed(r.hash, uint64(bits.TrailingZeros64(r.bits))) }

// mixed is a hash of a hash and a number, which is never 0: of one hash with different numbers different ones.
func mixed(hash, number uint64) uint64 {
	hash ^= (number + 1) * 0x9E3779B97F4A7C15
	for range 2 {
		hash = (hash ^ hash>>32) * 0xD6E8FEB86659FD93
	}
	return max(1, hash^hash>>32)
}

// batch is one goroutine's way into a unique.
type batch struct {
	*unique
	number  uint64 // of the last page, and the page; nil before there is one
	page    *page
	paged   int64
	waiting [parts][]uint64
	runs    [parts][]run
	suspect bool // some number was there before
}

// batch returns a new way in.
func (u *unique) batch() *batch { return &batch{unique: u, number: ^uint64(0)} }

// add adds a text, which is trimmed and not empty.
func (b *batch) add(text []byte) {
	if number, plain := plainNumber(text); plain {
		if page := b.of(number >> 16); page != nil {
			bit := uint64(1) << (number & 63)
			if atomic.OrUint64(&page[number>>6&(1<<10-1)], bit)&bit != 0 {
				b.suspect = true
				b.again(b.hash(text))
			}
			return
		}
	}
	if r, is := b.run(text); is {
		b.addRun(r)
		return
	}
	b.addHash(b.hash(text))
}

// addHash adds a hash.
func (b *batch) addHash(hash uint64) {
	at := hash & (parts - 1)
	list := b.waiting[at]
	if len(list) == cap(list) {
		b.handOver(int(at))
		list = make([]uint64, 0, min(together, max(8, 2*cap(list)))) // small for small files
	}
	b.waiting[at] = append(list, hash)
}

// handOver writes down what waits of one part.
func (b *batch) handOver(at int) {
	if len(b.waiting[at]) == 0 {
		return
	}
	p := &b.parts[at]
	p.lock.Lock()
	defer p.lock.Unlock()
	p.list, p.n = append(p.list, b.waiting[at]), p.n+len(b.waiting[at])
	b.waiting[at] = nil
}

// addRun adds a number to a run.
func (b *batch) addRun(r run) {
	at := int(r.hash & (parts - 1))
	list := b.runs[at]
	if n := len(list); n > 0 && list[n-1].hash == r.hash && list[n-1].bits&r.bits == 0 {
		list[n-1].bits |= r.bits // another trial of the same case, mostly
		return
	}
	if b.runs[at] = append(list, r); len(b.runs[at]) == batched {
		b.lookUp(at)
	}
}

// lookUp looks up the runs that wait of one part.
func (b *batch) lookUp(at int) {
	p := &b.parts[at]
	rest := b.runs[at][:0] // what is in no run
	p.lock.Lock()
	for _, r := range b.runs[at] {
		twice, is := p.add(r)
		if !is {
			rest = append(rest, r)
		}
		for ; twice != 0; twice &= twice - 1 {
			b.again(run{r.hash, twice & -twice}.single())
		}
	}
	p.lock.Unlock()
	for _, r := range rest {
		for ; r.bits != 0; r.bits &= r.bits - 1 {
			b.addHash(run{r.hash, r.bits & -r.bits}.single())
		}
	}
	b.runs[at] = b.runs[at][:0]
}

// end writes down all that waits. A batch must be ended before anything is looked up.
func (b *batch) end() {
	for at := range b.runs {
		b.lookUp(at)
	}
	for at := range b.waiting {
		b.handOver(at)
	}
}

// again makes a text a suspect.
func (u *unique) again(hash uint64) {
	u.suspectsLock.Lock()
	defer u.suspectsLock.Unlock()
	u.suspects.insert(hash)
}

// repeated looks up all that was added, and reports whether some text may have come more than once. Nothing is added after it.
func (u *unique) repeated() bool {
	var next atomic.Int64
	var wait sync.WaitGroup
	total := 0
	for i := range u.parts {
		total += u.parts[i].n
	}
	for range min(runtime.GOMAXPROCS(0), 1+total/(1<<16)) {
		wait.Go(func() {
			var table hashes
			for at := next.Add(1) - 1; at < parts; at = next.Add(1) - 1 {
				p := &u.parts[at]
				table.empty(p.n)
				for _, list := range p.list {
					for _, hash := range list {
						if !table.insert(hash) {
							u.again(hash)
						}
					}
				}
				p.list = nil
			}
		})
	}
	wait.Wait()
	return u.suspects.n > 0
}

// of is a page; nil where there is none and none may be begun.
func (b *batch) of(number uint64) *page {
	b.paged++
	if number == b.number {
		return b.page
	}
	b.unique.paged.Add(b.paged)
	b.paged = 0
	b.lock.RLock()
	p, frozen := b.pages[number], b.frozen
	b.lock.RUnlock()
	if p == nil && !frozen {
		b.lock.Lock()
		if p = b.pages[number]; p == nil && !b.frozen {
			n := int64(len(b.pages) + 1)
			if b.frozen = n > freePages && n*pageBytes > perNumber*b.unique.paged.Load(); !b.frozen {
				p = new(page)
				b.pages[number] = p
			}
		}
		b.lock.Unlock()
	}
	if p != nil {
		b.number, b.page = number, p
	}
	return p
}

// add adds the numbers of a run, and returns the bits of those that were there. is says whether they stand in a run: where none is begun any
// more they never do.
func (p *part) add(r run) (twice uint64, is bool) {
	own := p.runs.of(r.hash, !p.frozen)
	if own == nil {
		return 0, false
	}
	twice = own.bits & r.bits
	own.bits |= r.bits
	p.numbers += bits.OnesCount64(r.bits &^ twice)
	p.frozen = p.frozen || p.runs.n >= freeRuns && p.runs.n*perRun > p.numbers*perNumber
	return twice, true
}

// runs is a table of runs, as hashes is one of hashes.
type runs struct {
	table []run
	n     int
}

// of returns the run with a hash; one that is not there is begun, or nil.
func (t *runs) of(hash uint64, begin bool) *run {
	if t.n == 0 && !begin {
		return nil
	}
	if begin && t.n*100 >= len(t.table)*85 {
		old := t.table
		t.table = make([]run, max(16, len(old)+len(old)/4))
		for _, r := range old {
			if r.hash != 0 {
				*t.find(r.hash) = r
			}
		}
	}
	own := t.find(hash)
	if own.hash == 0 {
		if !begin {
			return nil
		}
		own.hash = hash
		t.n++
	}
	return own
}

// find returns the place of a hash, or the free one for it.
func (t *runs) find(hash uint64) *run {
	size := uint64(len(t.table))
	at, _ := bits.Mul64(hash, size)
	for t.table[at].hash != 0 && t.table[at].hash != hash {
		if at++; at == size {
			at = 0
		}
	}
	return &t.table[at]
}

// hashes is a set of hashes: a table with open addressing, where 0 stands for nothing.
type hashes struct {
	table []uint64
	n     int
}

// empty makes the set empty, with room for n hashes.
func (s *hashes) empty(n int) {
	s.n = 0
	if size := 64 + n + n/2; size > len(s.table) {
		s.table = make([]uint64, size)
	} else {
		clear(s.table)
	}
}

// insert adds a hash; false where it is there.
func (s *hashes) insert(hash uint64) bool {
	if s.n*4 >= len(s.table)*3 {
		old := s.table
		s.table = make([]uint64, max(64, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				s.table[s.find(h)] = h
			}
		}
	}
	at := s.find(hash)
	if s.table[at] == hash {
		return false
	}
	s.table[at] = hash
	s.n++
	return true
}

// has reports whether a hash is there.
func (s *hashes) has(hash uint64) bool { return s.n > 0 && s.table[s.find(hash)] == hash }

// find returns the place of a hash, or the free one for it.
func (s *hashes) find(hash uint64) uint64 {
	size := uint64(len(s.table))
	at, _ := bits.Mul64(hash, size)
	for s.table[at] != 0 && s.table[at] != hash {
		if at++; at == size {
			at = 0
		}
	}
	return at
}

// plainNumber reads a whole number of up to 16 digits that is written without a sign and without leading zeros, so that no
// two texts are one number.
func plainNumber(text []byte) (number uint64, plain bool) {
	n := len(text)
	if n == 0 || n > 16 || text[0] == '0' && n > 1 {
		return 0, false
	}
	var padded [16]byte
	for i := range padded {
		padded[i] = '0'
	}
	copy(padded[16-n:], text)
	high, ok := eightDigits(binary.LittleEndian.Uint64(padded[:8]))
	low, too := eightDigits(binary.LittleEndian.Uint64(padded[8:]))
	return high*100_000_000 + low, ok && too
}

// eightDigits reads eight digits, the first in the lowest byte.
func eightDigits(w uint64) (number uint64, ok bool) {
	w -= 0x3030303030303030
	if (w|(w+0x7676767676767676))&0x8080808080808080 != 0 {
		return 0, false
	}
	w = w*10 + w>>8 // pairs in every second byte
	w = w & 0x00FF00FF00FF00FF
	w = w*100 + w>>16 // fours
	w = w & 0x0000FFFF0000FFFF
	return (w*10000 + w>>32) & 0xFFFFFFFF, true
}

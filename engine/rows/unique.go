package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// unique finds the texts that come more than once, exactly or to the safe side: a text that may have come before is a suspect, and
// only reading again can say whether it did. Whole numbers written plainly are bits in pages, as long as they lie densely
// enough; any other text is its hash, under a key that no file knows. Hashes are only written down, in parts, while rows are read, and
// looked up part by part at the end, so that a table of them lies in the processor's cache. It is shared by several goroutines, each
// with a batch of its own.
type unique struct {
	seed   maphash.Seed
	lock   sync.RWMutex
	pages  map[uint64]*page
	frozen bool         // no page is begun any more: the numbers do not lie densely
	paged  atomic.Int64 // numbers that stand in pages, about
	parts  [parts]part

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
)

// part is the hashes that have the last byte in common.
type part struct {
	lock sync.Mutex
	list [][]uint64
	n    int
}

func newUnique() *unique {
	return &unique{seed: maphash.MakeSeed(), pages: map[uint64]*page{}}
}

// hash is a text's hash, which is never 0.
func (u *unique) hash(text []byte) uint64 {
	return max(1, maphash.Bytes(u.seed, text))
}

// batch is one goroutine's way into a unique.
type batch struct {
	*unique
	number  uint64 // of the last page, and the page; nil before there is one
	page    *page
	paged   int64
	waiting [parts][]uint64
	suspect bool // some number was there before
}

// batch returns a new way in.
func (u *unique) batch() *batch { return &batch{unique: u, number: ^uint64(0)} }

// add adds a text, which is trimmed and not empty.
func (b *batch) add(text []byte) {
	if number, plain := plainNumber(text); plain {
		if added, again := b.addPlain(number); added {
			if again {
				b.suspect = true
				b.again(b.hash(text))
			}
			return
		}
	}
	hash := b.hash(text)
	at := hash & (parts - 1)
	list := b.waiting[at]
	if len(list) == cap(list) {
		b.handOver(int(at))
		list = make([]uint64, 0, min(together, max(8, 2*cap(list)))) // small for small files
	}
	b.waiting[at] = append(list, hash)
}

// addPlain adds a number that plainNumber reads, if it has a page, and says whether it was there.
func (b *batch) addPlain(number uint64) (added, again bool) {
	page := b.of(number >> 16)
	if page == nil {
		return false, false
	}
	bit := uint64(1) << (number & 63)
	return true, atomic.OrUint64(&page[number>>6&(1<<10-1)], bit)&bit != 0
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

// end writes down all that waits. A batch must be ended before anything is looked up.
func (b *batch) end() {
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

// mostPlain is more than any number that plainNumber reads.
const mostPlain = 1e16

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

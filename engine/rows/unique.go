package rows

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
)

// unique finds the texts that come more than once, exactly or to the safe side: a text that may have been met before is a suspect, and
// only reading again can say whether it was. Whole numbers written plainly are bits in pages, as long as they lie densely
// enough; any other text is its hash, under a key that no file knows. It is shared by several goroutines, each with a batch of
// its own.
type unique struct {
	seed   maphash.Seed
	lock   sync.RWMutex
	pages  map[uint64]*page
	frozen bool         // no page is begun any more: the numbers do not lie densely
	paged  atomic.Int64 // numbers that stand in pages, about
	shards [shards]shard

	suspectsLock sync.Mutex
	suspects     hashes
}

// page is the numbers that have all bits but the last sixteen in common.
type page [1 << 10]uint64

const (
	pageBytes = 8 << 10
	freePages = 1 << 10 // pages that may be begun however few numbers they hold: 8 MiB
	shards    = 1 << 8
	perNumber = 12 // bytes that a number or a text may take
	batched   = 64 // texts of a shard that are kept before they are looked up
)

// shard is the hashes that have the last byte in common.
type shard struct {
	lock sync.Mutex
	hashes
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
	waiting [shards][]uint64
	suspect bool // some text may have been met before
}

// batch returns a new way in.
func (u *unique) batch() *batch { return &batch{unique: u, number: ^uint64(0)} }

// add adds a text, which is trimmed and not empty. Whether it was there may show only at the end.
func (b *batch) add(text []byte) {
	if number, plain := plainNumber(text); plain {
		if page := b.of(number >> 16); page != nil {
			bit := uint64(1) << (number & 63)
			if atomic.OrUint64(&page[number>>6&(1<<10-1)], bit)&bit != 0 {
				b.again(b.hash(text))
			}
			return
		}
	}
	hash := b.hash(text)
	at := hash & (shards - 1)
	if b.waiting[at] == nil {
		b.waiting[at] = make([]uint64, 0, batched)
	}
	if b.waiting[at] = append(b.waiting[at], hash); len(b.waiting[at]) == batched {
		b.flush(int(at))
	}
}

// again makes a text a suspect.
func (b *batch) again(hash uint64) {
	b.suspect = true
	b.suspectsLock.Lock()
	defer b.suspectsLock.Unlock()
	b.suspects.insert(hash)
}

// end looks up what waits.
func (b *batch) end() {
	for at := range b.waiting {
		b.flush(at)
	}
}

// flush looks up what waits of one shard.
func (b *batch) flush(at int) {
	s := &b.shards[at]
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, hash := range b.waiting[at] {
		if !s.insert(hash) {
			b.again(hash)
		}
	}
	b.waiting[at] = b.waiting[at][:0]
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

// insert adds a hash; false where it is there.
func (s *hashes) insert(hash uint64) bool {
	// A table is never fuller than 85 in 100, and grows by a quarter: 9.4 to 11.8 bytes a hash.
	if s.n*100 >= len(s.table)*85 {
		old := s.table
		s.table = make([]uint64, max(64, len(old)+len(old)/4))
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

package rows

import (
	"os"
	"testing"
)

func BenchmarkBlock(b *testing.B) {
	data, err := os.ReadFile("/tmp/scale/d10.csv")
	if err != nil {
		b.Skip()
	}
	data = data[39 : 39+(64<<20)]
	uses := []Use{}
	for range 4 {
		uses = append(uses, Use{Codes: 8, Code: func(text string, recorded bool) (int, bool) { return len(text) % 8, true }})
	}
	cube := newCube(uses)
	c := &counter{delimiter: ',', cube: cube, fields: make([]*dictionary, 6)}
	for i, f := range []int{1, 2, 4, 5} {
		c.fields[f] = &dictionary{columns: []int{i}, rest: map[short]uint64{}, long: map[string]uint64{}}
	}
	for i, d := range c.fields {
		if d != nil {
			c.looked = append(c.looked, looked{d, i, i == 5})
		}
	}
	for _, size := range []int{32 << 10, 64 << 10, 256 << 10} {
		b.Run("", func(b *testing.B) {
			buf := make([]byte, size+padding)
			at := 0
			b.SetBytes(int64(size))
			for b.Loop() {
				n := copy(buf[:size], data[at:])
				cut := lastEnd(buf[:n])
				if !c.count(buf, cut) {
					b.Fatal()
				}
				at += cut
				if at > len(data)-2*size {
					at = 0
				}
			}
		})
	}
	b.Run("mark", func(b *testing.B) {
		size := 64 << 10
		b.SetBytes(int64(size))
		for b.Loop() {
			c.mark(data[:size+padding], size)
		}
	})
}

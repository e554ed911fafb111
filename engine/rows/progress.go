package rows

import (
	"io/fs"
	"sync/atomic"
)

// Progress is how far reading is. Read, Count and Share write to it while they read, and anyone may look at it meanwhile; nothing that is
// decided depends on it. The zero value is ready; a nil one is written to by nobody.
type Progress struct {
	passes, total, bytes, rows atomic.Int64
}

// Passes is how often reading has begun. It begins again where rows cannot simply be counted, and where something may have come twice.
func (p *Progress) Passes() int { return int(p.passes.Load()) }

// Bytes is how many bytes of the files were read from disk in this pass, and how many there are in all: 0 where that is not known, as of
// standard input.
func (p *Progress) Bytes() (read, total int64) { return p.bytes.Load(), p.total.Load() }

// Rows is how many rows were read in this pass.
func (p *Progress) Rows() int { return int(p.rows.Load()) }

// begin begins a pass over files.
func (p *Progress) begin(files []string, opts Options) {
	if p == nil {
		return
	}
	total := int64(0)
	for _, path := range files {
		where, name, problem := locate(path, opts.FS)
		if path == stdin || problem != "" {
			total = 0
			break
		}
		info, err := fs.Stat(where, name)
		if err != nil || !info.Mode().IsRegular() {
			total = 0
			break
		}
		total += info.Size()
	}
	p.total.Store(total)
	p.bytes.Store(0)
	p.rows.Store(0)
	p.passes.Add(1)
}

// addBytes counts bytes that were read from disk.
func (p *Progress) addBytes(n int) {
	if p != nil {
		p.bytes.Add(int64(n))
	}
}

// addRows counts rows that were read.
func (p *Progress) addRows(n int) {
	if p != nil {
		p.rows.Add(int64(n))
	}
}

package rows

import "io"

// window is the part of a stream that is held in memory: what has been read and not yet skipped.
// Records are scanned in it as a whole; when one does not end in it, more is called and the record is
// scanned again. Since more fills the buffer, and doubles it when it is full, that costs little.
type window struct {
	r     io.Reader
	buf   []byte
	start int
	limit int
	err   error // what ended the stream; nil while it goes on
}

func newWindow(r io.Reader, lim limits) *window {
	return &window{r: r, buf: make([]byte, 0, lim.buffer), limit: lim.record}
}

// bytes returns what is held. It is valid until more is called.
func (w *window) bytes() []byte { return w.buf[w.start:] }

// eof reports that nothing follows what is held, as against a stream that broke off (see failed).
func (w *window) eof() bool { return w.err == io.EOF }

// failed reports that the stream broke off: what is held may be followed by what cannot be read.
func (w *window) failed() bool { return w.err != nil && w.err != io.EOF }

// skip drops the first n bytes.
func (w *window) skip(n int) { w.start += n }

// more reads on, and reports whether the caller has something new to look at: more bytes, or the end
// of the stream. It is false when the stream had ended already, or when a whole record is held.
func (w *window) more() bool {
	if w.err != nil {
		return false
	}
	held := len(w.buf) - w.start
	if held >= w.limit {
		return false
	}
	if w.start > 0 {
		w.buf = w.buf[:copy(w.buf, w.buf[w.start:])]
		w.start = 0
	}
	if held == cap(w.buf) {
		w.buf = append(make([]byte, 0, min(2*cap(w.buf), w.limit)), w.buf...)
	}
	n, err := fill(w.r, w.buf[held:cap(w.buf)])
	w.buf = w.buf[:held+n]
	w.err = err
	return true
}

// fill reads until p is full or the stream ends. Unlike io.ReadFull it returns the stream's own error,
// so that an end too early inside compressed data is not taken for the end.
func fill(r io.Reader, p []byte) (int, error) {
	n, idle := 0, 0
	for n < len(p) {
		m, err := r.Read(p[n:])
		n += m
		if err != nil {
			return n, err
		}
		if m > 0 {
			idle = 0
		} else if idle++; idle == 100 {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}

package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// CompressionCodec in parquet.thrift.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5
	codecZstd   = 6
	codecLZ4Raw = 7
)

var errCompressed = errors.New("its compressed pages are damaged")

// decompressor decompresses pages. It belongs to one goroutine.
type decompressor struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// close releases what it holds.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// readable returns why a codec is not read, or nil.
func readable(codec int64) error {
	name := ""
	switch codec {
	case codecNone, codecSnappy, codecGzip, codecZstd, codecLZ4Raw:
		return nil
	case codecLZO:
		name = "LZO"
	case codecBrotli:
		name = "Brotli"
	case codecLZ4:
		name = "LZ4 as Hadoop frames it"
	default:
		return errors.New("it is compressed in a way that is not known here: write it with Snappy or zstd")
	}
	return fmt.Errorf("it is compressed with %s, which is not read: write it with Snappy, zstd, gzip or LZ4_RAW", name)
}

// growth is how many bytes of text a compressed byte stands for at most, by codec; of zstd, which can repeat a byte without end, as many
// as a page can have.
var growth = map[int64]int64{
	codecNone:   1,
	codecSnappy: 64,   // a copy of 64 bytes takes two
	codecGzip:   1032, // a copy of 258 bytes takes two bits
	codecLZ4Raw: 255,  // what each further byte of a length adds
	codecZstd:   maxPage,
}

// fits reports whether a page of size bytes can have been compressed to packed ones, so that no room is made for what cannot come.
func fits(codec, size, packed int64) bool { return size <= growth[codec]*(packed+1) }

// decompress fills dst, whose length is what the page says it has, from src.
func (d *decompressor) decompress(codec int64, dst, src []byte) (err error) {
	switch codec {
	case codecSnappy:
		n, err := s2.DecodedLen(src)
		if err != nil || n != len(dst) {
			return errCompressed
		}
		if _, err := s2.Decode(dst, src); err != nil {
			return errCompressed
		}
		return nil
	case codecGzip:
		if d.gzip == nil {
			d.gzip = new(gzip.Reader)
		}
		err = d.gzip.Reset(bytes.NewReader(src))
		if err == nil {
			_, err = io.ReadFull(d.gzip, dst)
		}
		if err == nil {
			var more [1]byte
			if _, end := d.gzip.Read(more[:]); end != io.EOF {
				err = errCompressed
			}
		}
	case codecZstd:
		if d.zstd == nil {
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxPage))
			if err != nil {
				return err
			}
		}
		// What does not fit into dst would be written elsewhere: its length tells.
		var out []byte
		out, err = d.zstd.DecodeAll(src, dst[:0:len(dst)])
		if err == nil && (len(out) != len(dst) || len(out) > 0 && &out[0] != &dst[0]) {
			err = errCompressed
		}
	case codecLZ4Raw:
		if !unpackLZ4(dst, src) {
			err = errCompressed
		}
	default:
		err = readable(codec)
	}
	if err != nil {
		return errCompressed
	}
	return nil
}

// unpackLZ4 fills dst from a block of LZ4 (lz4_Block_format.md of its project): sequences of literals and of copies of what was
// written before. It is false where src does not fill dst exactly.
func unpackLZ4(dst, src []byte) bool {
	// length reads what follows a length of 15: bytes to add, up to one that is not 255.
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(src) > 0 {
			b := src[0]
			src = src[1:]
			if n += int(b); b < 255 {
				return n, n <= len(dst)
			}
		}
		return 0, false
	}
	at := 0
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(src) || literals > len(dst)-at {
			return false
		}
		at += copy(dst[at:], src[:literals])
		if src = src[literals:]; len(src) == 0 { // the last sequence is literals alone
			return at == len(dst)
		}
		if len(src) < 2 {
			return false
		}
		back := int(binary.LittleEndian.Uint16(src))
		src = src[2:]
		n, ok := length(int(token & 15))
		n += 4
		if !ok || back == 0 || back > at || n > len(dst)-at {
			return false
		}
		for end := at + n; at < end; {
			// Not beyond what is written already: the copy may overlap what it copies.
			at += copy(dst[at:end], dst[at-back:at])
		}
	}
	return at == len(dst)
}

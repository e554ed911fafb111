package rows

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/oloproof/oloproof/engine/diag"
)

// stdin is the path that means standard input.
const stdin = "-"

// system looks paths up as the operating system does. It is no proper fs.FS, since it takes any path;
// it lets the rest of this file work on one kind of thing.
type system struct{}

func (system) Open(name string) (fs.File, error)          { return os.Open(name) }
func (system) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (system) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// locate returns where to look p up, and under which name. problem is "" or why p cannot be looked up.
func locate(p string, root fs.FS) (where fs.FS, name, problem string) {
	if root == nil {
		return system{}, p, ""
	}
	name = path.Clean(filepath.ToSlash(p))
	if !fs.ValidPath(name) {
		return nil, "", "the path leaves the folder that may be read: give one inside it, relative to it"
	}
	return root, name, ""
}

// expand returns the files that paths name, in order: each path as given, or what it matches as a glob.
func expand(paths []string, root fs.FS, diags *diag.List) []string {
	if len(paths) == 0 {
		diags.Addf(diag.Pos{}, "no decision file was given: name at least one, or - for standard input")
	}
	var files []string
	seen := map[string]bool{}
	for i, p := range paths {
		if p == "" { // no message could show it
			diags.Addf(diag.Pos{}, "path %d of %d is empty: name a file, a glob, or - for standard input", i+1, len(paths))
			continue
		}
		matches, problem := match(p, root)
		if problem != "" {
			diags.Addf(diag.Pos{File: p}, "%s", problem)
		}
		for _, m := range matches {
			key := filepath.Clean(m)
			if m == stdin {
				key = stdin + "/" // a cleaned path never ends so: "./-" is another file
			}
			if seen[key] {
				diags.Addf(diag.Pos{File: m}, "the file is given twice: name it once")
				continue
			}
			seen[key] = true
			files = append(files, m)
		}
	}
	return files
}

// match returns the files that one path names: itself, or as a glob its matches sorted by bytes.
func match(p string, root fs.FS) (matches []string, problem string) {
	if p == stdin {
		return []string{p}, ""
	}
	where, name, problem := locate(p, root)
	if problem != "" {
		return nil, problem
	}
	_, err := fs.Stat(where, name)
	if err == nil || !isAbsent(err) && !strings.ContainsAny(p, `*?[`) {
		return []string{p}, "" // what else is wrong with it shows when it is opened
	}
	if !strings.ContainsAny(p, `*?[`) {
		return nil, "there is no such file"
	}
	pattern := filepath.ToSlash(p)
	if root != nil {
		pattern = name
	}
	if strings.Contains(pattern, "**") {
		return nil, "** is not read in a glob: * matches inside one folder, so give a glob for each folder"
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, "there is no such file, and as a glob it is malformed: every [ needs its ]"
	}
	base, rest := "", pattern
	if root == nil {
		// The volume of a Windows path and the root stay as they are.
		base = filepath.ToSlash(filepath.VolumeName(p))
		rest = strings.TrimPrefix(pattern, base)
		if strings.HasPrefix(rest, "/") {
			base += "/"
		}
	}
	matches, err = glob(where, base, strings.Split(strings.Trim(rest, "/"), "/"))
	if err != nil {
		message := openProblem(err)
		var at *fs.PathError
		if errors.As(err, &at) {
			message = "this glob may match inside " + diag.Printable(at.Path) + ": " + message
		}
		return nil, message
	}
	if len(matches) == 0 {
		return nil, "nothing matches this glob"
	}
	for i, m := range matches {
		if m == stdin { // a file of that name is not standard input
			matches[i] = "./" + m
		}
	}
	slices.Sort(matches)
	return matches, ""
}

// glob returns the files below base that match the parts of a pattern, one part for each folder. It
// exists because the library's globs leave out, in silence, every folder that they cannot read.
func glob(where fs.FS, base string, parts []string) ([]string, error) {
	if len(parts) == 0 {
		return []string{base}, nil
	}
	join := func(name string) string {
		if base == "" || strings.HasSuffix(base, "/") {
			return base + name
		}
		return base + "/" + name
	}
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		next := join(part)
		if _, err := fs.Stat(where, next); isAbsent(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return glob(where, next, rest)
	}
	folder := base
	if folder == "" {
		folder = "."
	}
	entries, err := fs.ReadDir(where, folder)
	if err != nil {
		return nil, err
	}
	var matches []string
	for _, entry := range entries {
		if ok, _ := path.Match(part, entry.Name()); !ok || hidden(entry.Name()) && !hidden(strings.TrimPrefix(part, `\`)) {
			continue // as in a shell, what is hidden is matched only where the pattern says so
		}
		next := join(entry.Name())
		if len(rest) > 0 {
			info, err := fs.Stat(where, next)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if err != nil || !info.IsDir() {
				continue // a file, or a link to nothing, in a folder's place holds no match
			}
		}
		below, err := glob(where, next, rest)
		if err != nil {
			return nil, err
		}
		matches = append(matches, below...)
	}
	return matches, nil
}

// hidden reports whether a name begins with a dot: those of editors' and downloads' temporary files, say.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// isAbsent reports that err says there is no such file, or that a file stands in a folder's place.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// stream is an open file, read once.
type stream struct {
	content io.Reader // decompressed
	disk    *digest   // the file as it lies on disk
	inner   *digest   // the content, where it was compressed and its digest is asked for; else nil
	close   func()    // releases everything
	packed  bool      // it was compressed
	file    fs.File   // nil for standard input
	size    int64     // of the file, as it was opened
	changed time.Time // when it was changed last, likewise
}

// contentSum is the SHA-256 of the content, once all of it was read.
func (s *stream) contentSum() []byte {
	if s.inner != nil {
		return s.inner.hash.Sum(nil)
	}
	return s.disk.hash.Sum(nil)
}

// openStream opens a file. problem is "" or why it cannot be read.
func openStream(p string, opts Options, lim limits) (s *stream, problem string) {
	if p == stdin {
		if opts.Stdin == nil {
			return nil, "standard input cannot be read here: name a file"
		}
		return decompress(opts.Stdin, func() {}, opts.Progress, lim)
	}
	where, name, problem := locate(p, opts.FS)
	if problem != "" {
		return nil, problem
	}
	// Opening a named pipe waits for its writer, so what it is comes first.
	info, err := fs.Stat(where, name)
	if err != nil {
		return nil, openProblem(err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, "it is a folder: name its files, or give a glob such as " + diag.Quote(strings.TrimRight(p, "/")+"/*.csv")
	case !mode.IsRegular():
		return nil, "it is a pipe or a device, not a file: pass its content on standard input, as -"
	}
	f, err := where.Open(name)
	if err != nil {
		return nil, openProblem(err)
	}
	if s, problem = decompress(f, func() { f.Close() }, opts.Progress, lim); problem == "" {
		s.file, s.size, s.changed = f, info.Size(), info.ModTime()
	}
	return s, problem
}

// changedMessage is the message about a file that is written while it is read: its rows may be of two contents.
const changedMessage = "the file changed while it was read: run again when it is finished"

// unchanged reports whether a file is still what was opened, as far as its size and time tell. Of standard input they tell nothing.
func (s *stream) unchanged() bool {
	if s.file == nil {
		return true
	}
	info, err := s.file.Stat()
	return err == nil && info.Size() == s.size && info.ModTime().Equal(s.changed)
}

// openProblem is the message for a file that cannot be opened.
func openProblem(err error) string {
	switch {
	case isAbsent(err):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "it cannot be opened: permission is denied"
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return "it cannot be opened: " + diag.Cause(err.Error())
}

// The beginnings of compressed files: RFC 1952 section 2.3.1; RFC 8878 sections 3.1.1 and 3.1.2 (a
// skippable frame begins with any of 0x50 to 0x5F).
var (
	gzipMagic     = []byte{0x1F, 0x8B}
	zstdMagic     = []byte{0x28, 0xB5, 0x2F, 0xFD}
	zstdSkippable = []byte{0x2A, 0x4D, 0x18}
)

func isGzip(head []byte) bool { return bytes.HasPrefix(head, gzipMagic) }

func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, zstdMagic) ||
		len(head) >= 4 && head[0]&0xF0 == 0x50 && bytes.Equal(head[1:4], zstdSkippable)
}

const (
	maxGrowth  = 256       // decompressed bytes to one compressed byte
	zstdWindow = 128 << 20 // what the zstd program itself accepts without --long
)

// decompress reads a file's content from its bytes on disk. release is called when the stream is closed.
func decompress(r io.Reader, release func(), progress *Progress, lim limits) (*stream, string) {
	s := &stream{disk: newDigest(r), close: release}
	s.disk.progress = progress
	in := bufio.NewReaderSize(s.disk, 64<<10)
	head, _ := in.Peek(4) // an error shows again on reading
	switch {
	case isGzip(head):
		z, err := gzip.NewReader(in)
		if err != nil {
			release()
			return nil, readProblem(compressionError{err})
		}
		s.inflated(z, lim)
	case isZstd(head):
		// One goroutine: how far ahead the file was read then never depends on the scheduler.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			release()
			return nil, readProblem(compressionError{err})
		}
		s.inflated(z, lim)
		s.close = func() { z.Close(); release() }
	default:
		s.content = in
		return s, ""
	}
	return s, ""
}

// inflated makes decompressed data the content.
func (s *stream) inflated(r io.Reader, lim limits) {
	s.content, s.packed = &inflated{r: r, disk: s.disk, free: lim.free}, true
	if !lim.single {
		s.inner = newDigest(s.content)
		s.content = s.inner
	}
}

// digest hashes and counts what is read through it.
type digest struct {
	r     io.Reader
	hash  hash.Hash
	bytes int64
	ended bool // the end was reached

	progress *Progress // of what is read; nil for none
}

func newDigest(r io.Reader) *digest { return &digest{r: r, hash: sha256.New()} }

// Read fills p as far as the stream goes, so that how much was read when never depends on how a pipe
// hands out its bytes.
func (d *digest) Read(p []byte) (int, error) {
	n, err := fill(d.r, p)
	d.hash.Write(p[:n])
	d.bytes += int64(n)
	d.progress.addBytes(n)
	d.ended = d.ended || err == io.EOF
	return n, err
}

// compressionError is a fault in compressed data.
type compressionError struct{ err error }

func (e compressionError) Error() string { return e.err.Error() }
func (e compressionError) Unwrap() error { return e.err }

// errGrowth is what a decompression bomb ends in.
var errGrowth = fmt.Errorf("more than %d bytes came out of each compressed byte", maxGrowth)

// inflated is decompressed data: it marks their faults, and stops when they grow out of all proportion.
type inflated struct {
	r    io.Reader
	disk *digest
	out  int64
	free int64
}

func (f *inflated) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.out += int64(n)
	if f.out > f.free && f.out/maxGrowth > f.disk.bytes {
		return n, compressionError{errGrowth}
	}
	if err != nil && err != io.EOF {
		err = compressionError{err}
	}
	return n, err
}

// readProblem is the message for a stream that ended in err.
func readProblem(err error) string {
	var compression compressionError
	switch {
	case errors.Is(err, errGrowth):
		return fmt.Sprintf("the compressed data grow more than %d-fold, which no decision file does: decompress the file first if it is really one", maxGrowth)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Sprintf("the zstd window is over %d MiB: compress the file without --long", zstdWindow>>20)
	case errors.As(err, &compression) && errors.Is(err, io.ErrUnexpectedEOF):
		return "the compressed data end too early: the file is cut off"
	case errors.As(err, &compression):
		return "the compressed data are damaged: " + diag.Cause(err.Error())
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return "it cannot be read: " + diag.Cause(err.Error())
}

// byteOrderMark is U+FEFF in UTF-8.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// bom returns the byte-order mark that head begins with, or nothing.
func bom(head []byte) []byte {
	if bytes.HasPrefix(head, byteOrderMark) {
		return byteOrderMark
	}
	return nil
}

// foreign are the beginnings of files that people pass by mistake.
var foreign = []struct{ begins, what string }{
	{"PK\x03\x04", "a zip archive (as .xlsx spreadsheets are)"},
	{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel workbook (.xls)"},
	{"BZh91AY&SY", "a bzip2 file"},
	{"\xFD7zXZ\x00", "an xz file"},
	{"7z\xBC\xAF\x27\x1C", "a 7z archive"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"%PDF-", "a PDF document"},
}

// unreadable returns why content with this beginning is no text in UTF-8, or "".
func unreadable(head []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return "it is " + f.what + ": CSV and JSONL are read, plain or compressed with gzip or zstd, and Parquet"
		}
	}
	if isGzip(head) || isZstd(head) {
		return "it is compressed twice: decompress it once"
	}
	if encoding := wideEncoding(head); encoding != "" {
		return "it is in " + encoding + ": save it as UTF-8"
	}
	if text := bytes.TrimLeft(head[len(bom(head)):], blanks); bytes.HasPrefix(text, []byte("[")) {
		if text = bytes.TrimLeft(text[1:], blanks); len(text) > 0 && (text[0] == '{' || text[0] == ']') {
			return "it is a JSON array: write its objects one a line, without the brackets and the commas between them"
		}
	}
	return ""
}

// blanks are the white space of JSON.
const blanks = " \t\r\n"

// wideEncoding names the encoding of text in 16 or 32 bits a character, or returns "". Without a
// byte-order mark it is told by the zero bytes of Latin letters, which take every second byte or more.
func wideEncoding(head []byte) string {
	marks := []struct{ mark, name string }{ // UTF-32LE before UTF-16LE, whose mark begins it
		{"\xFF\xFE\x00\x00", "UTF-32LE"}, {"\x00\x00\xFE\xFF", "UTF-32BE"},
		{"\xFF\xFE", "UTF-16LE"}, {"\xFE\xFF", "UTF-16BE"},
	}
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return m.name
		}
	}
	head = head[:min(len(head), 1024)&^3]
	var zeros [4]int // by place in a group of four bytes
	for i, b := range head {
		if b == 0 {
			zeros[i%4]++
		}
	}
	// The first group must have the pattern too, so that no header in Latin letters is taken for one.
	like := func(pattern string) bool {
		for i, want := range []byte(pattern) {
			groups := len(head) / 4
			if groups == 0 || (head[i] == 0) != (want == '0') || want == '0' && 2*zeros[i] <= groups || want != '0' && zeros[i] > 0 {
				return false
			}
		}
		return true
	}
	for _, p := range []struct{ pattern, name string }{{"000x", "UTF-32BE"}, {"x000", "UTF-32LE"}, {"0x0x", "UTF-16BE"}, {"x0x0", "UTF-16LE"}} {
		if like(p.pattern) {
			return p.name
		}
	}
	return ""
}

// beginsObject reports that the first byte of content that is no blank is '{'.
func beginsObject(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, blanks), []byte("{"))
}

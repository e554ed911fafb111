package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// prepare makes the folder of a file that a run will write, and returns where the path leads. Files come into being
// when they are written; an error here says that this one could not be, before anything is decided.
func prepare(path string) (place string, err error) {
	if _, name := filepath.Split(path); name == "" {
		return "", fmt.Errorf("%s is a folder; name a file in it", path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() { // before its links, which for a pipe lead nowhere
		return "", fmt.Errorf("%s is not a regular file; name one that is, or for standard output the format without a path", path)
	}
	if above := fileAbove(path); above != "" {
		return "", fmt.Errorf("cannot write %s: %s is a file, and nothing can be in it", path, above)
	}
	if place, err = resolve(path); err != nil {
		return "", fmt.Errorf("cannot write %s: %s", path, reason(err))
	}
	if info, err := os.Stat(place); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder; name a file in it", path)
	}
	if err := temporary(newIn(filepath.Dir(place)), func(*os.File) error { return nil }); err != nil {
		return "", fmt.Errorf("cannot write %s: %s", path, reason(err))
	}
	return place, nil
}

// fileAbove is the part of a path that would have to be a folder and is none; "" where there is no such part.
func fileAbove(path string) string {
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil {
			if info.IsDir() {
				return ""
			}
			return above
		}
		if filepath.Dir(above) == above {
			return ""
		}
	}
}

// maxLinks is how many links in a row a path may be; operating systems follow as many.
const maxLinks = 40

// resolve returns the absolute path of a file with every link followed, also one that leads to nothing yet: writing
// keeps a link and makes its file. Folders that are missing are made.
func resolve(path string) (string, error) {
	for range maxLinks {
		// Not filepath.Dir, which takes a/.. for nothing although a may be a link.
		folder, name := filepath.Split(path)
		if folder == "" {
			folder = "."
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return "", err
		}
		folder, err := filepath.EvalSymlinks(folder)
		if err == nil {
			folder, err = filepath.Abs(folder)
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(folder, name)
		to, err := os.Readlink(path)
		if err != nil { // no link: a file, or nothing
			return path, nil
		}
		if filepath.IsAbs(to) {
			path = to
		} else {
			path = folder + string(filepath.Separator) + to
		}
	}
	return "", errors.New("too many links follow each other")
}

// isFile reports whether a stream, such as standard input, is the file of that path.
func isFile(stream any, path string) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	one, err := f.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(path)
	return err == nil && os.SameFile(one, other)
}

// sameFile reports whether two paths are one file that exists.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// writeWhole writes a file whole or not at all: under a temporary name beside its own, whose place it then takes. A
// new file has the mode that the umask leaves, one that was there keeps its own.
func writeWhole(place string, data []byte) error {
	return temporary(newIn(filepath.Dir(place)), func(f *os.File) error { return become(f, place, data) })
}

// become writes a new file and gives it the place of another, and its mode.
func become(f *os.File, place string, data []byte) error {
	if old, err := os.Stat(place); err == nil {
		info, err := f.Stat()
		if err == nil && info.Mode().Perm() != old.Mode().Perm() {
			err = f.Chmod(old.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	_, err := f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), place)
}

// temporary makes a file by the given function, hands it to use, closes it and removes it, unless use has given it another
// name. It is removed too when a signal ends the process meanwhile.
func temporary(create func() (*os.File, error), use func(*os.File) error) error {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(signals, s)
		}
	}
	var making sync.Mutex // held while the file is made: once it exists, f is known
	var f *os.File
	var info fs.FileInfo // of f
	remove := func() {   // not where another run has made a file of its name since this one gave it up
		f.Close()
		if now, err := os.Lstat(f.Name()); err == nil && os.SameFile(now, info) {
			os.Remove(f.Name())
		}
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if s, came := <-signals; came {
			making.Lock() // and kept: no file is made any more
			if f != nil {
				remove()
			}
			raise(s)
		}
	}()
	defer func() {
		signal.Stop(signals)
		close(signals) // a signal that has come is still in it
		<-watched
	}()

	making.Lock()
	made, err := create()
	if err == nil {
		f = made
		info, err = f.Stat()
	}
	making.Unlock()
	if err == nil {
		err = use(made)
	}
	if made != nil {
		remove() // use has closed what it keeps, and looked at the error
	}
	return err
}

// newIn makes files of new names in a folder, with the mode that the umask leaves.
func newIn(folder string) func() (*os.File, error) {
	return newName(func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	})
}

// newName makes files under names that are not there yet. create makes one of that name, and fails where it is there.
func newName(create func(name string) (*os.File, error)) func() (*os.File, error) {
	return func() (*os.File, error) {
		const most = 10000
		for i := 0; ; i++ {
			f, err := create(fmt.Sprintf(".oloproof-%d-%d", os.Getpid(), i))
			if !errors.Is(err, fs.ErrExist) || i == most {
				return f, err
			}
		}
	}
}

// raise ends the process by a signal, as if nobody had waited for it.
func raise(s os.Signal) {
	signal.Reset(s)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(s)
	}
	if err != nil && self != nil { // Windows sends no signals
		self.Kill()
	}
	select {}
}

//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file of the workspace the owner of the file whose place it takes: the step runs as root, and a later one that
// does not may have to write the file. A step that may not do so leaves it.
func keepOwner(root *os.Root, name string, old fs.FileInfo) {
	if was, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = root.Lchown(name, int(was.Uid), int(was.Gid))
	}
}

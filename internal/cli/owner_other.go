//go:build !unix

package cli

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: the action runs on Linux.
func keepOwner(*os.Root, string, fs.FileInfo) {}

package diag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCauseOfALink: what os.Root says of a link that leads out is known, so that a person reads what is wrong with it.
func TestCauseOfALink(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(folder, "elsewhere"), filepath.Join(folder, "link")); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = root.Open("link")
	pathError, ok := err.(*os.PathError)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	if got := Cause(pathError.Err.Error()); !strings.HasPrefix(got, "a link in it is absolute, or leads out") {
		t.Errorf("the cause is %q", got)
	}
}

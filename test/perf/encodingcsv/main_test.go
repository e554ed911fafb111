package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte("a,b,c\n1,x,\"y\"\n2,,y\n3,x,y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := count(path, []string{"c", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"y|x": 2, "y|": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := count(path, []string{"d"}); err == nil {
		t.Error("there is no column d")
	}
}

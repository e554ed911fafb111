// Command digest reads a file and computes its SHA-256, and does nothing else: what the digest in a report costs, for the line digest of
// test/perf.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./test/perf/digest FILE")
	}
	f, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	hash := sha256.New()
	if _, err := io.CopyBuffer(hash, struct{ io.Reader }{f}, make([]byte, 128<<10)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x\n", hash.Sum(nil))
}

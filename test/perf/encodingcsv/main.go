// Command encodingcsv counts the rows of a CSV file by columns as a Go program without a library does, for the line encoding-csv of
// test/perf: with encoding/csv and a map. It prints the counts as a JSON object.
//
//	go run ./test/perf/encodingcsv FILE COLUMN…
package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: go run ./test/perf/encodingcsv FILE COLUMN…")
	}
	counts, err := count(os.Args[1], os.Args[2:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(counts)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// count counts the rows of a file by columns: their texts, joined by "|".
func count(path string, columns []string) (map[string]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	var at []int
	for _, name := range columns {
		i := slices.Index(header, name)
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %s", path, name)
		}
		at = append(at, i)
	}
	counts := map[string]*int{}
	var key []byte
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		key = key[:0]
		for n, i := range at {
			if n > 0 {
				key = append(key, '|')
			}
			key = append(key, record[i]...)
		}
		n := counts[string(key)]
		if n == nil {
			n = new(int)
			counts[string(key)] = n
		}
		*n++
	}
	all := map[string]int{}
	for key, n := range counts {
		all[key] = *n
	}
	return all, nil
}

package parquet

import (
	"bytes"
	"fmt"

	oracle "github.com/parquet-go/parquet-go"
)

// failer is what testing and rapid have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// written is a file in memory, as the library of the Go world writes it.
func written[T any](t failer, rows []T, options ...oracle.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := oracle.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open opens a file in memory that must be sound.
func open(t failer, content []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// column finds a column that must be there.
func column(t failer, f *File, name string) *Column {
	t.Helper()
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	t.Fatalf("there is no column %s", name)
	return nil
}

// null is how tests show a null.
const null = "∅"

// texts returns a column's texts, one after the other.
func textsOf(f *File, col *Column) (list []string, err error) {
	c := f.Cursor(col)
	defer c.Close()
	for _, g := range f.Groups {
		if err := c.Open(g); err != nil {
			return list, err
		}
		for range g.Rows {
			text, recorded, wrong, err := c.Text()
			switch {
			case err != nil:
				return list, err
			case wrong != "":
				list = append(list, "wrong: "+wrong)
			case !recorded:
				list = append(list, null)
			default:
				list = append(list, string(text))
			}
		}
	}
	return list, nil
}

// summed returns a column's texts as Sum tells them, n rows at once, after skip rows of each row group. Sum is told that every text but
// "asked" may be kept.
func summed(f *File, col *Column, skip int64, n int) (list []string, err error) {
	c := f.Cursor(col)
	defer c.Close()
	var names []string
	numbers := map[string]uint64{}
	to := make([]uint64, n)
	for _, g := range f.Groups {
		if err := c.Open(g); err != nil {
			return list, err
		}
		from := min(skip, g.Rows)
		if err := c.Skip(from); err != nil {
			return list, err
		}
		for left := g.Rows - from; left > 0; {
			part := to[:min(left, int64(n))]
			left -= int64(len(part))
			clear(part)
			ok, err := c.Sum(part, func(text []byte, recorded bool) (uint64, bool, bool) {
				name := null
				if recorded {
					name = string(text)
				}
				i, met := numbers[name]
				if !met {
					i = uint64(len(names))
					names, numbers[name] = append(names, name), i
				}
				return i, name != "asked", true
			})
			if err != nil || !ok {
				return list, fmt.Errorf("%v, ok %v", err, ok)
			}
			for _, i := range part {
				list = append(list, names[i])
			}
		}
	}
	return list, nil
}

// named finds a column; nil for none.
func named(f *File, name string) *Column {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	return nil
}

package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// convertCommand is `jsonl FILE TO` or `parquet FILE TO`: a CSV file in another form.
func convertCommand(name string, convert func(ts *testscript.TestScript, rows [][]string) []byte) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: %s FILE TO", name)
		}
		rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[0]))).ReadAll()
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), convert(ts, rows), 0o644))
	}
}

// asJSONL writes rows, the first of which is the header, as JSON objects of texts; what is empty is null.
func asJSONL(ts *testscript.TestScript, rows [][]string) []byte {
	var b bytes.Buffer
	for _, row := range rows[1:] {
		object := map[string]*string{}
		for i := range row {
			if object[rows[0][i]] = &row[i]; row[i] == "" {
				object[rows[0][i]] = nil
			}
		}
		ts.Check(json.NewEncoder(&b).Encode(object))
	}
	return b.Bytes()
}

// columnTypes are the types that a column of Parquet can have here, the first that fits all its texts being taken, as a database would.
var columnTypes = []struct {
	node  parquet.Node
	value func(text string) (any, error)
}{
	{parquet.Leaf(parquet.BooleanType), func(text string) (any, error) {
		if text != "true" && text != "false" {
			return nil, strconv.ErrSyntax
		}
		return text == "true", nil
	}},
	{parquet.Int(64), func(text string) (any, error) { return strconv.ParseInt(text, 10, 64) }},
	{parquet.Leaf(parquet.DoubleType), func(text string) (any, error) { return strconv.ParseFloat(text, 64) }},
	{parquet.Timestamp(parquet.Millisecond), func(text string) (any, error) {
		at, err := time.Parse(time.RFC3339, text)
		return at.UnixMilli(), err
	}},
	{parquet.Encoded(parquet.String(), &parquet.RLEDictionary), func(text string) (any, error) { return text, nil }},
}

// asParquet writes rows, the first of which is the header, with typed columns; what is empty is null.
func asParquet(ts *testscript.TestScript, rows [][]string) []byte {
	header, rows := rows[0], rows[1:]
	group := parquet.Group{}
	values := make([][]parquet.Value, len(header)) // by column
	for i, name := range header {
		for _, kind := range columnTypes {
			values[i] = nil
			for _, row := range rows {
				if row[i] == "" {
					values[i] = append(values[i], parquet.Value{})
				} else if v, err := kind.value(row[i]); err == nil {
					values[i] = append(values[i], parquet.ValueOf(v))
				}
			}
			if group[name] = parquet.Optional(kind.node); len(values[i]) == len(rows) {
				break
			}
		}
	}
	schema := parquet.NewSchema("rows", group)
	list := make([]parquet.Row, len(rows))
	for at, path := range schema.Columns() { // sorted
		for i, name := range header {
			if name != path[0] {
				continue
			}
			for k, v := range values[i] {
				level := 1
				if v.IsNull() {
					level = 0
				}
				list[k] = append(list[k], v.Level(0, level, at))
			}
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1000))
	_, err := w.WriteRows(list)
	ts.Check(err)
	ts.Check(w.Close())
	return b.Bytes()
}

package diag

import "testing"

// TestRows: a place in a file without lines is its row, and rows come in their order.
func TestRows(t *testing.T) {
	second, tenth := Pos{File: "d.parquet", Row: 2}, Pos{File: "d.parquet", Row: 10}
	if got := tenth.String(); got != "d.parquet:row 10" {
		t.Error(got)
	}
	if second.Compare(tenth) >= 0 || tenth.Compare(second) <= 0 || tenth.Compare(tenth) != 0 {
		t.Error("rows are not in order")
	}
}

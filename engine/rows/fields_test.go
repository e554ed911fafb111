package rows

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestProto(t *testing.T) {
	if _, err := os.Stat("/tmp/scale/d10.csv"); err != nil {
		t.Skip()
	}
	for _, name := range []string{"id", "label", "prediction", "sex", "age_band"} {
		_ = name
	}
	for _, ids := range []bool{false, true} {
		opts := Options{}
		var uses []Use
		for _, name := range []string{"id", "label", "prediction", "sex", "age_band"} {
			opts.Columns = append(opts.Columns, Column{Name: name, Required: true})
			if name == "id" {
				uses = append(uses, Use{Unique: ids})
				continue
			}
			uses = append(uses, Use{Codes: 8, Code: func(text string, recorded bool) (int, bool) { return len(text) % 8, true }})
		}
		for range 4 {
			start := time.Now()
			cube, inputs, ok := Count([]string{"/tmp/scale/d10.csv"}, opts, uses)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Log(ids, time.Since(start), ok, cube != nil && cube.Rows() == 10_000_000, len(inputs), m.Sys>>20)
		}
	}
}

package parquet

import (
	"math"
	"testing"
	"time"

	oracle "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/google/go-cmp/cmp"
)

// TestTypes: every type has the text that a person would write in a CSV file.
func TestTypes(t *testing.T) {
	type row struct {
		Bool      bool             `parquet:"bool"`
		Int8      int8             `parquet:"int8"`
		Int32     int32            `parquet:"int32"`
		Int64     int64            `parquet:"int64"`
		Uint32    uint32           `parquet:"uint32"`
		Uint64    uint64           `parquet:"uint64"`
		Float     float32          `parquet:"float"`
		Double    float64          `parquet:"double"`
		Text      string           `parquet:"text"`
		Enum      string           `parquet:"enum,enum"`
		JSON      string           `parquet:"json,json"`
		Bytes     []byte           `parquet:"bytes"`
		Fixed     [3]byte          `parquet:"fixed"`
		UUID      [16]byte         `parquet:"uuid,uuid"`
		Decimal32 int32            `parquet:"decimal32,decimal(2:9)"`
		Decimal64 int64            `parquet:"decimal64,decimal(3:18)"`
		DecimalF  [16]byte         `parquet:"decimalf,decimal(1:38)"`
		Date      int32            `parquet:"date,date"`
		Millis    int64            `parquet:"millis,timestamp(millisecond)"`
		Micros    int64            `parquet:"micros,timestamp(microsecond)"`
		Nanos     int64            `parquet:"nanos,timestamp(nanosecond)"`
		Local     int64            `parquet:"local,timestamp(millisecond:local)"`
		Clock     int64            `parquet:"clock,time(microsecond)"`
		Int96     deprecated.Int96 `parquet:"int96"`
		Null      *string          `parquet:"null,optional"`
	}
	at := time.Date(2026, 3, 31, 14, 5, 9, 250_000_000, time.UTC)
	minus := [16]byte{}
	for i := range minus {
		minus[i] = 0xFF // −1 in two's complement
	}
	rows := []row{
		{
			Bool: true, Int8: -128, Int32: math.MinInt32, Int64: math.MaxInt64, Uint32: math.MaxUint32, Uint64: math.MaxUint64,
			Float: 0.1, Double: 0.1, Text: "é", Enum: "female", JSON: `{"a":1}`, Bytes: []byte("b"), Fixed: [3]byte{'a', 'b', 'c'},
			UUID:      [16]byte{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4, 5, 6, 7, 8},
			Decimal32: 1250, Decimal64: -5, DecimalF: minus, Date: 20543, // days from 1970-01-01 to 2026-03-31: 56 years of 365, 14 leap days, 89 days
			Millis: at.UnixMilli(), Micros: at.UnixMicro(), Nanos: at.UnixNano(), Local: at.UnixMilli(), Clock: 50_709_250_000, // 14 h 5 min 9.25 s
			// Its Julian day is 2440588, that of 1970-01-01, and 20543 more.
			Int96: deprecated.Int96{0: uint32(50_709_250_000_000 & math.MaxUint32), 1: uint32(50_709_250_000_000 >> 32), 2: 2_440_588 + 20_543},
		},
		{Float: 1, Double: 1e21, Decimal32: 100, Date: -1, Millis: -1, Micros: -62_135_596_800_000_001, Clock: 86_400_000_000, Int96: deprecated.Int96{0: 0, 1: 0, 2: 2_440_588}, Bytes: []byte{0xFF}},
		{Float: float32(math.Inf(-1)), Double: math.NaN(), Decimal32: -1, Millis: 0},
		{Float: 16777216, Double: math.Copysign(0, -1)},
	}
	f := open(t, written(t, rows))
	for name, want := range map[string][]string{
		"bool":      {"true", "false", "false", "false"},
		"int8":      {"-128", "0", "0", "0"},
		"int32":     {"-2147483648", "0", "0", "0"},
		"int64":     {"9223372036854775807", "0", "0", "0"},
		"uint32":    {"4294967295", "0", "0", "0"},
		"uint64":    {"18446744073709551615", "0", "0", "0"},
		"float":     {"0.1", "1", "-Infinity", "16777216"},
		"double":    {"0.1", "1e+21", "NaN", "0"},
		"text":      {"é", "", "", ""},
		"enum":      {"female", "", "", ""},
		"json":      {`{"a":1}`, "", "", ""},
		"bytes":     {"b", "wrong: found bytes that are no text in UTF-8", "", ""},
		"fixed":     {"abc", "\x00\x00\x00", "\x00\x00\x00", "\x00\x00\x00"},
		"uuid":      {"12345678-9abc-def0-0102-030405060708", "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"},
		"decimal32": {"12.5", "1", "-0.01", "0"},
		"decimal64": {"-0.005", "0", "0", "0"},
		"decimalf":  {"-0.1", "0", "0", "0"},
		"date":      {"2026-03-31", "1969-12-31", "1970-01-01", "1970-01-01"},
		"millis":    {"2026-03-31T14:05:09.25Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		"micros":    {"2026-03-31T14:05:09.25Z", "wrong: found a time outside the years 1 to 9999", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		"nanos":     {"2026-03-31T14:05:09.25Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		"local":     {"2026-03-31T14:05:09.25", "1970-01-01T00:00:00", "1970-01-01T00:00:00", "1970-01-01T00:00:00"},
		"clock":     {"14:05:09.25Z", "wrong: found a time of day that no day has", "00:00:00Z", "00:00:00Z"},
		"null":      {null, null, null, null},
	} {
		got, err := textsOf(f, column(t, f, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Day 0 is in the year −4713.
	got, err := textsOf(f, column(t, f, "int96"))
	if err != nil || got[0] != "2026-03-31T14:05:09.25Z" || got[1] != "1970-01-01T00:00:00Z" || got[2] != "wrong: found a time outside the years 1 to 9999" {
		t.Errorf("int96: %q, %v", got, err)
	}
}

// TestNested: what holds no single value in each row cannot be read, and does not keep the others from being read.
func TestNested(t *testing.T) {
	type inner struct {
		X int32 `parquet:"x"`
		Y []int32
	}
	type row struct {
		Before string           `parquet:"before"`
		Group  inner            `parquet:"group"`
		List   []string         `parquet:"list"`
		Proper []int64          `parquet:"proper,list"`
		Map    map[string]int32 `parquet:"map"`
		After  string           `parquet:"after"`
	}
	f := open(t, written(t, []row{{Before: "b", List: []string{"1", "2"}, Proper: []int64{3}, Map: map[string]int32{"k": 1}, After: "a"}, {Before: "c", After: "d"}}))
	problems := map[string]string{}
	for _, c := range f.Columns {
		problems[c.Name] = c.Problem
	}
	want := map[string]string{"before": "", "group": "holds columns of its own", "list": "holds a list in each row", "proper": "holds a list in each row", "map": "holds a list in each row", "after": ""}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string][]string{"before": {"b", "c"}, "after": {"a", "d"}} {
		if got, err := textsOf(f, column(t, f, name)); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestWithoutRows: a file may have columns and no row.
func TestWithoutRows(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
	}
	f := open(t, written(t, []row{}, oracle.Compression(&oracle.Snappy)))
	if len(f.Columns) != 1 || len(f.Groups) != 0 {
		t.Errorf("%d columns, %d row groups", len(f.Columns), len(f.Groups))
	}
}

// Package rows reads decision files for every gate, one row at a time.
//
//  1. Paths are looked up (open.go): a literal name first, then a glob whose matches are sorted by
//     bytes; "-" is standard input. With Options.FS nothing outside that folder can be opened.
//  2. Each file is read once, as a stream. Its SHA-256 and its size are taken on the way, of the bytes
//     as they lie on disk; gzip and zstd, told by their first bytes, are decompressed.
//  3. What is inside is told by content (reader.go, the list formats): '{' begins JSONL, PAR1 Parquet
//     (parquet.go), anything else is CSV. Every file has its own format, compression, delimiter and header.
//  4. A record is scanned in place (csv.go, jsonl.go). Rows that can be read go to the caller's
//     function in the order of the files; everything that cannot be read becomes a diagnostic with its
//     line and column, and nothing is skipped in silence.
//     Where no one needs their order, Share hands them to a function for each core (share.go), and Count only counts them (count.go);
//     both give up where anything is wrong, and reading one by one says what.
//  5. Gates turn the text of a cell into a value with Binary, ParseDecimal and ParseTime (values.go).
//
// Limits, all of them errors that say so: a record holds at most 16 MiB, a header 65,536 columns, JSON
// nests 10,000 deep, compressed data may grow 256-fold beyond their first 64 MiB, and a zstd window
// takes at most 128 MiB. Of a Parquet file what its texts have beyond 256 bytes each may grow as compressed data may, and read one by one are
// two million rows and 16 for each of its bytes. Memory does not grow with the number of rows.
//
// Where the rules leave a choice:
//   - A header that no delimiter splits is a table of one column; its delimiter is the comma.
//   - A line end inside a quoted field is kept as it is written.
//   - A JSON object may be spread over several lines. Keys are compared after trimming, like CSV headers.
//   - An object or an array is an error in a column that is read; in an extra key it is ignored.
//   - Half of a surrogate pair in a JSON string is an error, not U+FFFD.
//   - "*" in a glob also matches names that begin with a dot; "**" is refused.
//   - Numbers of Parquet become their shortest decimals, times ISO 8601; NaN and infinity are those words.
//   - A file is the same as another when their decompressed contents are the same.
package rows

// Package parquet reads the flat columns of Parquet files as texts, row by row or many rows at once, in memory that a file cannot
// stretch.
//
//  1. Open reads the footer (file.go, schema.go, and thrift.go for its form): which columns there are, what their values mean, and where the row groups begin.
//  2. A Cursor goes through one column of a row group, page by page (page.go): a page is decompressed as a whole (codec.go), and its
//     levels and values are decoded one run, or one value, at a time (cursor.go, runs.go, values.go). So a page that claims to hold a billion
//     values takes no more memory than its bytes do.
//  3. A value becomes the text that it would be in a CSV file (text.go). Of a column with a dictionary, Sum does so once for each
//     value of the dictionary, however many rows have it.
//
// The format is that of the Apache Parquet project, format version 2.11: the files parquet.thrift, Encodings.md and LogicalTypes.md.
// Read are the codecs none, Snappy, gzip, zstd and LZ4_RAW, and all encodings of values that the format has not withdrawn.
//
// The statistics in a file's metadata are not read: what they say of nulls, or of the least and the greatest value, need not be so.
//
// Limits, all of them errors that say so: a footer of 64 MiB, 65,536 columns, a page of 128 MiB, 512 MiB for the pages that are held
// at once, and beyond 100 million rows 4,096 rows for each byte of the file.
//
// It is written for this program because the readers that exist trust the counts in a file and reserve what they say, so that a
// page of a hundred bytes can ask for gigabytes.
package parquet

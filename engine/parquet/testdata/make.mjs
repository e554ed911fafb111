// Writes the Parquet files in this folder, 300 rows each of the table that made_test.go describes, with two programs that share no code with
// the one under test: DuckDB, and parquet-wasm, which is the Rust library of the Arrow project. To make them anew:
//
//   npm install @duckdb/node-api@1.5.5-r.5 parquet-wasm@0.8.0 apache-arrow@21.2.0
//   node make.mjs
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import * as rust from 'parquet-wasm/node';

const n = 300;

const duck = await (await DuckDBInstance.create(':memory:')).connect();
await duck.run(`CREATE TABLE t AS SELECT i AS id, (i % 3)::INTEGER AS small, CASE WHEN i % 7 <> 0 THEN 'text ' || i % 5 END AS maybe,
  'row number ' || i AS long, i / 8.0::DOUBLE AS ratio, CASE WHEN i % 11 <> 0 THEN i % 2 = 0 END AS flag,
  DATE '2026-01-01' + i::INTEGER AS day, TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (i * 1500) MILLISECOND AS at,
  (i / 4.0)::DECIMAL(9, 2) AS amount, i::UTINYINT AS byte, NULL::VARCHAR AS nothing FROM range(${n}) r(i)`.replace('i::UTINYINT', '(i % 200)::UTINYINT'));
for (const [name, options] of Object.entries({
  plain: 'COMPRESSION uncompressed',
  snappy: 'COMPRESSION snappy, ROW_GROUP_SIZE 128',
  zstd: 'COMPRESSION zstd',
  gzip: 'COMPRESSION gzip',
  lz4: 'COMPRESSION lz4_raw',
  brotli: 'COMPRESSION brotli',
  v2: 'COMPRESSION zstd, PARQUET_VERSION v2',
  'v2-plain': 'COMPRESSION uncompressed, PARQUET_VERSION v2, DICTIONARY_SIZE_LIMIT 1',
})) {
  await duck.run(`COPY t TO 'duckdb-${name}.parquet' (FORMAT parquet, ${options})`);
}

const rows = Array.from({ length: n }, (_, i) => i);
const table = new arrow.Table({
  id: arrow.vectorFromArray(rows.map(BigInt), new arrow.Int64()),
  small: arrow.vectorFromArray(rows.map(i => i % 3), new arrow.Int32()),
  maybe: arrow.vectorFromArray(rows.map(i => i % 7 ? `text ${i % 5}` : null), new arrow.Utf8()),
  long: arrow.vectorFromArray(rows.map(i => `row number ${i}`), new arrow.Utf8()),
  ratio: arrow.vectorFromArray(rows.map(i => i / 8), new arrow.Float64()),
  flag: arrow.vectorFromArray(rows.map(i => i % 11 ? i % 2 === 0 : null), new arrow.Bool()),
  day: arrow.vectorFromArray(rows.map(i => new Date(Date.UTC(2026, 0, 1 + i))), new arrow.DateDay()),
  at: arrow.vectorFromArray(rows.map(i => Date.UTC(2026, 0, 1) + i * 1500), new arrow.TimestampMillisecond('UTC')),
  byte: arrow.vectorFromArray(rows.map(i => i % 200), new arrow.Uint8()),
});
const bytes = arrow.tableToIPC(table, 'stream');
const write = (name, set) => {
  const properties = set(new rust.WriterPropertiesBuilder()).build();
  writeFileSync(`rust-${name}.parquet`, rust.writeParquet(rust.Table.fromIPCStream(bytes), properties));
};
const { Compression, Encoding, WriterVersion } = rust;
write('snappy', b => b.setCompression(Compression.SNAPPY).setDataPageSizeLimit(100).setWriteBatchSize(25));
write('v2', b => b.setCompression(Compression.ZSTD).setWriterVersion(WriterVersion.V2));
write('groups', b => b.setCompression(Compression.LZ4_RAW).setMaxRowGroupSize(77));
write('delta', b => {
  b = b.setCompression(Compression.UNCOMPRESSED).setWriterVersion(WriterVersion.V2).setDictionaryEnabled(false);
  for (const c of ['id', 'small', 'day', 'at', 'byte']) b = b.setColumnEncoding(c, Encoding.DELTA_BINARY_PACKED);
  b = b.setColumnEncoding('maybe', Encoding.DELTA_LENGTH_BYTE_ARRAY).setColumnEncoding('long', Encoding.DELTA_BYTE_ARRAY);
  return b.setColumnEncoding('ratio', Encoding.BYTE_STREAM_SPLIT).setColumnEncoding('flag', Encoding.RLE);
});
write('plain', b => b.setCompression(Compression.GZIP).setDictionaryEnabled(false));

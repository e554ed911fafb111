// node duckdb.cjs JSON: runs queries in a new DuckDB with two threads, and prints how many seconds they took by the clock and of all
// cores, with Node.js running and the database open already. JSON has node, the folder with node_modules; queries; and rows: whether to
// print what they give, as texts.
const { createRequire } = require("node:module");
const asked = JSON.parse(process.argv[2]);
const { DuckDBInstance } = createRequire(asked.node + "/")("@duckdb/node-api");

(async () => {
  const database = await DuckDBInstance.create(":memory:", { threads: "2" });
  const connection = await database.connect();
  await connection.run("select 1");
  const cpu = process.cpuUsage();
  const started = performance.now();
  const results = [];
  for (const query of asked.queries) {
    results.push(await connection.runAndReadAll(query));
  }
  const seconds = (performance.now() - started) / 1e3;
  const used = process.cpuUsage(cpu);
  const text = (value) => (value === null ? "" : String(value));
  const rows = asked.rows ? results.map((r) => r.getRows().map((row) => row.map(text))) : undefined;
  process.stdout.write(JSON.stringify({ seconds, cpu: (used.user + used.system) / 1e6, rows }));
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});

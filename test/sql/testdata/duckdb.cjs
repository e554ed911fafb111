// node duckdb.cjs FOLDER: runs the statements on standard input, a JSON array of texts, one after the other in one new database.
// FOLDER has node_modules.
const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const { DuckDBInstance } = createRequire(process.argv[2] + "/")("@duckdb/node-api");

(async () => {
  const database = await DuckDBInstance.create(":memory:");
  const connection = await database.connect();
  for (const statement of JSON.parse(readFileSync(0, "utf8"))) {
    await connection.run(statement);
  }
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});

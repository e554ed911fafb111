// node parse.cjs FOLDER: parses queries on standard input, a JSON array of {dialect, query}, and prints for each the tables that it reads
// and how many statements it is. FOLDER has node_modules.
const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const { Parser } = createRequire(process.argv[2] + "/")("node-sql-parser");

const results = [];
for (const { name, dialect, query } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const { tableList, ast } = new Parser().parse(query, { database: dialect });
    results.push({ name, tables: tableList, statements: [].concat(ast).length, kind: [].concat(ast)[0].type });
  } catch (error) {
    results.push({ name, error: error.message, at: error.location });
  }
}
console.log(JSON.stringify(results));

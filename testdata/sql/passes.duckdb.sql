WITH "tally_texts" AS (
  SELECT
    trim(CAST("version" AS VARCHAR), chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)) AS "version",
    trim(CAST("case" AS VARCHAR), chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)) AS "case_id",
    trim(CAST("trial" AS VARCHAR), chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)) AS "trial",
    trim(CAST("passed" AS VARCHAR), chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)) AS "result",
    trim(CAST("level" AS VARCHAR), chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288)) AS "where_1"
  FROM "warehouse"."rows"
), "tally_trials" AS (
  SELECT
    CASE WHEN "version" IN ('') THEN NULL ELSE "version" END AS "version",
    CASE WHEN "case_id" IN ('') THEN NULL ELSE "case_id" END AS "case_id",
    CASE WHEN "trial" IN ('') THEN NULL ELSE "trial" END AS "trial",
    CASE WHEN "result" IN ('') THEN NULL ELSE "result" END AS "result",
    CASE WHEN "where_1" IN ('') THEN NULL ELSE "where_1" END AS "where_1"
  FROM "tally_texts"
), "tally_counted" AS (
  SELECT
    COUNT(*) AS "total_rows"
  FROM "tally_trials"
), "tally_named" AS (
  SELECT
    "version" AS "version",
    "case_id" AS "case_id",
    "trial" AS "trial",
    COUNT(*) AS "times"
  FROM "tally_trials" WHERE "trial" IS NOT NULL
  GROUP BY
    "version",
    "case_id",
    "trial"
), "tally_different" AS (
  SELECT
    COUNT(*) AS "distinct_trials",
    COALESCE(SUM("times"), 0) AS "rows_with_trial"
  FROM "tally_named"
), "tally_totals" AS (
  SELECT
    "total_rows" AS "total_rows",
    "rows_with_trial" AS "rows_with_trial",
    "distinct_trials" AS "distinct_trials"
  FROM "tally_counted" CROSS JOIN "tally_different"
), "tally_kinds" AS (
  SELECT
    COALESCE("version", '') AS "version",
    COALESCE("case_id", '') AS "case_id",
    COALESCE("result", '') AS "result_text",
    COALESCE("where_1", '') AS "where_1"
  FROM "tally_trials"
), "tally_cells" AS (
  SELECT
    "version" AS "version",
    "case_id" AS "case_id",
    "result_text" AS "result_text",
    "where_1" AS "where_1",
    COUNT(*) AS "n"
  FROM "tally_kinds"
  GROUP BY
    "version",
    "case_id",
    "result_text",
    "where_1"
)
SELECT
  'oloproof-tally/1 compare' AS "tally",
  '' AS "section",
  'fdb3e6c02bad0e770068f25652f4bca189a97656ea4e252f2358b7d2180613b1' AS "counting",
  'warehouse.rows' AS "source",
  "tally_totals"."total_rows" AS "total_rows",
  "tally_cells"."n" AS "n",
  'passed' AS "result",
  "tally_totals"."rows_with_trial" AS "rows_with_trial",
  "tally_totals"."distinct_trials" AS "distinct_trials",
  "tally_cells"."version" AS "version",
  "tally_cells"."case_id" AS "case_id",
  "tally_cells"."result_text" AS "result_text",
  0 AS "scores",
  '' AS "score_sum",
  '' AS "score_least",
  '' AS "score_most",
  "tally_cells"."where_1" AS "where_1"
FROM "tally_cells" CROSS JOIN "tally_totals"

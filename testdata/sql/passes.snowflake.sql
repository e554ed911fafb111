WITH "tally_texts" AS (
  SELECT
    TRIM(CAST("version" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS "version",
    TRIM(CAST("case" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS "case_id",
    TRIM(CAST("trial" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS "trial",
    TRIM(CAST("passed" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS "result",
    TRIM(CAST("level" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS "where_1"
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

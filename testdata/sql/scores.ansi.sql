WITH "tally_texts" AS (
  SELECT
    TRIM(BOTH ' ' FROM CAST("version" AS VARCHAR)) AS "version",
    TRIM(BOTH ' ' FROM CAST("case" AS VARCHAR)) AS "case_id",
    TRIM(BOTH ' ' FROM CAST("score" AS VARCHAR)) AS "result"
  FROM "warehouse"."rows"
), "tally_trials" AS (
  SELECT
    CASE WHEN "version" IN ('', 'NA') THEN NULL ELSE "version" END AS "version",
    CASE WHEN "case_id" IN ('', 'NA') THEN NULL ELSE "case_id" END AS "case_id",
    CASE WHEN "result" IN ('', 'NA') THEN NULL ELSE "result" END AS "result"
  FROM "tally_texts"
), "tally_counted" AS (
  SELECT
    COUNT(*) AS "total_rows"
  FROM "tally_trials"
), "tally_totals" AS (
  SELECT
    "total_rows" AS "total_rows",
    0 AS "rows_with_trial",
    0 AS "distinct_trials"
  FROM "tally_counted"
), "tally_kinds" AS (
  SELECT
    COALESCE("version", '') AS "version",
    COALESCE("case_id", '') AS "case_id",
    COALESCE("result", '') AS "result_text"
  FROM "tally_trials"
), "tally_cells" AS (
  SELECT
    "version" AS "version",
    "case_id" AS "case_id",
    "result_text" AS "result_text",
    COUNT(*) AS "n"
  FROM "tally_kinds"
  GROUP BY
    "version",
    "case_id",
    "result_text"
)
SELECT
  'oloproof-tally/1 compare' AS "tally",
  '' AS "section",
  '860bf471df1b3addceee125f414302b6492b0ed9aebad6a7f6709dfab0ca70c6' AS "counting",
  'warehouse.rows' AS "source",
  "tally_totals"."total_rows" AS "total_rows",
  "tally_cells"."n" AS "n",
  'score' AS "result",
  "tally_totals"."rows_with_trial" AS "rows_with_trial",
  "tally_totals"."distinct_trials" AS "distinct_trials",
  "tally_cells"."version" AS "version",
  "tally_cells"."case_id" AS "case_id",
  "tally_cells"."result_text" AS "result_text",
  0 AS "scores",
  '' AS "score_sum",
  '' AS "score_least",
  '' AS "score_most"
FROM "tally_cells" CROSS JOIN "tally_totals"

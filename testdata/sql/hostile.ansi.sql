WITH "tally_texts" AS (
  SELECT
    TRIM(BOTH ' ' FROM CAST("ïd 日本" AS VARCHAR)) AS "id",
    TRIM(BOTH ' ' FROM CAST("lab'el $$" AS VARCHAR)) AS "label",
    TRIM(BOTH ' ' FROM CAST("pre /* */ --" AS VARCHAR)) AS "prediction",
    TRIM(BOTH ' ' FROM CAST("se""x'; DROP TABLE x; --" AS VARCHAR)) AS "value_1"
  FROM "warehouse"."rows"
), "tally_cases" AS (
  SELECT
    CASE WHEN "id" IN ('', 'a"b`c', 'it''s \') THEN NULL ELSE "id" END AS "id",
    CASE WHEN "label" IN ('', 'a"b`c', 'it''s \') THEN NULL ELSE "label" END AS "label",
    CASE WHEN "prediction" IN ('', 'a"b`c', 'it''s \') THEN NULL ELSE "prediction" END AS "prediction",
    CASE WHEN "value_1" IN ('', 'a"b`c', 'it''s \') THEN NULL ELSE "value_1" END AS "value_1"
  FROM "tally_texts"
), "tally_totals" AS (
  SELECT
    COUNT(*) AS "total_rows",
    COUNT("id") AS "rows_with_id",
    COUNT(DISTINCT "id") AS "distinct_ids",
    0 AS "rows_with_unit",
    0 AS "distinct_units"
  FROM "tally_cases"
), "tally_kinds" AS (
  SELECT
    COALESCE("label", '') AS "label",
    COALESCE("prediction", '') AS "prediction",
    '' AS "bin",
    '' AS "probability",
    '' AS "group_1",
    COALESCE("value_1", '') AS "value_1"
  FROM "tally_cases"
), "tally_cells" AS (
  SELECT
    "label" AS "label",
    "prediction" AS "prediction",
    "bin" AS "bin",
    "probability" AS "probability",
    "group_1" AS "group_1",
    "value_1" AS "value_1",
    COUNT(*) AS "n"
  FROM "tally_kinds"
  GROUP BY
    "label",
    "prediction",
    "bin",
    "probability",
    "group_1",
    "value_1"
)
SELECT
  'oloproof-tally/1 fairness' AS "tally",
  'o''r\ " ; --' AS "section",
  'a874f0b6aa45b187b64a09d0a9379007b3f396c8d7cfd3147c0d0b3fefa95c3a' AS "counting",
  'warehouse.rows' AS "source",
  "tally_totals"."total_rows" AS "total_rows",
  "tally_cells"."n" AS "n",
  "tally_totals"."rows_with_id" AS "rows_with_id",
  "tally_totals"."distinct_ids" AS "distinct_ids",
  "tally_totals"."rows_with_unit" AS "rows_with_unit",
  "tally_totals"."distinct_units" AS "distinct_units",
  "tally_cells"."label" AS "label",
  "tally_cells"."prediction" AS "prediction",
  "tally_cells"."bin" AS "bin",
  '' AS "probabilities",
  "tally_cells"."probability" AS "probability",
  "tally_cells"."group_1" AS "group_1",
  "tally_cells"."value_1" AS "value_1"
FROM "tally_cells" CROSS JOIN "tally_totals"

WITH "tally_texts" AS (
  SELECT
    TRIM(BOTH ' ' FROM CAST("id" AS VARCHAR)) AS "id",
    TRIM(BOTH ' ' FROM CAST("label" AS VARCHAR)) AS "label",
    TRIM(BOTH ' ' FROM CAST("prediction" AS VARCHAR)) AS "prediction",
    TRIM(BOTH ' ' FROM CAST("score" AS VARCHAR)) AS "probability",
    TRIM(BOTH ' ' FROM CAST("person" AS VARCHAR)) AS "unit",
    TRIM(BOTH ' ' FROM CAST("sex" AS VARCHAR)) AS "value_1",
    TRIM(BOTH ' ' FROM CAST("age" AS VARCHAR)) AS "value_2",
    TRIM(BOTH ' ' FROM CAST("re""gion, ;--" AS VARCHAR)) AS "where_2",
    TRIM(BOTH ' ' FROM CAST("area" AS VARCHAR)) AS "where_1"
  FROM "warehouse"."rows"
), "tally_cases" AS (
  SELECT
    CASE WHEN "id" IN ('', 'NA') THEN NULL ELSE "id" END AS "id",
    CASE WHEN "label" IN ('', 'NA') THEN NULL ELSE "label" END AS "label",
    CASE WHEN "prediction" IN ('', 'NA') THEN NULL ELSE "prediction" END AS "prediction",
    CASE WHEN "probability" IN ('', 'NA') THEN NULL ELSE "probability" END AS "probability",
    CASE WHEN "unit" IN ('', 'NA') THEN NULL ELSE "unit" END AS "unit",
    CASE WHEN "value_1" IN ('', 'NA') THEN NULL ELSE "value_1" END AS "value_1",
    CASE WHEN "value_2" IN ('', 'NA') THEN NULL ELSE "value_2" END AS "value_2",
    CASE WHEN "where_2" IN ('', 'NA') THEN NULL ELSE "where_2" END AS "where_2",
    CASE WHEN "where_1" IN ('', 'NA') THEN NULL ELSE "where_1" END AS "where_1"
  FROM "tally_texts"
), "tally_totals" AS (
  SELECT
    COUNT(*) AS "total_rows",
    COUNT("id") AS "rows_with_id",
    COUNT(DISTINCT "id") AS "distinct_ids",
    COUNT("unit") AS "rows_with_unit",
    COUNT(DISTINCT "unit") AS "distinct_units"
  FROM "tally_cases"
), "tally_kinds" AS (
  SELECT
    COALESCE("label", '') AS "label",
    COALESCE("prediction", '') AS "prediction",
    '' AS "bin",
    COALESCE("probability", '') AS "probability",
    '' AS "group_1",
    COALESCE("value_1", '') AS "value_1",
    '' AS "group_2",
    COALESCE("value_2", '') AS "value_2",
    COALESCE("where_1", '') AS "where_1",
    COALESCE("where_2", '') AS "where_2"
  FROM "tally_cases"
), "tally_cells" AS (
  SELECT
    "label" AS "label",
    "prediction" AS "prediction",
    "bin" AS "bin",
    "probability" AS "probability",
    "group_1" AS "group_1",
    "value_1" AS "value_1",
    "group_2" AS "group_2",
    "value_2" AS "value_2",
    "where_1" AS "where_1",
    "where_2" AS "where_2",
    COUNT(*) AS "n"
  FROM "tally_kinds"
  GROUP BY
    "label",
    "prediction",
    "bin",
    "probability",
    "group_1",
    "value_1",
    "group_2",
    "value_2",
    "where_1",
    "where_2"
)
SELECT
  'oloproof-tally/1 fairness' AS "tally",
  'every' AS "section",
  '4a881645519c97e91b5a30960b0bc8e2968ca80d595bf2d76c5ef0c77e171242' AS "counting",
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
  "tally_cells"."value_1" AS "value_1",
  "tally_cells"."group_2" AS "group_2",
  "tally_cells"."value_2" AS "value_2",
  "tally_cells"."where_1" AS "where_1",
  "tally_cells"."where_2" AS "where_2"
FROM "tally_cells" CROSS JOIN "tally_totals"

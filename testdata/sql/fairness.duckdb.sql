WITH "tally_texts" AS (
  SELECT
    regexp_replace(CAST("id" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "id",
    regexp_replace(CAST("label" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "label",
    regexp_replace(CAST("prediction" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "prediction",
    regexp_replace(CAST("score" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "probability",
    regexp_replace(CAST("person" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "unit",
    regexp_replace(CAST("sex" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "value_1",
    regexp_replace(CAST("age" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "value_2",
    regexp_replace(CAST("re""gion, ;--" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "where_2",
    regexp_replace(CAST("area" AS VARCHAR), '^[\t-\r\x{85}\pZ]+|[\t-\r\x{85}\pZ]+$', '', 'g') AS "where_1"
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
), "tally_numbers" AS (
  SELECT
    *,
    CASE WHEN regexp_full_match("probability", '[0-9]{1,19}([.][0-9]{1,18})?') THEN TRY_CAST("probability" AS DECIMAL(38,18)) END AS "probability_number",
    CASE WHEN regexp_full_match("value_2", '-?[0-9]{1,19}([.][0-9]{1,18})?') THEN TRY_CAST("value_2" AS DECIMAL(38,18)) END AS "value_2_number"
  FROM "tally_cases"
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
    CASE WHEN "probability_number" <= 1 THEN CASE WHEN "probability_number" < 0.333333333333333334 THEN '0' WHEN "probability_number" < 0.666666666666666667 THEN '1' ELSE '2' END ELSE '' END AS "bin",
    CASE WHEN "probability_number" <= 1 THEN '' ELSE COALESCE("probability", '') END AS "probability",
    CASE WHEN "probability_number" <= 1 THEN "probability_number" END AS "summed",
    '' AS "group_1",
    COALESCE("value_1", '') AS "value_1",
    CASE WHEN "value_2_number" IS NULL THEN '' ELSE CASE WHEN "value_2_number" < 30 THEN '0' WHEN "value_2_number" < 60.5 THEN '1' ELSE '2' END END AS "group_2",
    CASE WHEN "value_2_number" IS NULL THEN COALESCE("value_2", '') ELSE '' END AS "value_2",
    COALESCE("where_1", '') AS "where_1",
    COALESCE("where_2", '') AS "where_2"
  FROM "tally_numbers"
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
    COUNT(*) AS "n",
    SUM("summed") AS "sum"
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
  COALESCE(CAST("tally_cells"."sum" AS VARCHAR), '') AS "probabilities",
  "tally_cells"."probability" AS "probability",
  "tally_cells"."group_1" AS "group_1",
  "tally_cells"."value_1" AS "value_1",
  "tally_cells"."group_2" AS "group_2",
  "tally_cells"."value_2" AS "value_2",
  "tally_cells"."where_1" AS "where_1",
  "tally_cells"."where_2" AS "where_2"
FROM "tally_cells" CROSS JOIN "tally_totals"

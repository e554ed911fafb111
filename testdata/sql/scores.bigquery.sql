WITH tally_texts AS (
  SELECT
    TRIM(CAST(`version` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `version`,
    TRIM(CAST(`case` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `case_id`,
    TRIM(CAST(`score` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `result`
  FROM `warehouse`.`rows`
), tally_trials AS (
  SELECT
    CASE WHEN `version` IN ('', 'NA') THEN NULL ELSE `version` END AS `version`,
    CASE WHEN `case_id` IN ('', 'NA') THEN NULL ELSE `case_id` END AS `case_id`,
    CASE WHEN `result` IN ('', 'NA') THEN NULL ELSE `result` END AS `result`
  FROM tally_texts
), tally_numbers AS (
  SELECT
    *,
    CASE WHEN REGEXP_CONTAINS(`result`, '^([0-9]{1,19}([.][0-9]{1,18})?)$') THEN PARSE_BIGNUMERIC(`result`) END AS `number`
  FROM tally_trials
), tally_counted AS (
  SELECT
    COUNT(*) AS `total_rows`
  FROM tally_trials
), tally_totals AS (
  SELECT
    `total_rows` AS `total_rows`,
    0 AS `rows_with_trial`,
    0 AS `distinct_trials`
  FROM tally_counted
), tally_kinds AS (
  SELECT
    COALESCE(`version`, '') AS `version`,
    COALESCE(`case_id`, '') AS `case_id`,
    CASE WHEN `number` <= PARSE_BIGNUMERIC('1') THEN '' ELSE COALESCE(`result`, '') END AS `result_text`,
    CASE WHEN `number` <= PARSE_BIGNUMERIC('1') THEN `number` END AS `summed`
  FROM tally_numbers
), tally_cells AS (
  SELECT
    `version` AS `version`,
    `case_id` AS `case_id`,
    `result_text` AS `result_text`,
    COUNT(*) AS `n`,
    COUNT(`summed`) AS `scores`,
    SUM(`summed`) AS `score_sum`,
    MIN(`summed`) AS `score_least`,
    MAX(`summed`) AS `score_most`
  FROM tally_kinds
  GROUP BY
    `version`,
    `case_id`,
    `result_text`
)
SELECT
  'oloproof-tally/1 compare' AS `tally`,
  '' AS `section`,
  '860bf471df1b3addceee125f414302b6492b0ed9aebad6a7f6709dfab0ca70c6' AS `counting`,
  'warehouse.rows' AS `source`,
  tally_totals.`total_rows` AS `total_rows`,
  tally_cells.`n` AS `n`,
  'score' AS `result`,
  tally_totals.`rows_with_trial` AS `rows_with_trial`,
  tally_totals.`distinct_trials` AS `distinct_trials`,
  tally_cells.`version` AS `version`,
  tally_cells.`case_id` AS `case_id`,
  tally_cells.`result_text` AS `result_text`,
  tally_cells.`scores` AS `scores`,
  COALESCE(CAST(tally_cells.`score_sum` AS STRING), '') AS `score_sum`,
  COALESCE(CAST(tally_cells.`score_least` AS STRING), '') AS `score_least`,
  COALESCE(CAST(tally_cells.`score_most` AS STRING), '') AS `score_most`
FROM tally_cells CROSS JOIN tally_totals

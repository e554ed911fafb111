WITH tally_texts AS (
  SELECT
    btrim(CAST(`id` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `id`,
    btrim(CAST(`label` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `label`,
    btrim(CAST(`prediction` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `prediction`,
    btrim(CAST(`score` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `probability`,
    btrim(CAST(`person` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `unit`,
    btrim(CAST(`sex` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `value_1`,
    btrim(CAST(`age` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `value_2`,
    btrim(CAST(`re"gion, ;--` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `where_2`,
    btrim(CAST(`area` AS STRING), '\u0009\u000a\u000b\u000c\u000d \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000') AS `where_1`
  FROM `warehouse`.`rows`
), tally_cases AS (
  SELECT
    CASE WHEN `id` IN ('', 'NA') THEN NULL ELSE `id` END AS `id`,
    CASE WHEN `label` IN ('', 'NA') THEN NULL ELSE `label` END AS `label`,
    CASE WHEN `prediction` IN ('', 'NA') THEN NULL ELSE `prediction` END AS `prediction`,
    CASE WHEN `probability` IN ('', 'NA') THEN NULL ELSE `probability` END AS `probability`,
    CASE WHEN `unit` IN ('', 'NA') THEN NULL ELSE `unit` END AS `unit`,
    CASE WHEN `value_1` IN ('', 'NA') THEN NULL ELSE `value_1` END AS `value_1`,
    CASE WHEN `value_2` IN ('', 'NA') THEN NULL ELSE `value_2` END AS `value_2`,
    CASE WHEN `where_2` IN ('', 'NA') THEN NULL ELSE `where_2` END AS `where_2`,
    CASE WHEN `where_1` IN ('', 'NA') THEN NULL ELSE `where_1` END AS `where_1`
  FROM tally_texts
), tally_numbers AS (
  SELECT
    *,
    CASE WHEN `probability` RLIKE '^([0-9]{1,19}([.][0-9]{1,18})?)$' THEN CAST(`probability` AS DECIMAL(38,18)) END AS `probability_number`,
    CASE WHEN `value_2` RLIKE '^(-?[0-9]{1,19}([.][0-9]{1,18})?)$' THEN CAST(`value_2` AS DECIMAL(38,18)) END AS `value_2_number`
  FROM tally_cases
), tally_totals AS (
  SELECT
    COUNT(*) AS `total_rows`,
    COUNT(`id`) AS `rows_with_id`,
    COUNT(DISTINCT `id`) AS `distinct_ids`,
    COUNT(`unit`) AS `rows_with_unit`,
    COUNT(DISTINCT `unit`) AS `distinct_units`
  FROM tally_cases
), tally_kinds AS (
  SELECT
    COALESCE(`label`, '') AS `label`,
    COALESCE(`prediction`, '') AS `prediction`,
    CASE WHEN `probability_number` <= 1 THEN CASE WHEN `probability_number` < 0.333333333333333334 THEN '0' WHEN `probability_number` < 0.666666666666666667 THEN '1' ELSE '2' END ELSE '' END AS `bin`,
    CASE WHEN `probability_number` <= 1 THEN '' ELSE COALESCE(`probability`, '') END AS `probability`,
    CASE WHEN `probability_number` <= 1 THEN `probability_number` END AS `summed`,
    '' AS `group_1`,
    COALESCE(`value_1`, '') AS `value_1`,
    CASE WHEN `value_2_number` IS NULL THEN '' ELSE CASE WHEN `value_2_number` < 30 THEN '0' WHEN `value_2_number` < 60.5 THEN '1' ELSE '2' END END AS `group_2`,
    CASE WHEN `value_2_number` IS NULL THEN COALESCE(`value_2`, '') ELSE '' END AS `value_2`,
    COALESCE(`where_1`, '') AS `where_1`,
    COALESCE(`where_2`, '') AS `where_2`
  FROM tally_numbers
), tally_cells AS (
  SELECT
    `label` AS `label`,
    `prediction` AS `prediction`,
    `bin` AS `bin`,
    `probability` AS `probability`,
    `group_1` AS `group_1`,
    `value_1` AS `value_1`,
    `group_2` AS `group_2`,
    `value_2` AS `value_2`,
    `where_1` AS `where_1`,
    `where_2` AS `where_2`,
    COUNT(*) AS `n`,
    SUM(`summed`) AS `sum`
  FROM tally_kinds
  GROUP BY
    `label`,
    `prediction`,
    `bin`,
    `probability`,
    `group_1`,
    `value_1`,
    `group_2`,
    `value_2`,
    `where_1`,
    `where_2`
)
SELECT
  'oloproof-tally/1 fairness' AS `tally`,
  'every' AS `section`,
  '4a881645519c97e91b5a30960b0bc8e2968ca80d595bf2d76c5ef0c77e171242' AS `counting`,
  'warehouse.rows' AS `source`,
  tally_totals.`total_rows` AS `total_rows`,
  tally_cells.`n` AS `n`,
  tally_totals.`rows_with_id` AS `rows_with_id`,
  tally_totals.`distinct_ids` AS `distinct_ids`,
  tally_totals.`rows_with_unit` AS `rows_with_unit`,
  tally_totals.`distinct_units` AS `distinct_units`,
  tally_cells.`label` AS `label`,
  tally_cells.`prediction` AS `prediction`,
  tally_cells.`bin` AS `bin`,
  COALESCE(CAST(tally_cells.`sum` AS STRING), '') AS `probabilities`,
  tally_cells.`probability` AS `probability`,
  tally_cells.`group_1` AS `group_1`,
  tally_cells.`value_1` AS `value_1`,
  tally_cells.`group_2` AS `group_2`,
  tally_cells.`value_2` AS `value_2`,
  tally_cells.`where_1` AS `where_1`,
  tally_cells.`where_2` AS `where_2`
FROM tally_cells CROSS JOIN tally_totals

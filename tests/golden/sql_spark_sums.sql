-- Spark 4.1 or later, Databricks Runtime 18 or later. Sail runs it too.
WITH input AS (
  SELECT
    CAST(`id` AS BIGINT) AS k,
    NULLIF(CAST(`churned` AS DOUBLE), CAST('NaN' AS DOUBLE)) AS y,
    CAST(`vip` AS INT) AS f0,
    NULLIF(CAST(`age` AS DOUBLE), CAST('NaN' AS DOUBLE)) AS f1,
    NULLIF(CAST(`colour` AS STRING), '') AS f2,
    NULLIF(CAST(`size` AS STRING), '') AS f3,
    NULLIF(CAST(`tag` AS STRING), '') AS f4,
    CAST(`odd "``\\name` AS INT) AS f5
  FROM crm.customers
),
keyed AS (
  SELECT * FROM input WHERE k IS NOT NULL AND y IS NOT NULL
),
wide AS (
  SELECT
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) AS s0,
    COUNT(DISTINCT k) AS n0,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f0 = 1) AS s1,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f1 <= 30.0) AS s2,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f1 <= 40.5) AS s3,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f1 IS NOT NULL) AS s4,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g4,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f2 IS NOT NULL) AS s5,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g5,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f3 = 'S') AS s6,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f3 = 'it\'s \\') AS s7,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f3 NOT IN ('S', 'it\'s \\')) AS s8,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f3 IS NOT NULL) AS s9,
    COUNT(CASE WHEN f3 IS NULL THEN 1 END) AS g9,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f4 IS NOT NULL) AS s10,
    COUNT(CASE WHEN f4 IS NULL THEN 1 END) AS g10,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f5 = 1) AS s11,
    TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) FILTER (WHERE f5 IS NOT NULL) AS s12,
    COUNT(CASE WHEN f5 IS NULL THEN 1 END) AS g12
  FROM keyed
),
lines AS (
  SELECT CAST(NULL AS STRING) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  LATERAL VIEW INLINE(ARRAY(
    NAMED_STRUCT('feature', CAST(NULL AS STRING), 'value', CAST(NULL AS STRING), 'sketch', s0, 'n', CAST(n0 AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'vip', 'value', '1', 'sketch', s1, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'age', 'value', '<=30', 'sketch', s2, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'age', 'value', '<=40.5', 'sketch', s3, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'age', 'value', CAST(NULL AS STRING), 'sketch', s4, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g4 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'colour', 'value', CAST(NULL AS STRING), 'sketch', s5, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g5 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'size', 'value', 'S', 'sketch', s6, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'size', 'value', 'it\'s \\', 'sketch', s7, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'size', 'value', 'other', 'sketch', s8, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'size', 'value', CAST(NULL AS STRING), 'sketch', s9, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g9 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'tag', 'value', CAST(NULL AS STRING), 'sketch', s10, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g10 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'odd "`\\name', 'value', '1', 'sketch', s11, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'odd "`\\name', 'value', CAST(NULL AS STRING), 'sketch', s12, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g12 > 0 THEN 1 ELSE 0 END)
  )) u AS feature, value, sketch, n, kept
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT CAST(NULL AS STRING) AS class, 'colour' AS feature, f2 AS value, TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) AS sketch, CAST(NULL AS BIGINT) AS n
FROM keyed
WHERE f2 IS NOT NULL
GROUP BY f2
UNION ALL
SELECT CAST(NULL AS STRING) AS class, 'tag' AS feature, f4 AS value, TUPLE_SKETCH_AGG_DOUBLE(k, y, 12) AS sketch, CAST(NULL AS BIGINT) AS n
FROM keyed
WHERE f4 IS NOT NULL
GROUP BY f4

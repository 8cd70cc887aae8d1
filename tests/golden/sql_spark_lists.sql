-- Spark 4.1 or later, Databricks Runtime 18 or later. Sail runs it too.
WITH input AS (
  SELECT
    CAST(`id` AS BIGINT) AS k,
    NULLIF(CAST(`churned` AS STRING), '') AS c,
    ARRAY_EXCEPT(CAST(`tags` AS ARRAY<STRING>), ARRAY('', CAST(NULL AS STRING))) AS f0,
    ARRAY_EXCEPT(SPLIT(NULLIF(CAST(`codes` AS STRING), ''), '\\|'), ARRAY('', CAST(NULL AS STRING))) AS f1,
    ARRAY_EXCEPT(SPLIT(NULLIF(CAST(`few` AS STRING), ''), ',\\ '), ARRAY('', CAST(NULL AS STRING))) AS f2
  FROM crm.customers
),
keyed AS (
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    THETA_SKETCH_AGG(k, 12) AS s0,
    COUNT(DISTINCT k) AS n0,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s1,
    COUNT(CASE WHEN f0 IS NULL THEN 1 END) AS g1,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f1 IS NOT NULL) AS s2,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g2,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE ARRAY_CONTAINS(f2, 'S')) AS s3,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE ARRAY_CONTAINS(f2, 'it\'s \\')) AS s4,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE SIZE(ARRAY_EXCEPT(f2, ARRAY('S', 'it\'s \\', '', CAST(NULL AS STRING)))) > 0) AS s5,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f2 IS NOT NULL) AS s6,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g6
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  LATERAL VIEW INLINE(ARRAY(
    NAMED_STRUCT('feature', CAST(NULL AS STRING), 'value', CAST(NULL AS STRING), 'sketch', s0, 'n', CAST(n0 AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'tags', 'value', CAST(NULL AS STRING), 'sketch', s1, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g1 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'codes', 'value', CAST(NULL AS STRING), 'sketch', s2, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g2 > 0 THEN 1 ELSE 0 END),
    NAMED_STRUCT('feature', 'few', 'value', 'S', 'sketch', s3, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'few', 'value', 'it\'s \\', 'sketch', s4, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'few', 'value', 'other', 'sketch', s5, 'n', CAST(NULL AS BIGINT), 'kept', 1),
    NAMED_STRUCT('feature', 'few', 'value', CAST(NULL AS STRING), 'sketch', s6, 'n', CAST(NULL AS BIGINT), 'kept', CASE WHEN g6 > 0 THEN 1 ELSE 0 END)
  )) u AS feature, value, sketch, n, kept
),
each_0 AS (
  SELECT c, k, EXPLODE(f0) AS e0 FROM keyed
),
each_1 AS (
  SELECT c, k, EXPLODE(f1) AS e1 FROM keyed
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, THETA_SKETCH_AGG(k, 12) AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_0
WHERE e0 IS NOT NULL
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, THETA_SKETCH_AGG(k, 12) AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_1
WHERE e1 <> ''
GROUP BY c, e1

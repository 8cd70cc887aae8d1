-- Spark 4.1 or later, Databricks Runtime 18 or later. Sail runs it too.
WITH input0 AS (
  SELECT
    CAST(`id` AS BIGINT) AS k,
    NULLIF(CAST(`churned` AS STRING), '') AS c,
    CAST(`vip` AS INT) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT * FROM input0 WHERE k IS NOT NULL
),
wide0 AS (
  SELECT
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f0 = 1) AS s0,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s1
  FROM keyed0
),
lines0 AS (
  SELECT CAST(NULL AS STRING) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide0
  LATERAL VIEW INLINE(ARRAY(
    NAMED_STRUCT('feature', 'vip', 'value', '1', 'sketch', s0),
    NAMED_STRUCT('feature', 'vip', 'value', CAST(NULL AS STRING), 'sketch', s1)
  )) u AS feature, value, sketch
),
input1 AS (
  SELECT
    CAST(`id` AS BIGINT) AS k,
    NULLIF(CAST(`page` AS STRING), '') AS f0,
    CAST(`night` AS INT) AS f1
  FROM web.visits
),
keyed1 AS (
  SELECT * FROM input1 WHERE k IS NOT NULL
),
wide1 AS (
  SELECT
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s0,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f1 = 1) AS s1,
    THETA_SKETCH_AGG(k, 12) FILTER (WHERE f1 IS NOT NULL) AS s2
  FROM keyed1
),
lines1 AS (
  SELECT CAST(NULL AS STRING) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide1
  LATERAL VIEW INLINE(ARRAY(
    NAMED_STRUCT('feature', 'page', 'value', CAST(NULL AS STRING), 'sketch', s0),
    NAMED_STRUCT('feature', 'night', 'value', '1', 'sketch', s1),
    NAMED_STRUCT('feature', 'night', 'value', CAST(NULL AS STRING), 'sketch', s2)
  )) u AS feature, value, sketch
)
SELECT class, feature, value, sketch
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, THETA_SKETCH_AGG(k, 12) AS sketch
FROM keyed0
WHERE c IS NOT NULL
GROUP BY c
UNION ALL
SELECT class, feature, value, sketch
FROM lines1
UNION ALL
SELECT CAST(NULL AS STRING) AS class, 'page' AS feature, f0 AS value, THETA_SKETCH_AGG(k, 12) AS sketch
FROM keyed1
WHERE f0 IS NOT NULL
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS STRING) AS class, CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, THETA_SKETCH_AGG(k, 12) AS sketch
FROM (SELECT k FROM keyed0 UNION ALL SELECT k FROM keyed1) AS everybody

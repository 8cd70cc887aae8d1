-- First: INSTALL datasketches FROM community; LOAD datasketches;
WITH input0 AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("churned" AS VARCHAR), '') AS c,
    CAST("vip" AS INT) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT * FROM input0 WHERE k IS NOT NULL
),
wide0 AS (
  SELECT
    DATASKETCH_THETA(12, k) FILTER (WHERE f0 = 1) AS s0,
    DATASKETCH_THETA(12, k) FILTER (WHERE f0 IS NOT NULL) AS s1
  FROM keyed0
),
lines0 AS (
  SELECT CAST(NULL AS VARCHAR) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide0
  CROSS JOIN LATERAL UNNEST([
    {'feature': 'vip', 'value': '1', 'sketch': CAST(s0 AS BLOB)},
    {'feature': 'vip', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s1 AS BLOB)}
  ]) AS lines(u)
),
input1 AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("page" AS VARCHAR), '') AS f0,
    CAST("night" AS INT) AS f1
  FROM web.visits
),
keyed1 AS (
  SELECT * FROM input1 WHERE k IS NOT NULL
),
wide1 AS (
  SELECT
    DATASKETCH_THETA(12, k) FILTER (WHERE f0 IS NOT NULL) AS s0,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 = 1) AS s1,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 IS NOT NULL) AS s2
  FROM keyed1
),
lines1 AS (
  SELECT CAST(NULL AS VARCHAR) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide1
  CROSS JOIN LATERAL UNNEST([
    {'feature': 'page', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s0 AS BLOB)},
    {'feature': 'night', 'value': '1', 'sketch': CAST(s1 AS BLOB)},
    {'feature': 'night', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s2 AS BLOB)}
  ]) AS lines(u)
)
SELECT class, feature, value, sketch
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS VARCHAR) AS feature, CAST(NULL AS VARCHAR) AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch
FROM keyed0
WHERE c IS NOT NULL
GROUP BY c
UNION ALL
SELECT class, feature, value, sketch
FROM lines1
UNION ALL
SELECT CAST(NULL AS VARCHAR) AS class, 'page' AS feature, f0 AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch
FROM keyed1
WHERE f0 IS NOT NULL
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS VARCHAR) AS class, CAST(NULL AS VARCHAR) AS feature, CAST(NULL AS VARCHAR) AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch
FROM (SELECT k FROM keyed0 UNION ALL SELECT k FROM keyed1) AS everybody

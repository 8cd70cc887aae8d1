-- First: CREATE EXTENSION datasketches; (Apache DataSketches for PostgreSQL)
WITH input0 AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("churned" AS TEXT), '') AS c,
    CAST("vip" AS INT) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT * FROM input0 WHERE k IS NOT NULL
),
wide0 AS (
  SELECT
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f0 = 1) AS s0,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s1
  FROM keyed0
),
lines0 AS (
  SELECT CAST(NULL AS TEXT) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide0
  CROSS JOIN LATERAL (VALUES
    ('vip', '1', ENCODE(CAST(s0 AS BYTEA), 'hex')),
    ('vip', CAST(NULL AS TEXT), ENCODE(CAST(s1 AS BYTEA), 'hex'))
  ) AS u(feature, value, sketch)
),
input1 AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("page" AS TEXT), '') AS f0,
    CAST("night" AS INT) AS f1
  FROM web.visits
),
keyed1 AS (
  SELECT * FROM input1 WHERE k IS NOT NULL
),
wide1 AS (
  SELECT
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s0,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f1 = 1) AS s1,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f1 IS NOT NULL) AS s2
  FROM keyed1
),
lines1 AS (
  SELECT CAST(NULL AS TEXT) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide1
  CROSS JOIN LATERAL (VALUES
    ('page', CAST(NULL AS TEXT), ENCODE(CAST(s0 AS BYTEA), 'hex')),
    ('night', '1', ENCODE(CAST(s1 AS BYTEA), 'hex')),
    ('night', CAST(NULL AS TEXT), ENCODE(CAST(s2 AS BYTEA), 'hex'))
  ) AS u(feature, value, sketch)
)
SELECT class, feature, value, sketch
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS TEXT) AS feature, CAST(NULL AS TEXT) AS value, ENCODE(CAST(THETA_SKETCH_BUILD(k, 12) AS BYTEA), 'hex') AS sketch
FROM keyed0
WHERE c IS NOT NULL
GROUP BY c
UNION ALL
SELECT class, feature, value, sketch
FROM lines1
UNION ALL
SELECT CAST(NULL AS TEXT) AS class, 'page' AS feature, f0 AS value, ENCODE(CAST(THETA_SKETCH_BUILD(k, 12) AS BYTEA), 'hex') AS sketch
FROM keyed1
WHERE f0 IS NOT NULL
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS TEXT) AS class, CAST(NULL AS TEXT) AS feature, CAST(NULL AS TEXT) AS value, ENCODE(CAST(THETA_SKETCH_BUILD(k, 12) AS BYTEA), 'hex') AS sketch
FROM (SELECT k FROM keyed0 UNION ALL SELECT k FROM keyed1) AS everybody

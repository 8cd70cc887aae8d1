-- A build with DataSketches, as the official ones are; uniqThetaState is always of lg_k 12.
WITH input0 AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("churned" AS Nullable(String)), '') AS c,
    CAST("vip" AS Nullable(Int32)) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT * FROM input0 WHERE k IS NOT NULL
),
wide0 AS (
  SELECT
    uniqThetaStateIf(assumeNotNull(k), ifNull(f0 = 1, 0)) AS s0,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f0 IS NOT NULL, 0)) AS s1
  FROM keyed0
),
lines0 AS (
  SELECT CAST(NULL AS Nullable(String)) AS class, u.1 AS feature, u.2 AS value, u.3 AS sketch
  FROM wide0
  ARRAY JOIN [
    ('vip', '1', hex(s0)),
    ('vip', CAST(NULL AS Nullable(String)), hex(s1))
  ] AS u
),
input1 AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("page" AS Nullable(String)), '') AS f0,
    CAST("night" AS Nullable(Int32)) AS f1
  FROM web.visits
),
keyed1 AS (
  SELECT * FROM input1 WHERE k IS NOT NULL
),
wide1 AS (
  SELECT
    uniqThetaStateIf(assumeNotNull(k), ifNull(f0 IS NOT NULL, 0)) AS s0,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f1 = 1, 0)) AS s1,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f1 IS NOT NULL, 0)) AS s2
  FROM keyed1
),
lines1 AS (
  SELECT CAST(NULL AS Nullable(String)) AS class, u.1 AS feature, u.2 AS value, u.3 AS sketch
  FROM wide1
  ARRAY JOIN [
    ('page', CAST(NULL AS Nullable(String)), hex(s0)),
    ('night', '1', hex(s1)),
    ('night', CAST(NULL AS Nullable(String)), hex(s2))
  ] AS u
)
SELECT class, feature, value, sketch
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS Nullable(String)) AS feature, CAST(NULL AS Nullable(String)) AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch
FROM keyed0
WHERE c IS NOT NULL
GROUP BY c
UNION ALL
SELECT class, feature, value, sketch
FROM lines1
UNION ALL
SELECT CAST(NULL AS Nullable(String)) AS class, 'page' AS feature, f0 AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch
FROM keyed1
WHERE f0 IS NOT NULL
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS Nullable(String)) AS class, CAST(NULL AS Nullable(String)) AS feature, CAST(NULL AS Nullable(String)) AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch
FROM (SELECT k FROM keyed0 UNION ALL SELECT k FROM keyed1) AS everybody

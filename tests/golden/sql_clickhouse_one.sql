-- A build with DataSketches, as the official ones are; uniqThetaState is always of lg_k 12.
WITH input AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("churned" AS Nullable(String)), '') AS c,
    CAST("vip" AS Nullable(Int32)) AS f0,
    IF(isNaN(CAST("age" AS Nullable(Float64))), NULL, CAST("age" AS Nullable(Float64))) AS f1,
    NULLIF(CAST("colour" AS Nullable(String)), '') AS f2,
    NULLIF(CAST("size" AS Nullable(String)), '') AS f3,
    NULLIF(CAST("tag" AS Nullable(String)), '') AS f4,
    CAST("odd \"`\\name" AS Nullable(Int32)) AS f5
  FROM crm.customers
),
keyed AS (
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    uniqThetaState(assumeNotNull(k)) AS s0,
    COUNT(DISTINCT k) AS n0,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f0 = 1, 0)) AS s1,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f1 <= 30.0, 0)) AS s2,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f1 <= 40.5, 0)) AS s3,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f1 IS NOT NULL, 0)) AS s4,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g4,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f2 IS NOT NULL, 0)) AS s5,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g5,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f3 = 'S', 0)) AS s6,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f3 = 'it\'s \\', 0)) AS s7,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f3 NOT IN ('S', 'it\'s \\'), 0)) AS s8,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f3 IS NOT NULL, 0)) AS s9,
    COUNT(CASE WHEN f3 IS NULL THEN 1 END) AS g9,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f4 IS NOT NULL, 0)) AS s10,
    COUNT(CASE WHEN f4 IS NULL THEN 1 END) AS g10,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f5 = 1, 0)) AS s11,
    uniqThetaStateIf(assumeNotNull(k), ifNull(f5 IS NOT NULL, 0)) AS s12,
    COUNT(CASE WHEN f5 IS NULL THEN 1 END) AS g12
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.1 AS feature, u.2 AS value, u.3 AS sketch, u.4 AS n, u.5 AS kept
  FROM wide
  ARRAY JOIN [
    (CAST(NULL AS Nullable(String)), CAST(NULL AS Nullable(String)), hex(s0), CAST(n0 AS Nullable(Int64)), 1),
    ('vip', '1', hex(s1), CAST(NULL AS Nullable(Int64)), 1),
    ('age', '<=30', hex(s2), CAST(NULL AS Nullable(Int64)), 1),
    ('age', '<=40.5', hex(s3), CAST(NULL AS Nullable(Int64)), 1),
    ('age', CAST(NULL AS Nullable(String)), hex(s4), CAST(NULL AS Nullable(Int64)), CASE WHEN g4 > 0 THEN 1 ELSE 0 END),
    ('colour', CAST(NULL AS Nullable(String)), hex(s5), CAST(NULL AS Nullable(Int64)), CASE WHEN g5 > 0 THEN 1 ELSE 0 END),
    ('size', 'S', hex(s6), CAST(NULL AS Nullable(Int64)), 1),
    ('size', 'it\'s \\', hex(s7), CAST(NULL AS Nullable(Int64)), 1),
    ('size', 'other', hex(s8), CAST(NULL AS Nullable(Int64)), 1),
    ('size', CAST(NULL AS Nullable(String)), hex(s9), CAST(NULL AS Nullable(Int64)), CASE WHEN g9 > 0 THEN 1 ELSE 0 END),
    ('tag', CAST(NULL AS Nullable(String)), hex(s10), CAST(NULL AS Nullable(Int64)), CASE WHEN g10 > 0 THEN 1 ELSE 0 END),
    ('odd "`\\name', '1', hex(s11), CAST(NULL AS Nullable(Int64)), 1),
    ('odd "`\\name', CAST(NULL AS Nullable(String)), hex(s12), CAST(NULL AS Nullable(Int64)), CASE WHEN g12 > 0 THEN 1 ELSE 0 END)
  ] AS u
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'colour' AS feature, f2 AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch, CAST(NULL AS Nullable(Int64)) AS n
FROM keyed
WHERE f2 IS NOT NULL
GROUP BY c, f2
UNION ALL
SELECT c AS class, 'tag' AS feature, f4 AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch, CAST(NULL AS Nullable(Int64)) AS n
FROM keyed
WHERE f4 IS NOT NULL
GROUP BY c, f4

-- A build with DataSketches, as the official ones are; uniqThetaState is always of lg_k 12.
WITH input AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("churned" AS Nullable(String)), '') AS c,
    arrayDistinct(arrayFilter(e -> e <> '', arrayMap(e -> ifNull(toString(e), ''), "tags"))) AS f0,
    IF(NULLIF(CAST("codes" AS Nullable(String)), '') IS NULL, [''], arrayDistinct(arrayFilter(e -> e <> '', arrayMap(e -> ifNull(toString(e), ''), splitByString('|', assumeNotNull(NULLIF(CAST("codes" AS Nullable(String)), ''))))))) AS f1,
    IF(NULLIF(CAST("few" AS Nullable(String)), '') IS NULL, [''], arrayDistinct(arrayFilter(e -> e <> '', arrayMap(e -> ifNull(toString(e), ''), splitByString(', ', assumeNotNull(NULLIF(CAST("few" AS Nullable(String)), ''))))))) AS f2
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
    uniqThetaStateIf(assumeNotNull(k), ifNull(NOT has(f1, ''), 0)) AS s1,
    COUNT(CASE WHEN has(f1, '') THEN 1 END) AS g1,
    uniqThetaStateIf(assumeNotNull(k), ifNull(has(f2, 'S'), 0)) AS s2,
    uniqThetaStateIf(assumeNotNull(k), ifNull(has(f2, 'it\'s \\'), 0)) AS s3,
    uniqThetaStateIf(assumeNotNull(k), ifNull(NOT hasAll(['S', 'it\'s \\', ''], f2), 0)) AS s4,
    uniqThetaStateIf(assumeNotNull(k), ifNull(NOT has(f2, ''), 0)) AS s5,
    COUNT(CASE WHEN has(f2, '') THEN 1 END) AS g5
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.1 AS feature, u.2 AS value, u.3 AS sketch, u.4 AS n, u.5 AS kept
  FROM wide
  ARRAY JOIN [
    (CAST(NULL AS Nullable(String)), CAST(NULL AS Nullable(String)), hex(s0), CAST(n0 AS Nullable(Int64)), 1),
    ('codes', CAST(NULL AS Nullable(String)), hex(s1), CAST(NULL AS Nullable(Int64)), CASE WHEN g1 > 0 THEN 1 ELSE 0 END),
    ('few', 'S', hex(s2), CAST(NULL AS Nullable(Int64)), 1),
    ('few', 'it\'s \\', hex(s3), CAST(NULL AS Nullable(Int64)), 1),
    ('few', 'other', hex(s4), CAST(NULL AS Nullable(Int64)), 1),
    ('few', CAST(NULL AS Nullable(String)), hex(s5), CAST(NULL AS Nullable(Int64)), CASE WHEN g5 > 0 THEN 1 ELSE 0 END)
  ] AS u
),
each_0 AS (
  SELECT c, k, arrayJoin(f0) AS e0 FROM keyed
),
each_1 AS (
  SELECT c, k, arrayJoin(f1) AS e1 FROM keyed
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch, CAST(NULL AS Nullable(Int64)) AS n
FROM each_0
WHERE e0 IS NOT NULL
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, hex(uniqThetaState(assumeNotNull(k))) AS sketch, CAST(NULL AS Nullable(Int64)) AS n
FROM each_1
WHERE e1 <> ''
GROUP BY c, e1

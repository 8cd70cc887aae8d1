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
  WITH
    assumeNotNull(k) AS kk,
    bitXor(bitXor(toUInt64(9001), bitRotateLeft(reinterpretAsUInt64(kk) * 9782798678568883157, 31) * 5545529020109919103), toUInt64(8)) AS t1,
    bitXor(toUInt64(9001), toUInt64(8)) AS t2,
    t1 + t2 AS u1,
    t2 + u1 AS u2,
    bitXor(u1, bitShiftRight(u1, 33)) * 18397679294719823053 AS u1a,
    bitXor(u1a, bitShiftRight(u1a, 33)) * 14181476777654086739 AS u1b,
    bitXor(u1b, bitShiftRight(u1b, 33)) AS u1c,
    bitXor(u2, bitShiftRight(u2, 33)) * 18397679294719823053 AS u2a,
    bitXor(u2a, bitShiftRight(u2a, 33)) * 14181476777654086739 AS u2b,
    bitXor(u2b, bitShiftRight(u2b, 33)) AS u2c,
    bitShiftRight(u1c + u2c, 1) AS hashed
  SELECT taken.*, hashed AS h FROM (SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL) AS taken
),
single AS (
  SELECT
    c, h,
    MAX(CASE WHEN NOT has(f1, '') THEN 1 ELSE 0 END) AS b0,
    MAX(CASE WHEN has(f1, '') THEN 1 ELSE 0 END) AS b1,
    MAX(CASE WHEN has(f2, 'S') THEN 1 ELSE 0 END) AS b2,
    MAX(CASE WHEN has(f2, 'it\'s \\') THEN 1 ELSE 0 END) AS b3,
    MAX(CASE WHEN NOT hasAll(['S', 'it\'s \\', ''], f2) THEN 1 ELSE 0 END) AS b4,
    MAX(CASE WHEN NOT has(f2, '') THEN 1 ELSE 0 END) AS b5,
    MAX(CASE WHEN has(f2, '') THEN 1 ELSE 0 END) AS b6
  FROM keyed
  GROUP BY c, h
),
wide AS (
  SELECT
    c,
    (groupArraySorted(4097)(h)) AS s0,
    COUNT(*) AS n0,
    (groupArraySortedIf(4097)(h, b0)) AS s1,
    COUNT(CASE WHEN b0 THEN 1 END) AS n1,
    COUNT(CASE WHEN b1 THEN 1 END) AS g1,
    (groupArraySortedIf(4097)(h, b2)) AS s2,
    COUNT(CASE WHEN b2 THEN 1 END) AS n2,
    (groupArraySortedIf(4097)(h, b3)) AS s3,
    COUNT(CASE WHEN b3 THEN 1 END) AS n3,
    (groupArraySortedIf(4097)(h, b4)) AS s4,
    COUNT(CASE WHEN b4 THEN 1 END) AS n4,
    (groupArraySortedIf(4097)(h, b5)) AS s5,
    COUNT(CASE WHEN b5 THEN 1 END) AS n5,
    COUNT(CASE WHEN b6 THEN 1 END) AS g5
  FROM single
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.1 AS feature, u.2 AS value, u.3 AS hashes, u.4 AS n, u.5 AS kept
  FROM wide
  ARRAY JOIN [
    (CAST(NULL AS Nullable(String)), CAST(NULL AS Nullable(String)), s0, CAST(n0 AS Nullable(Int64)), 1),
    ('codes', CAST(NULL AS Nullable(String)), s1, CAST(n1 AS Nullable(Int64)), CASE WHEN g1 > 0 THEN 1 ELSE 0 END),
    ('few', 'S', s2, CAST(n2 AS Nullable(Int64)), 1),
    ('few', 'it\'s \\', s3, CAST(n3 AS Nullable(Int64)), 1),
    ('few', 'other', s4, CAST(n4 AS Nullable(Int64)), 1),
    ('few', CAST(NULL AS Nullable(String)), s5, CAST(n5 AS Nullable(Int64)), CASE WHEN g5 > 0 THEN 1 ELSE 0 END)
  ] AS u
),
each_0 AS (
  SELECT c, h, arrayJoin(f0) AS e0 FROM keyed
),
each_1 AS (
  SELECT c, h, arrayJoin(f1) AS e1 FROM keyed
)
SELECT class, feature, value, hashes, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, (groupArraySorted(4097)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT c, e0, h FROM each_0 WHERE e0 IS NOT NULL) AS pairs
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, (groupArraySorted(4097)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT c, e1, h FROM each_1 WHERE e1 <> '') AS pairs
GROUP BY c, e1

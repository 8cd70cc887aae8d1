WITH input AS (
  SELECT
    IF(isNaN(CAST("id" AS Nullable(Float64))), NULL, CAST("id" AS Nullable(Float64))) + 0.0 AS k,
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
    MAX(CASE WHEN f0 = 1 THEN 1 ELSE 0 END) AS b0,
    MAX(CASE WHEN f1 <= 30.0 THEN 1 ELSE 0 END) AS b1,
    MAX(CASE WHEN f1 <= 40.5 THEN 1 ELSE 0 END) AS b2,
    MAX(CASE WHEN f1 IS NOT NULL THEN 1 ELSE 0 END) AS b3,
    MAX(CASE WHEN f1 IS NULL THEN 1 ELSE 0 END) AS b4,
    MAX(CASE WHEN f2 IS NOT NULL THEN 1 ELSE 0 END) AS b5,
    MAX(CASE WHEN f2 IS NULL THEN 1 ELSE 0 END) AS b6,
    MAX(CASE WHEN f3 = 'S' THEN 1 ELSE 0 END) AS b7,
    MAX(CASE WHEN f3 = 'it\'s \\' THEN 1 ELSE 0 END) AS b8,
    MAX(CASE WHEN f3 NOT IN ('S', 'it\'s \\') THEN 1 ELSE 0 END) AS b9,
    MAX(CASE WHEN f3 IS NOT NULL THEN 1 ELSE 0 END) AS b10,
    MAX(CASE WHEN f3 IS NULL THEN 1 ELSE 0 END) AS b11,
    MAX(CASE WHEN f4 IS NOT NULL THEN 1 ELSE 0 END) AS b12,
    MAX(CASE WHEN f4 IS NULL THEN 1 ELSE 0 END) AS b13,
    MAX(CASE WHEN f5 = 1 THEN 1 ELSE 0 END) AS b14,
    MAX(CASE WHEN f5 IS NOT NULL THEN 1 ELSE 0 END) AS b15,
    MAX(CASE WHEN f5 IS NULL THEN 1 ELSE 0 END) AS b16
  FROM keyed
  GROUP BY c, h
),
wide AS (
  SELECT
    c,
    (groupArraySorted(1025)(h)) AS s0,
    COUNT(*) AS n0,
    (groupArraySortedIf(1025)(h, b0)) AS s1,
    COUNT(CASE WHEN b0 THEN 1 END) AS n1,
    (groupArraySortedIf(1025)(h, b1)) AS s2,
    COUNT(CASE WHEN b1 THEN 1 END) AS n2,
    (groupArraySortedIf(1025)(h, b2)) AS s3,
    COUNT(CASE WHEN b2 THEN 1 END) AS n3,
    (groupArraySortedIf(1025)(h, b3)) AS s4,
    COUNT(CASE WHEN b3 THEN 1 END) AS n4,
    COUNT(CASE WHEN b4 THEN 1 END) AS g4,
    (groupArraySortedIf(1025)(h, b5)) AS s5,
    COUNT(CASE WHEN b5 THEN 1 END) AS n5,
    COUNT(CASE WHEN b6 THEN 1 END) AS g5,
    (groupArraySortedIf(1025)(h, b7)) AS s6,
    COUNT(CASE WHEN b7 THEN 1 END) AS n6,
    (groupArraySortedIf(1025)(h, b8)) AS s7,
    COUNT(CASE WHEN b8 THEN 1 END) AS n7,
    (groupArraySortedIf(1025)(h, b9)) AS s8,
    COUNT(CASE WHEN b9 THEN 1 END) AS n8,
    (groupArraySortedIf(1025)(h, b10)) AS s9,
    COUNT(CASE WHEN b10 THEN 1 END) AS n9,
    COUNT(CASE WHEN b11 THEN 1 END) AS g9,
    (groupArraySortedIf(1025)(h, b12)) AS s10,
    COUNT(CASE WHEN b12 THEN 1 END) AS n10,
    COUNT(CASE WHEN b13 THEN 1 END) AS g10,
    (groupArraySortedIf(1025)(h, b14)) AS s11,
    COUNT(CASE WHEN b14 THEN 1 END) AS n11,
    (groupArraySortedIf(1025)(h, b15)) AS s12,
    COUNT(CASE WHEN b15 THEN 1 END) AS n12,
    COUNT(CASE WHEN b16 THEN 1 END) AS g12
  FROM single
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.1 AS feature, u.2 AS value, u.3 AS hashes, u.4 AS n, u.5 AS kept
  FROM wide
  ARRAY JOIN [
    (CAST(NULL AS Nullable(String)), CAST(NULL AS Nullable(String)), s0, CAST(n0 AS Nullable(Int64)), 1),
    ('vip', '1', s1, CAST(n1 AS Nullable(Int64)), 1),
    ('age', '<=30', s2, CAST(n2 AS Nullable(Int64)), 1),
    ('age', '<=40.5', s3, CAST(n3 AS Nullable(Int64)), 1),
    ('age', CAST(NULL AS Nullable(String)), s4, CAST(n4 AS Nullable(Int64)), CASE WHEN g4 > 0 THEN 1 ELSE 0 END),
    ('colour', CAST(NULL AS Nullable(String)), s5, CAST(n5 AS Nullable(Int64)), CASE WHEN g5 > 0 THEN 1 ELSE 0 END),
    ('size', 'S', s6, CAST(n6 AS Nullable(Int64)), 1),
    ('size', 'it\'s \\', s7, CAST(n7 AS Nullable(Int64)), 1),
    ('size', 'other', s8, CAST(n8 AS Nullable(Int64)), 1),
    ('size', CAST(NULL AS Nullable(String)), s9, CAST(n9 AS Nullable(Int64)), CASE WHEN g9 > 0 THEN 1 ELSE 0 END),
    ('tag', CAST(NULL AS Nullable(String)), s10, CAST(n10 AS Nullable(Int64)), CASE WHEN g10 > 0 THEN 1 ELSE 0 END),
    ('odd "`\\name', '1', s11, CAST(n11 AS Nullable(Int64)), 1),
    ('odd "`\\name', CAST(NULL AS Nullable(String)), s12, CAST(n12 AS Nullable(Int64)), CASE WHEN g12 > 0 THEN 1 ELSE 0 END)
  ] AS u
)
SELECT class, feature, value, hashes, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'colour' AS feature, f2 AS value, (groupArraySorted(1025)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT c, f2, h FROM keyed WHERE f2 IS NOT NULL) AS pairs
GROUP BY c, f2
UNION ALL
SELECT c AS class, 'tag' AS feature, f4 AS value, (groupArraySorted(1025)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT c, f4, h FROM keyed WHERE f4 IS NOT NULL) AS pairs
GROUP BY c, f4

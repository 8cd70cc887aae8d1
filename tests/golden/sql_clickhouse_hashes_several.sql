WITH input0 AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("churned" AS Nullable(String)), '') AS c,
    CAST("vip" AS Nullable(Int32)) AS f0
  FROM crm.customers
),
keyed0 AS (
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
  SELECT taken.*, hashed AS h FROM (SELECT * FROM input0 WHERE k IS NOT NULL) AS taken
),
single0 AS (
  SELECT
    h,
    MAX(CASE WHEN f0 = 1 THEN 1 ELSE 0 END) AS b0,
    MAX(CASE WHEN f0 IS NOT NULL THEN 1 ELSE 0 END) AS b1
  FROM keyed0
  GROUP BY h
),
wide0 AS (
  SELECT
    (groupArraySortedIf(4097)(h, b0)) AS s0,
    COUNT(CASE WHEN b0 THEN 1 END) AS n0,
    (groupArraySortedIf(4097)(h, b1)) AS s1,
    COUNT(CASE WHEN b1 THEN 1 END) AS n1
  FROM single0
),
lines0 AS (
  SELECT CAST(NULL AS Nullable(String)) AS class, u.1 AS feature, u.2 AS value, u.3 AS hashes, u.4 AS n
  FROM wide0
  ARRAY JOIN [
    ('vip', '1', s0, CAST(n0 AS Nullable(Int64))),
    ('vip', CAST(NULL AS Nullable(String)), s1, CAST(n1 AS Nullable(Int64)))
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
  SELECT taken.*, hashed AS h FROM (SELECT * FROM input1 WHERE k IS NOT NULL) AS taken
),
single1 AS (
  SELECT
    h,
    MAX(CASE WHEN f0 IS NOT NULL THEN 1 ELSE 0 END) AS b0,
    MAX(CASE WHEN f1 = 1 THEN 1 ELSE 0 END) AS b1,
    MAX(CASE WHEN f1 IS NOT NULL THEN 1 ELSE 0 END) AS b2
  FROM keyed1
  GROUP BY h
),
wide1 AS (
  SELECT
    (groupArraySortedIf(4097)(h, b0)) AS s0,
    COUNT(CASE WHEN b0 THEN 1 END) AS n0,
    (groupArraySortedIf(4097)(h, b1)) AS s1,
    COUNT(CASE WHEN b1 THEN 1 END) AS n1,
    (groupArraySortedIf(4097)(h, b2)) AS s2,
    COUNT(CASE WHEN b2 THEN 1 END) AS n2
  FROM single1
),
lines1 AS (
  SELECT CAST(NULL AS Nullable(String)) AS class, u.1 AS feature, u.2 AS value, u.3 AS hashes, u.4 AS n
  FROM wide1
  ARRAY JOIN [
    ('page', CAST(NULL AS Nullable(String)), s0, CAST(n0 AS Nullable(Int64))),
    ('night', '1', s1, CAST(n1 AS Nullable(Int64))),
    ('night', CAST(NULL AS Nullable(String)), s2, CAST(n2 AS Nullable(Int64)))
  ] AS u
)
SELECT class, feature, value, hashes, n
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS Nullable(String)) AS feature, CAST(NULL AS Nullable(String)) AS value, (groupArraySorted(4097)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT c, h FROM keyed0 WHERE c IS NOT NULL) AS pairs
GROUP BY c
UNION ALL
SELECT class, feature, value, hashes, n
FROM lines1
UNION ALL
SELECT CAST(NULL AS Nullable(String)) AS class, 'page' AS feature, f0 AS value, (groupArraySorted(4097)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT f0, h FROM keyed1 WHERE f0 IS NOT NULL) AS pairs
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS Nullable(String)) AS class, CAST(NULL AS Nullable(String)) AS feature, CAST(NULL AS Nullable(String)) AS value, (groupArraySorted(4097)(h)) AS hashes, CAST(COUNT(*) AS Nullable(Int64)) AS n
FROM (SELECT DISTINCT h FROM (SELECT h FROM keyed0 UNION ALL SELECT h FROM keyed1) AS every) AS everybody

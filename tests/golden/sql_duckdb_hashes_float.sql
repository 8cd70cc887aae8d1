CREATE OR REPLACE TEMP MACRO tt_mul(a, b) AS CAST((CAST(a AS UHUGEINT) * b) & 18446744073709551615::UHUGEINT AS UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_add(a, b) AS CAST((CAST(a AS UHUGEINT) + b) & 18446744073709551615::UHUGEINT AS UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_rotl(a, r) AS
  CAST((CAST(a AS UHUGEINT) << r) & 18446744073709551615::UHUGEINT AS UBIGINT) | (a >> (64 - r));
CREATE OR REPLACE TEMP MACRO tt_fold(a) AS xor(a, a >> 33);
CREATE OR REPLACE TEMP MACRO tt_mix(a) AS
  tt_fold(tt_mul(tt_fold(tt_mul(tt_fold(a), 18397679294719823053::UBIGINT)), 14181476777654086739::UBIGINT));
CREATE OR REPLACE TEMP MACRO tt_one(a) AS tt_mul(tt_rotl(tt_mul(a, 9782798678568883157::UBIGINT), 31), 5545529020109919103::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_two(a) AS tt_mul(tt_rotl(tt_mul(a, 5545529020109919103::UBIGINT), 33), 9782798678568883157::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_first(a, b, k) AS
  tt_add(tt_mul(tt_add(tt_rotl(xor(a, tt_one(k)), 27), b), 5::UBIGINT), 1390208809::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_second(a, b, k) AS
  tt_add(tt_mul(tt_add(tt_rotl(xor(b, tt_two(k)), 31), a), 5::UBIGINT), 944331445::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_both(a, b) AS
  tt_add(tt_mix(tt_add(a, b)), tt_mix(tt_add(b, tt_add(a, b)))) >> 1;
CREATE OR REPLACE TEMP MACRO tt_end(a, b, n) AS tt_both(xor(a, n), xor(b, n));
CREATE OR REPLACE TEMP MACRO tt_word(x) AS
  tt_end(xor(9001::UBIGINT, tt_one(x)), 9001::UBIGINT, 8::UBIGINT);
WITH input AS (
  SELECT
    NULLIF(CAST("id" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS k,
    NULLIF(CAST("churned" AS VARCHAR), '') AS c,
    CAST("vip" AS INT) AS f0,
    NULLIF(CAST("age" AS DOUBLE), CAST('NaN' AS DOUBLE)) AS f1,
    NULLIF(CAST("colour" AS VARCHAR), '') AS f2,
    NULLIF(CAST("size" AS VARCHAR), '') AS f3,
    NULLIF(CAST("tag" AS VARCHAR), '') AS f4,
    CAST("odd ""`\name" AS INT) AS f5
  FROM crm.customers
),
keyed AS (
  SELECT *, tt_word(CAST(CAST(k + 0.0 AS BIT) AS UBIGINT)) AS h FROM (SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL) AS taken
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
    MAX(CASE WHEN f3 = 'it''s \' THEN 1 ELSE 0 END) AS b8,
    MAX(CASE WHEN f3 NOT IN ('S', 'it''s \') THEN 1 ELSE 0 END) AS b9,
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
    MIN(h, 1025) AS s0,
    COUNT(*) AS n0,
    MIN(h, 1025) FILTER (WHERE b0 = 1) AS s1,
    COUNT(CASE WHEN b0 = 1 THEN 1 END) AS n1,
    MIN(h, 1025) FILTER (WHERE b1 = 1) AS s2,
    COUNT(CASE WHEN b1 = 1 THEN 1 END) AS n2,
    MIN(h, 1025) FILTER (WHERE b2 = 1) AS s3,
    COUNT(CASE WHEN b2 = 1 THEN 1 END) AS n3,
    MIN(h, 1025) FILTER (WHERE b3 = 1) AS s4,
    COUNT(CASE WHEN b3 = 1 THEN 1 END) AS n4,
    COUNT(CASE WHEN b4 = 1 THEN 1 END) AS g4,
    MIN(h, 1025) FILTER (WHERE b5 = 1) AS s5,
    COUNT(CASE WHEN b5 = 1 THEN 1 END) AS n5,
    COUNT(CASE WHEN b6 = 1 THEN 1 END) AS g5,
    MIN(h, 1025) FILTER (WHERE b7 = 1) AS s6,
    COUNT(CASE WHEN b7 = 1 THEN 1 END) AS n6,
    MIN(h, 1025) FILTER (WHERE b8 = 1) AS s7,
    COUNT(CASE WHEN b8 = 1 THEN 1 END) AS n7,
    MIN(h, 1025) FILTER (WHERE b9 = 1) AS s8,
    COUNT(CASE WHEN b9 = 1 THEN 1 END) AS n8,
    MIN(h, 1025) FILTER (WHERE b10 = 1) AS s9,
    COUNT(CASE WHEN b10 = 1 THEN 1 END) AS n9,
    COUNT(CASE WHEN b11 = 1 THEN 1 END) AS g9,
    MIN(h, 1025) FILTER (WHERE b12 = 1) AS s10,
    COUNT(CASE WHEN b12 = 1 THEN 1 END) AS n10,
    COUNT(CASE WHEN b13 = 1 THEN 1 END) AS g10,
    MIN(h, 1025) FILTER (WHERE b14 = 1) AS s11,
    COUNT(CASE WHEN b14 = 1 THEN 1 END) AS n11,
    MIN(h, 1025) FILTER (WHERE b15 = 1) AS s12,
    COUNT(CASE WHEN b15 = 1 THEN 1 END) AS n12,
    COUNT(CASE WHEN b16 = 1 THEN 1 END) AS g12
  FROM single
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.hashes AS hashes, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN LATERAL UNNEST([
    {'feature': CAST(NULL AS VARCHAR), 'value': CAST(NULL AS VARCHAR), 'hashes': s0, 'n': CAST(n0 AS BIGINT), 'kept': 1},
    {'feature': 'vip', 'value': '1', 'hashes': s1, 'n': CAST(n1 AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': '<=30', 'hashes': s2, 'n': CAST(n2 AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': '<=40.5', 'hashes': s3, 'n': CAST(n3 AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': CAST(NULL AS VARCHAR), 'hashes': s4, 'n': CAST(n4 AS BIGINT), 'kept': CASE WHEN g4 > 0 THEN 1 ELSE 0 END},
    {'feature': 'colour', 'value': CAST(NULL AS VARCHAR), 'hashes': s5, 'n': CAST(n5 AS BIGINT), 'kept': CASE WHEN g5 > 0 THEN 1 ELSE 0 END},
    {'feature': 'size', 'value': 'S', 'hashes': s6, 'n': CAST(n6 AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': 'it''s \', 'hashes': s7, 'n': CAST(n7 AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': 'other', 'hashes': s8, 'n': CAST(n8 AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': CAST(NULL AS VARCHAR), 'hashes': s9, 'n': CAST(n9 AS BIGINT), 'kept': CASE WHEN g9 > 0 THEN 1 ELSE 0 END},
    {'feature': 'tag', 'value': CAST(NULL AS VARCHAR), 'hashes': s10, 'n': CAST(n10 AS BIGINT), 'kept': CASE WHEN g10 > 0 THEN 1 ELSE 0 END},
    {'feature': 'odd "`\name', 'value': '1', 'hashes': s11, 'n': CAST(n11 AS BIGINT), 'kept': 1},
    {'feature': 'odd "`\name', 'value': CAST(NULL AS VARCHAR), 'hashes': s12, 'n': CAST(n12 AS BIGINT), 'kept': CASE WHEN g12 > 0 THEN 1 ELSE 0 END}
  ]) AS lines(u)
)
SELECT class, feature, value, hashes, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'colour' AS feature, f2 AS value, MIN(h, 1025) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT c, f2, h FROM keyed WHERE f2 IS NOT NULL) AS pairs
GROUP BY c, f2
UNION ALL
SELECT c AS class, 'tag' AS feature, f4 AS value, MIN(h, 1025) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT c, f4, h FROM keyed WHERE f4 IS NOT NULL) AS pairs
GROUP BY c, f4

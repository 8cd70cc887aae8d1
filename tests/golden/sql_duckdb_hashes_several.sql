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
WITH input0 AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("churned" AS VARCHAR), '') AS c,
    CAST("vip" AS INT) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT *, tt_word(CAST(CAST(k AS HUGEINT) & 18446744073709551615::HUGEINT AS UBIGINT)) AS h FROM (SELECT * FROM input0 WHERE k IS NOT NULL) AS taken
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
    MIN(h, 4097) FILTER (WHERE b0 = 1) AS s0,
    COUNT(CASE WHEN b0 = 1 THEN 1 END) AS n0,
    MIN(h, 4097) FILTER (WHERE b1 = 1) AS s1,
    COUNT(CASE WHEN b1 = 1 THEN 1 END) AS n1
  FROM single0
),
lines0 AS (
  SELECT CAST(NULL AS VARCHAR) AS class, u.feature AS feature, u.value AS value, u.hashes AS hashes, u.n AS n
  FROM wide0
  CROSS JOIN LATERAL UNNEST([
    {'feature': 'vip', 'value': '1', 'hashes': s0, 'n': CAST(n0 AS BIGINT)},
    {'feature': 'vip', 'value': CAST(NULL AS VARCHAR), 'hashes': s1, 'n': CAST(n1 AS BIGINT)}
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
  SELECT *, tt_word(CAST(CAST(k AS HUGEINT) & 18446744073709551615::HUGEINT AS UBIGINT)) AS h FROM (SELECT * FROM input1 WHERE k IS NOT NULL) AS taken
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
    MIN(h, 4097) FILTER (WHERE b0 = 1) AS s0,
    COUNT(CASE WHEN b0 = 1 THEN 1 END) AS n0,
    MIN(h, 4097) FILTER (WHERE b1 = 1) AS s1,
    COUNT(CASE WHEN b1 = 1 THEN 1 END) AS n1,
    MIN(h, 4097) FILTER (WHERE b2 = 1) AS s2,
    COUNT(CASE WHEN b2 = 1 THEN 1 END) AS n2
  FROM single1
),
lines1 AS (
  SELECT CAST(NULL AS VARCHAR) AS class, u.feature AS feature, u.value AS value, u.hashes AS hashes, u.n AS n
  FROM wide1
  CROSS JOIN LATERAL UNNEST([
    {'feature': 'page', 'value': CAST(NULL AS VARCHAR), 'hashes': s0, 'n': CAST(n0 AS BIGINT)},
    {'feature': 'night', 'value': '1', 'hashes': s1, 'n': CAST(n1 AS BIGINT)},
    {'feature': 'night', 'value': CAST(NULL AS VARCHAR), 'hashes': s2, 'n': CAST(n2 AS BIGINT)}
  ]) AS lines(u)
)
SELECT class, feature, value, hashes, n
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS VARCHAR) AS feature, CAST(NULL AS VARCHAR) AS value, MIN(h, 4097) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT c, h FROM keyed0 WHERE c IS NOT NULL) AS pairs
GROUP BY c
UNION ALL
SELECT class, feature, value, hashes, n
FROM lines1
UNION ALL
SELECT CAST(NULL AS VARCHAR) AS class, 'page' AS feature, f0 AS value, MIN(h, 4097) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT f0, h FROM keyed1 WHERE f0 IS NOT NULL) AS pairs
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS VARCHAR) AS class, CAST(NULL AS VARCHAR) AS feature, CAST(NULL AS VARCHAR) AS value, MIN(h, 4097) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT h FROM (SELECT h FROM keyed0 UNION ALL SELECT h FROM keyed1) AS every) AS everybody

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
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("churned" AS VARCHAR), '') AS c,
    LIST_DISTINCT(LIST_FILTER(CAST("tags" AS VARCHAR[]), lambda e: e <> '')) AS f0,
    LIST_DISTINCT(LIST_FILTER(STRING_SPLIT(NULLIF(CAST("codes" AS VARCHAR), ''), '|'), lambda e: e <> '')) AS f1,
    LIST_DISTINCT(LIST_FILTER(STRING_SPLIT(NULLIF(CAST("few" AS VARCHAR), ''), ', '), lambda e: e <> '')) AS f2
  FROM crm.customers
),
keyed AS (
  SELECT *, tt_word(CAST(CAST(k AS HUGEINT) & 18446744073709551615::HUGEINT AS UBIGINT)) AS h FROM (SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL) AS taken
),
single AS (
  SELECT
    c, h,
    MAX(CASE WHEN f0 IS NOT NULL THEN 1 ELSE 0 END) AS b0,
    MAX(CASE WHEN f0 IS NULL THEN 1 ELSE 0 END) AS b1,
    MAX(CASE WHEN f1 IS NOT NULL THEN 1 ELSE 0 END) AS b2,
    MAX(CASE WHEN f1 IS NULL THEN 1 ELSE 0 END) AS b3,
    MAX(CASE WHEN LIST_CONTAINS(f2, 'S') THEN 1 ELSE 0 END) AS b4,
    MAX(CASE WHEN LIST_CONTAINS(f2, 'it''s \') THEN 1 ELSE 0 END) AS b5,
    MAX(CASE WHEN LEN(LIST_FILTER(f2, lambda e: e NOT IN ('S', 'it''s \', ''))) > 0 THEN 1 ELSE 0 END) AS b6,
    MAX(CASE WHEN f2 IS NOT NULL THEN 1 ELSE 0 END) AS b7,
    MAX(CASE WHEN f2 IS NULL THEN 1 ELSE 0 END) AS b8
  FROM keyed
  GROUP BY c, h
),
wide AS (
  SELECT
    c,
    MIN(h, 4097) AS s0,
    COUNT(*) AS n0,
    MIN(h, 4097) FILTER (WHERE b0 = 1) AS s1,
    COUNT(CASE WHEN b0 = 1 THEN 1 END) AS n1,
    COUNT(CASE WHEN b1 = 1 THEN 1 END) AS g1,
    MIN(h, 4097) FILTER (WHERE b2 = 1) AS s2,
    COUNT(CASE WHEN b2 = 1 THEN 1 END) AS n2,
    COUNT(CASE WHEN b3 = 1 THEN 1 END) AS g2,
    MIN(h, 4097) FILTER (WHERE b4 = 1) AS s3,
    COUNT(CASE WHEN b4 = 1 THEN 1 END) AS n3,
    MIN(h, 4097) FILTER (WHERE b5 = 1) AS s4,
    COUNT(CASE WHEN b5 = 1 THEN 1 END) AS n4,
    MIN(h, 4097) FILTER (WHERE b6 = 1) AS s5,
    COUNT(CASE WHEN b6 = 1 THEN 1 END) AS n5,
    MIN(h, 4097) FILTER (WHERE b7 = 1) AS s6,
    COUNT(CASE WHEN b7 = 1 THEN 1 END) AS n6,
    COUNT(CASE WHEN b8 = 1 THEN 1 END) AS g6
  FROM single
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.hashes AS hashes, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN LATERAL UNNEST([
    {'feature': CAST(NULL AS VARCHAR), 'value': CAST(NULL AS VARCHAR), 'hashes': s0, 'n': CAST(n0 AS BIGINT), 'kept': 1},
    {'feature': 'tags', 'value': CAST(NULL AS VARCHAR), 'hashes': s1, 'n': CAST(n1 AS BIGINT), 'kept': CASE WHEN g1 > 0 THEN 1 ELSE 0 END},
    {'feature': 'codes', 'value': CAST(NULL AS VARCHAR), 'hashes': s2, 'n': CAST(n2 AS BIGINT), 'kept': CASE WHEN g2 > 0 THEN 1 ELSE 0 END},
    {'feature': 'few', 'value': 'S', 'hashes': s3, 'n': CAST(n3 AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': 'it''s \', 'hashes': s4, 'n': CAST(n4 AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': 'other', 'hashes': s5, 'n': CAST(n5 AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': CAST(NULL AS VARCHAR), 'hashes': s6, 'n': CAST(n6 AS BIGINT), 'kept': CASE WHEN g6 > 0 THEN 1 ELSE 0 END}
  ]) AS lines(u)
),
each_0 AS (
  SELECT c, h, UNNEST(f0) AS e0 FROM keyed
),
each_1 AS (
  SELECT c, h, UNNEST(f1) AS e1 FROM keyed
)
SELECT class, feature, value, hashes, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, MIN(h, 4097) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT c, e0, h FROM each_0 WHERE e0 IS NOT NULL) AS pairs
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, MIN(h, 4097) AS hashes, CAST(COUNT(*) AS BIGINT) AS n
FROM (SELECT DISTINCT c, e1, h FROM each_1 WHERE e1 <> '') AS pairs
GROUP BY c, e1

-- First: INSTALL datasketches FROM community; LOAD datasketches;
WITH input AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
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
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    DATASKETCH_THETA(12, k) AS s0,
    COUNT(DISTINCT k) AS n0,
    DATASKETCH_THETA(12, k) FILTER (WHERE f0 = 1) AS s1,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 <= 30.0) AS s2,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 <= 40.5) AS s3,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 IS NOT NULL) AS s4,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g4,
    DATASKETCH_THETA(12, k) FILTER (WHERE f2 IS NOT NULL) AS s5,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g5,
    DATASKETCH_THETA(12, k) FILTER (WHERE f3 = 'S') AS s6,
    DATASKETCH_THETA(12, k) FILTER (WHERE f3 = 'it''s \') AS s7,
    DATASKETCH_THETA(12, k) FILTER (WHERE f3 NOT IN ('S', 'it''s \')) AS s8,
    DATASKETCH_THETA(12, k) FILTER (WHERE f3 IS NOT NULL) AS s9,
    COUNT(CASE WHEN f3 IS NULL THEN 1 END) AS g9,
    DATASKETCH_THETA(12, k) FILTER (WHERE f4 IS NOT NULL) AS s10,
    COUNT(CASE WHEN f4 IS NULL THEN 1 END) AS g10,
    DATASKETCH_THETA(12, k) FILTER (WHERE f5 = 1) AS s11,
    DATASKETCH_THETA(12, k) FILTER (WHERE f5 IS NOT NULL) AS s12,
    COUNT(CASE WHEN f5 IS NULL THEN 1 END) AS g12
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN LATERAL UNNEST([
    {'feature': CAST(NULL AS VARCHAR), 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s0 AS BLOB), 'n': CAST(n0 AS BIGINT), 'kept': 1},
    {'feature': 'vip', 'value': '1', 'sketch': CAST(s1 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': '<=30', 'sketch': CAST(s2 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': '<=40.5', 'sketch': CAST(s3 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'age', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s4 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g4 > 0 THEN 1 ELSE 0 END},
    {'feature': 'colour', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s5 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g5 > 0 THEN 1 ELSE 0 END},
    {'feature': 'size', 'value': 'S', 'sketch': CAST(s6 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': 'it''s \', 'sketch': CAST(s7 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': 'other', 'sketch': CAST(s8 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'size', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s9 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g9 > 0 THEN 1 ELSE 0 END},
    {'feature': 'tag', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s10 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g10 > 0 THEN 1 ELSE 0 END},
    {'feature': 'odd "`\name', 'value': '1', 'sketch': CAST(s11 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'odd "`\name', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s12 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g12 > 0 THEN 1 ELSE 0 END}
  ]) AS lines(u)
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'colour' AS feature, f2 AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch, CAST(NULL AS BIGINT) AS n
FROM keyed
WHERE f2 IS NOT NULL
GROUP BY c, f2
UNION ALL
SELECT c AS class, 'tag' AS feature, f4 AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch, CAST(NULL AS BIGINT) AS n
FROM keyed
WHERE f4 IS NOT NULL
GROUP BY c, f4

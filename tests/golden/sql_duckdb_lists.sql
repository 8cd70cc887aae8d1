-- First: INSTALL datasketches FROM community; LOAD datasketches;
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
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    DATASKETCH_THETA(12, k) AS s0,
    COUNT(DISTINCT k) AS n0,
    DATASKETCH_THETA(12, k) FILTER (WHERE f0 IS NOT NULL) AS s1,
    COUNT(CASE WHEN f0 IS NULL THEN 1 END) AS g1,
    DATASKETCH_THETA(12, k) FILTER (WHERE f1 IS NOT NULL) AS s2,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g2,
    DATASKETCH_THETA(12, k) FILTER (WHERE LIST_CONTAINS(f2, 'S')) AS s3,
    DATASKETCH_THETA(12, k) FILTER (WHERE LIST_CONTAINS(f2, 'it''s \')) AS s4,
    DATASKETCH_THETA(12, k) FILTER (WHERE LEN(LIST_FILTER(f2, lambda e: e NOT IN ('S', 'it''s \', ''))) > 0) AS s5,
    DATASKETCH_THETA(12, k) FILTER (WHERE f2 IS NOT NULL) AS s6,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g6
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN LATERAL UNNEST([
    {'feature': CAST(NULL AS VARCHAR), 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s0 AS BLOB), 'n': CAST(n0 AS BIGINT), 'kept': 1},
    {'feature': 'tags', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s1 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g1 > 0 THEN 1 ELSE 0 END},
    {'feature': 'codes', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s2 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g2 > 0 THEN 1 ELSE 0 END},
    {'feature': 'few', 'value': 'S', 'sketch': CAST(s3 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': 'it''s \', 'sketch': CAST(s4 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': 'other', 'sketch': CAST(s5 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': 1},
    {'feature': 'few', 'value': CAST(NULL AS VARCHAR), 'sketch': CAST(s6 AS BLOB), 'n': CAST(NULL AS BIGINT), 'kept': CASE WHEN g6 > 0 THEN 1 ELSE 0 END}
  ]) AS lines(u)
),
each_0 AS (
  SELECT c, k, UNNEST(f0) AS e0 FROM keyed
),
each_1 AS (
  SELECT c, k, UNNEST(f1) AS e1 FROM keyed
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_0
WHERE e0 IS NOT NULL
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, CAST(DATASKETCH_THETA(12, k) AS BLOB) AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_1
WHERE e1 <> ''
GROUP BY c, e1

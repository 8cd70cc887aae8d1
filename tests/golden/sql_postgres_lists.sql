-- First: CREATE EXTENSION datasketches; (Apache DataSketches for PostgreSQL)
WITH input AS (
  SELECT
    CAST("id" AS BIGINT) AS k,
    NULLIF(CAST("churned" AS TEXT), '') AS c,
    CASE WHEN NOT "tags" IS NULL THEN ARRAY(SELECT DISTINCT e FROM UNNEST(CAST("tags" AS TEXT[])) AS e WHERE e <> '') END AS f0,
    CASE WHEN NOT NULLIF(CAST("codes" AS TEXT), '') IS NULL THEN ARRAY(SELECT DISTINCT e FROM UNNEST(STRING_TO_ARRAY(NULLIF(CAST("codes" AS TEXT), ''), '|')) AS e WHERE e <> '') END AS f1,
    CASE WHEN NOT NULLIF(CAST("few" AS TEXT), '') IS NULL THEN ARRAY(SELECT DISTINCT e FROM UNNEST(STRING_TO_ARRAY(NULLIF(CAST("few" AS TEXT), ''), ', ')) AS e WHERE e <> '') END AS f2
  FROM crm.customers
),
keyed AS (
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    THETA_SKETCH_BUILD(k, 12) AS s0,
    COUNT(DISTINCT k) AS n0,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f0 IS NOT NULL) AS s1,
    COUNT(CASE WHEN f0 IS NULL THEN 1 END) AS g1,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f1 IS NOT NULL) AS s2,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g2,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE 'S' = ANY(f2)) AS s3,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE 'it''s \' = ANY(f2)) AS s4,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE NOT f2 <@ ARRAY['S', 'it''s \', '']) AS s5,
    THETA_SKETCH_BUILD(k, 12) FILTER (WHERE f2 IS NOT NULL) AS s6,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g6
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN LATERAL (VALUES
    (CAST(NULL AS TEXT), CAST(NULL AS TEXT), ENCODE(CAST(s0 AS BYTEA), 'hex'), CAST(n0 AS BIGINT), 1),
    ('tags', CAST(NULL AS TEXT), ENCODE(CAST(s1 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), CASE WHEN g1 > 0 THEN 1 ELSE 0 END),
    ('codes', CAST(NULL AS TEXT), ENCODE(CAST(s2 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), CASE WHEN g2 > 0 THEN 1 ELSE 0 END),
    ('few', 'S', ENCODE(CAST(s3 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), 1),
    ('few', 'it''s \', ENCODE(CAST(s4 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), 1),
    ('few', 'other', ENCODE(CAST(s5 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), 1),
    ('few', CAST(NULL AS TEXT), ENCODE(CAST(s6 AS BYTEA), 'hex'), CAST(NULL AS BIGINT), CASE WHEN g6 > 0 THEN 1 ELSE 0 END)
  ) AS u(feature, value, sketch, n, kept)
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
SELECT c AS class, 'tags' AS feature, e0 AS value, ENCODE(CAST(THETA_SKETCH_BUILD(k, 12) AS BYTEA), 'hex') AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_0
WHERE e0 IS NOT NULL
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, ENCODE(CAST(THETA_SKETCH_BUILD(k, 12) AS BYTEA), 'hex') AS sketch, CAST(NULL AS BIGINT) AS n
FROM each_1
WHERE e1 <> ''
GROUP BY c, e1

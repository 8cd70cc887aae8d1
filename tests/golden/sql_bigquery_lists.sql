-- The functions of the public project bqutil; put your region's dataset in their place if need be.
WITH input AS (
  SELECT
    CAST(`id` AS INT64) AS k,
    NULLIF(CAST(`churned` AS STRING), '') AS c,
    IF(`tags` IS NULL, NULL, ARRAY(SELECT DISTINCT CAST(e AS STRING) FROM UNNEST(`tags`) AS e WHERE CAST(e AS STRING) <> '')) AS f0,
    IF(NULLIF(CAST(`codes` AS STRING), '') IS NULL, NULL, ARRAY(SELECT DISTINCT CAST(e AS STRING) FROM UNNEST(SPLIT(NULLIF(CAST(`codes` AS STRING), ''), '|')) AS e WHERE CAST(e AS STRING) <> '')) AS f1,
    IF(NULLIF(CAST(`few` AS STRING), '') IS NULL, NULL, ARRAY(SELECT DISTINCT CAST(e AS STRING) FROM UNNEST(SPLIT(NULLIF(CAST(`few` AS STRING), ''), ', ')) AS e WHERE CAST(e AS STRING) <> '')) AS f2
  FROM crm.customers
),
keyed AS (
  SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
wide AS (
  SELECT
    c,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s0,
    COUNT(DISTINCT k) AS n0,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f0 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s1,
    COUNT(CASE WHEN f0 IS NULL THEN 1 END) AS g1,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s2,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g2,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF('S' IN UNNEST(f2), k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s3,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF('it\'s \\' IN UNNEST(f2), k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s4,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(EXISTS(SELECT 1 FROM UNNEST(f2) AS e WHERE e NOT IN ('S', 'it\'s \\', '')), k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s5,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f2 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s6,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g6
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN UNNEST([
    STRUCT(CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, s0 AS sketch, CAST(n0 AS INT64) AS n, 1 AS kept),
    STRUCT('tags' AS feature, CAST(NULL AS STRING) AS value, s1 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g1 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('codes' AS feature, CAST(NULL AS STRING) AS value, s2 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g2 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('few' AS feature, 'S' AS value, s3 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('few' AS feature, 'it\'s \\' AS value, s4 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('few' AS feature, 'other' AS value, s5 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('few' AS feature, CAST(NULL AS STRING) AS value, s6 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g6 > 0 THEN 1 ELSE 0 END AS kept)
  ]) AS u
),
each_0 AS (
  SELECT c, k, e0 FROM keyed CROSS JOIN UNNEST(f0) AS e0
),
each_1 AS (
  SELECT c, k, e1 FROM keyed CROSS JOIN UNNEST(f1) AS e1
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'tags' AS feature, e0 AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch, CAST(NULL AS INT64) AS n
FROM each_0
WHERE e0 IS NOT NULL
GROUP BY c, e0
UNION ALL
SELECT c AS class, 'codes' AS feature, e1 AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch, CAST(NULL AS INT64) AS n
FROM each_1
WHERE e1 <> ''
GROUP BY c, e1

-- The functions of the public project bqutil; put your region's dataset in their place if need be.
WITH input0 AS (
  SELECT
    CAST(`id` AS INT64) AS k,
    NULLIF(CAST(`churned` AS STRING), '') AS c,
    CAST(`vip` AS INT64) AS f0
  FROM crm.customers
),
keyed0 AS (
  SELECT * FROM input0 WHERE k IS NOT NULL
),
wide0 AS (
  SELECT
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f0 = 1, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s0,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f0 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s1
  FROM keyed0
),
lines0 AS (
  SELECT CAST(NULL AS STRING) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide0
  CROSS JOIN UNNEST([
    STRUCT('vip' AS feature, '1' AS value, s0 AS sketch),
    STRUCT('vip' AS feature, CAST(NULL AS STRING) AS value, s1 AS sketch)
  ]) AS u
),
input1 AS (
  SELECT
    CAST(`id` AS INT64) AS k,
    NULLIF(CAST(`page` AS STRING), '') AS f0,
    CAST(`night` AS INT64) AS f1
  FROM web.visits
),
keyed1 AS (
  SELECT * FROM input1 WHERE k IS NOT NULL
),
wide1 AS (
  SELECT
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f0 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s0,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 = 1, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s1,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s2
  FROM keyed1
),
lines1 AS (
  SELECT CAST(NULL AS STRING) AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
  FROM wide1
  CROSS JOIN UNNEST([
    STRUCT('page' AS feature, CAST(NULL AS STRING) AS value, s0 AS sketch),
    STRUCT('night' AS feature, '1' AS value, s1 AS sketch),
    STRUCT('night' AS feature, CAST(NULL AS STRING) AS value, s2 AS sketch)
  ]) AS u
)
SELECT class, feature, value, sketch
FROM lines0
UNION ALL
SELECT c AS class, CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch
FROM keyed0
WHERE c IS NOT NULL
GROUP BY c
UNION ALL
SELECT class, feature, value, sketch
FROM lines1
UNION ALL
SELECT CAST(NULL AS STRING) AS class, 'page' AS feature, f0 AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch
FROM keyed1
WHERE f0 IS NOT NULL
GROUP BY f0
UNION ALL
SELECT CAST(NULL AS STRING) AS class, CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch
FROM (SELECT k FROM keyed0 UNION ALL SELECT k FROM keyed1) AS everybody

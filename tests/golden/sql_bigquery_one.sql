-- The functions of the public project bqutil; put your region's dataset in their place if need be.
WITH input AS (
  SELECT
    CAST(`id` AS INT64) AS k,
    NULLIF(CAST(`churned` AS STRING), '') AS c,
    CAST(`vip` AS INT64) AS f0,
    IF(IS_NAN(CAST(`age` AS FLOAT64)), NULL, CAST(`age` AS FLOAT64)) AS f1,
    NULLIF(CAST(`colour` AS STRING), '') AS f2,
    NULLIF(CAST(`size` AS STRING), '') AS f3,
    NULLIF(CAST(`tag` AS STRING), '') AS f4,
    CAST(`odd "\`\\name` AS INT64) AS f5
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
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f0 = 1, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s1,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 <= 30.0, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s2,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 <= 40.5, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s3,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f1 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s4,
    COUNT(CASE WHEN f1 IS NULL THEN 1 END) AS g4,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f2 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s5,
    COUNT(CASE WHEN f2 IS NULL THEN 1 END) AS g5,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f3 = 'S', k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s6,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f3 = 'it\'s \\', k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s7,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f3 NOT IN ('S', 'it\'s \\'), k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s8,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f3 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s9,
    COUNT(CASE WHEN f3 IS NULL THEN 1 END) AS g9,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f4 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s10,
    COUNT(CASE WHEN f4 IS NULL THEN 1 END) AS g10,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f5 = 1, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s11,
    bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(IF(f5 IS NOT NULL, k, NULL), STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS s12,
    COUNT(CASE WHEN f5 IS NULL THEN 1 END) AS g12
  FROM keyed
  GROUP BY c
),
lines AS (
  SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch, u.n AS n, u.kept AS kept
  FROM wide
  CROSS JOIN UNNEST([
    STRUCT(CAST(NULL AS STRING) AS feature, CAST(NULL AS STRING) AS value, s0 AS sketch, CAST(n0 AS INT64) AS n, 1 AS kept),
    STRUCT('vip' AS feature, '1' AS value, s1 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('age' AS feature, '<=30' AS value, s2 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('age' AS feature, '<=40.5' AS value, s3 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('age' AS feature, CAST(NULL AS STRING) AS value, s4 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g4 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('colour' AS feature, CAST(NULL AS STRING) AS value, s5 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g5 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('size' AS feature, 'S' AS value, s6 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('size' AS feature, 'it\'s \\' AS value, s7 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('size' AS feature, 'other' AS value, s8 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('size' AS feature, CAST(NULL AS STRING) AS value, s9 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g9 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('tag' AS feature, CAST(NULL AS STRING) AS value, s10 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g10 > 0 THEN 1 ELSE 0 END AS kept),
    STRUCT('odd "`\\name' AS feature, '1' AS value, s11 AS sketch, CAST(NULL AS INT64) AS n, 1 AS kept),
    STRUCT('odd "`\\name' AS feature, CAST(NULL AS STRING) AS value, s12 AS sketch, CAST(NULL AS INT64) AS n, CASE WHEN g12 > 0 THEN 1 ELSE 0 END AS kept)
  ]) AS u
)
SELECT class, feature, value, sketch, n
FROM lines
WHERE kept = 1
UNION ALL
SELECT c AS class, 'colour' AS feature, f2 AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch, CAST(NULL AS INT64) AS n
FROM keyed
WHERE f2 IS NOT NULL
GROUP BY c, f2
UNION ALL
SELECT c AS class, 'tag' AS feature, f4 AS value, bqutil.datasketches.theta_sketch_agg_int64_lgk_seed_p(k, STRUCT<BYTEINT, INT64, FLOAT64>(12, 9001, 1.0)) AS sketch, CAST(NULL AS INT64) AS n
FROM keyed
WHERE f4 IS NOT NULL
GROUP BY c, f4

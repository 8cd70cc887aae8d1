-- A build with DataSketches, as the official ones are; uniqThetaState is always of lg_k 12.
WITH input AS (
  SELECT
    CAST("id" AS Nullable(Int64)) AS k,
    NULLIF(CAST("churned" AS Nullable(String)), '') AS c,
    CAST("vip" AS Nullable(Int32)) AS f0,
    CAST("age" AS Nullable(Int32)) AS f1,
    NULLIF(CAST("colour" AS Nullable(String)), '') AS f2,
    CAST("size" AS Nullable(Int32)) AS f3,
    NULLIF(CAST("tag" AS Nullable(String)), '') AS f4,
    CAST("odd \"`\\name" AS Nullable(Int32)) AS f5
  FROM crm.customers
),
kept AS (
  SELECT DISTINCT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
),
single AS (
  SELECT k, hex(uniqThetaState(assumeNotNull(k))) AS image
  FROM kept
  GROUP BY k
),
hashed AS (
  SELECT kept.k AS k, kept.c AS c, kept.f0 AS f0, kept.f1 AS f1, kept.f2 AS f2, kept.f3 AS f3, kept.f4 AS f4, kept.f5 AS f5, LOWER(CONCAT(substring(image, 33, 2), substring(image, 31, 2), substring(image, 29, 2), substring(image, 27, 2), substring(image, 25, 2), substring(image, 23, 2), substring(image, 21, 2), substring(image, 19, 2))) AS h
  FROM kept JOIN single ON kept.k = single.k
),
ranked AS (
  SELECT *, DENSE_RANK() OVER (PARTITION BY c ORDER BY h) AS place
  FROM hashed
)
SELECT h AS hash, c AS "churned", f0 AS "vip", f1 AS "age", f2 AS "colour", f3 AS "size", f4 AS "tag", f5 AS "odd \"`\\name"
FROM ranked
WHERE place <= 4097

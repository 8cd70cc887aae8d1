SELECT
  *,
  CASE
    WHEN CAST("x<y" AS INTEGER) = 1 THEN
      CASE
        WHEN "code" IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST("age ""years""" AS REAL) <= 47.0 THEN 'no'
            WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 'may"be'
            ELSE 'ye''s'
          END
        WHEN CAST("age ""years""" AS REAL) <= 30.5 THEN 'ye''s'
        WHEN "code" IS NULL OR "code" NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 'may"be'
        ELSE 'may"be'
      END
    WHEN "code" IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST("age ""years""" AS REAL) <= 47.5 THEN 'no'
        WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 'may"be'
        ELSE 'ye''s'
      END
    WHEN CAST("age ""years""" AS REAL) <= 67.5 THEN
      CASE
        WHEN "code" IS NULL OR "code" NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 'no'
        ELSE 'no'
      END
    WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 'ye''s'
    ELSE 'no'
  END AS "prediction",
  CAST(CASE
    WHEN CAST("x<y" AS INTEGER) = 1 THEN
      CASE
        WHEN "code" IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST("age ""years""" AS REAL) <= 47.0 THEN (1080863910568919.0 / 4503599627370496.0)
            WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN (7832347178035645.0 / 36028797018963968.0)
            ELSE (4289142502257615.0 / 4503599627370496.0)
          END
        WHEN CAST("age ""years""" AS REAL) <= 30.5 THEN (6004799503160661.0 / 9007199254740992.0)
        WHEN "code" IS NULL OR "code" NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 0.0
        ELSE (3602879701896397.0 / 18014398509481984.0)
      END
    WHEN "code" IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST("age ""years""" AS REAL) <= 47.5 THEN (667199944795629.0 / 2251799813685248.0)
        WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN (5811096293381285.0 / 18014398509481984.0)
        ELSE (486875635391405.0 / 562949953421312.0)
      END
    WHEN CAST("age ""years""" AS REAL) <= 67.5 THEN
      CASE
        WHEN "code" IS NULL OR "code" NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 0.0
        ELSE (1162219258676257.0 / 9007199254740992.0)
      END
    WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 1.0
    ELSE (6004799503160661.0 / 36028797018963968.0)
  END AS REAL) AS "probability",
  CASE
    WHEN CAST("x<y" AS INTEGER) = 1 THEN
      CASE
        WHEN "code" IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST("age ""years""" AS REAL) <= 47.0 THEN 3
            WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 5
            ELSE 6
          END
        WHEN CAST("age ""years""" AS REAL) <= 30.5 THEN 8
        WHEN "code" IS NULL OR "code" NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 10
        ELSE 11
      END
    WHEN "code" IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST("age ""years""" AS REAL) <= 47.5 THEN 21
        WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 23
        ELSE 24
      END
    WHEN CAST("age ""years""" AS REAL) <= 67.5 THEN
      CASE
        WHEN "code" IS NULL OR "code" NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 15
        ELSE 16
      END
    WHEN CAST("select" AS TEXT) IN ('Oslo', 'it''s') THEN 18
    ELSE 19
  END AS "leaf"
FROM "shop"."customers"

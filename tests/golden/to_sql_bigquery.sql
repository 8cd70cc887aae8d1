SELECT
  *,
  CASE
    WHEN CAST(`x<y` AS INT64) = 1 THEN
      CASE
        WHEN `code` IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST(`age "years"` AS FLOAT64) <= 47.0e0 THEN 'no'
            WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 'may"be'
            ELSE 'ye\'s'
          END
        WHEN CAST(`age "years"` AS FLOAT64) <= 30.5e0 THEN 'ye\'s'
        WHEN `code` IS NULL OR `code` NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 'may"be'
        ELSE 'may"be'
      END
    WHEN `code` IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST(`age "years"` AS FLOAT64) <= 47.5e0 THEN 'no'
        WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 'may"be'
        ELSE 'ye\'s'
      END
    WHEN CAST(`age "years"` AS FLOAT64) <= 67.5e0 THEN
      CASE
        WHEN `code` IS NULL OR `code` NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 'no'
        ELSE 'no'
      END
    WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 'ye\'s'
    ELSE 'no'
  END AS `prediction`,
  CAST(CASE
    WHEN CAST(`x<y` AS INT64) = 1 THEN
      CASE
        WHEN `code` IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST(`age "years"` AS FLOAT64) <= 47.0e0 THEN 0.24e0
            WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 0.21739130434782608e0
            ELSE 0.9523809523809523e0
          END
        WHEN CAST(`age "years"` AS FLOAT64) <= 30.5e0 THEN 0.6666666666666666e0
        WHEN `code` IS NULL OR `code` NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 0.0e0
        ELSE 0.2e0
      END
    WHEN `code` IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST(`age "years"` AS FLOAT64) <= 47.5e0 THEN 0.2962962962962963e0
        WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 0.3225806451612903e0
        ELSE 0.8648648648648649e0
      END
    WHEN CAST(`age "years"` AS FLOAT64) <= 67.5e0 THEN
      CASE
        WHEN `code` IS NULL OR `code` NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 0.0e0
        ELSE 0.12903225806451613e0
      END
    WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 1.0e0
    ELSE 0.16666666666666666e0
  END AS FLOAT64) AS `probability`,
  CASE
    WHEN CAST(`x<y` AS INT64) = 1 THEN
      CASE
        WHEN `code` IN (0, 3, 6, 9, 12, 15, 16, 18, 21, 24, 27, 28) THEN
          CASE
            WHEN CAST(`age "years"` AS FLOAT64) <= 47.0e0 THEN 3
            WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 5
            ELSE 6
          END
        WHEN CAST(`age "years"` AS FLOAT64) <= 30.5e0 THEN 8
        WHEN `code` IS NULL OR `code` NOT IN (0, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 21, 24, 25, 27, 28) THEN 10
        ELSE 11
      END
    WHEN `code` IN (2, 5, 8, 11, 16, 17, 20, 22, 23, 26, 28, 29) THEN
      CASE
        WHEN CAST(`age "years"` AS FLOAT64) <= 47.5e0 THEN 21
        WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 23
        ELSE 24
      END
    WHEN CAST(`age "years"` AS FLOAT64) <= 67.5e0 THEN
      CASE
        WHEN `code` IS NULL OR `code` NOT IN (2, 4, 5, 8, 10, 11, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29) THEN 15
        ELSE 16
      END
    WHEN CAST(`select` AS STRING) IN ('Oslo', 'it\'s') THEN 18
    ELSE 19
  END AS `leaf`
FROM `shop`.`customers`

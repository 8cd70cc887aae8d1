/* A decision tree, written by thetatree. Columns that it tests:
 *   x[0]  number: age "years"
 *   x[1]  category: select
 *   x[2]  flag: x<y
 *   x[3]  category: code
 */
#ifndef TREE_H
#define TREE_H

static const int tree_leaves[13] = {
  3, 5, 6, 8, 10, 11, 15, 16, 18, 19, 21, 23, 24
};
static const double tree_values[39] = {
  0.0, 0.76, 0.24, 0.782608695652174, 0.0, 0.21739130434782608, 0.047619047619047616, 0.0,
  0.9523809523809523, 0.2, 0.13333333333333333, 0.6666666666666666, 1.0, 0.0, 0.0, 0.8, 0.0, 0.2,
  0.0, 1.0, 0.0, 0.0, 0.8709677419354839, 0.12903225806451613, 0.0, 0.0, 1.0, 0.08333333333333333,
  0.75, 0.16666666666666666, 0.0, 0.7037037037037037, 0.2962962962962963, 0.6774193548387096, 0.0,
  0.3225806451612903, 0.05405405405405406, 0.08108108108108109, 0.8648648648648649
};
static const char *const tree_classes[3] = {
  "may\042be", "no", "ye's"
};
static const int tree_class_of[13] = {
  1, 0, 2, 2, 0, 0, 1, 1, 2, 1, 1, 0, 2
};

static inline double tree_nan(void) {
  const double zero = 0.0;
  return zero / zero;
}

static const char *const tree_labels_1[4] = {
  "Oslo", "it's", "the \042city\042", "\303\205rhus"
};
static const int tree_codes_1[4] = {
  0, 1, 2, 3
};
static const char *const tree_labels_3[30] = {
  "0", "1", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "2", "20", "21", "22", "23",
  "24", "25", "26", "27", "28", "29", "3", "4", "5", "6", "7", "8", "9"
};
static const int tree_codes_3[30] = {
  0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 3, 4, 5,
  6, 7, 8, 9
};

/* The code of a label in a column of categories; NaN (missing) where label is NULL. */
static inline double tree_code(int column, const char *label) {
  const double nan = tree_nan();
  const char *const *labels = 0;
  const int *codes = 0;
  int low = 0, high = 0;
  double unseen = nan;
  if (label == 0) return nan;
  if (column == 1) { labels = tree_labels_1; codes = tree_codes_1; high = 4; }
  if (column == 3) { labels = tree_labels_3; codes = tree_codes_3; high = 30; }
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const unsigned char *a = (const unsigned char *)labels[middle], *b = (const unsigned char *)label;
    while (*a != 0 && *a == *b) ++a, ++b;
    if (*a == *b) return codes[middle];
    if (*a < *b) low = middle + 1; else high = middle;
  }
  return unseen;
}


static inline int tree_in(double value, const unsigned char *set, int n) {
  return value >= 0 && value < n && (set[(int)value >> 3] >> ((int)value & 7) & 1);
}

static const unsigned char tree_set_0[4] = {
  73, 146, 37, 25
};
static const unsigned char tree_set_1[4] = {
  89, 182, 37, 27
};
static const unsigned char tree_set_2[4] = {
  36, 9, 211, 52
};
static const unsigned char tree_set_3[4] = {
  52, 13, 219, 54
};

/* The number of the leaf. */
static inline int tree_apply(const double *x) {
  if (x[2] == 1) {
    if (tree_in(x[3], tree_set_0, 29)) {
      if (x[0] <= 47.0) {
        return 3;
      }
      if ((x[1] >= 0 && x[1] <= 1)) {
        return 5;
      }
      return 6;
    }
    if (x[0] <= 30.5) {
      return 8;
    }
    if (!(tree_in(x[3], tree_set_1, 29))) {
      return 10;
    }
    return 11;
  }
  if (tree_in(x[3], tree_set_2, 30)) {
    if (x[0] <= 47.5) {
      return 21;
    }
    if ((x[1] >= 0 && x[1] <= 1)) {
      return 23;
    }
    return 24;
  }
  if (x[0] <= 67.5) {
    if (!(tree_in(x[3], tree_set_3, 30))) {
      return 15;
    }
    return 16;
  }
  if ((x[1] >= 0 && x[1] <= 1)) {
    return 18;
  }
  return 19;
}

/* The place of a leaf among the leaves. */
static inline int tree_place(int leaf) {
  int low = 0, high = 13 - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (tree_leaves[middle] < leaf) low = middle + 1; else high = middle;
  }
  return low;
}

/* The position of the class in tree_classes. */
static inline int tree_predict(const double *x) {
  const int leaf = tree_apply(x);
  return leaf < 0 ? -1 : tree_class_of[tree_place(leaf)];
}

/* The share of each class, in their order. */
static inline void tree_predict_proba(const double *x, double *shares) {
  const int leaf = tree_apply(x);
  const double *const own = tree_values + (long)3 * (leaf < 0 ? 0 : tree_place(leaf));
  for (int k = 0; k < 3; ++k) shares[k] = leaf < 0 ? tree_nan() : own[k];
}

#endif

/* A decision tree, written by thetatree. Columns that it tests:
 *   x[0]  number: age "years"
 *   x[1]  category: select
 *   x[2]  flag: x<y
 *   x[3]  category: code
 */
public final class Tree {
  private Tree() {}

  private static final Object[] LEAVES = {Leaves0.ITEMS};
  private static final Object[] VALUES = {Values0.ITEMS};
  private static final Object[] CLASS_OF = {ClassOf0.ITEMS};
  public static final String[] CLASSES = {"may\042be", "no", "ye's"};

  /** The code of a label in a column of categories; NaN (missing) where the label is null. */
  public static double code(int column, String label) {
    if (label == null) return Double.NaN;
    Object[] tables = null;
    double unseen = Double.NaN;
    if (column == 1) { tables = new Object[] {Labels1Part0.ITEMS}; }
    if (column == 3) { tables = new Object[] {Labels3Part0.ITEMS}; }
    if (tables == null) return Double.NaN;
    int start = 0;
    for (Object table : tables) {
      String[] labels = (String[]) table;
      for (int i = 0; i < labels.length; ++i) if (labels[i].equals(label)) return start + i;
      start += labels.length;
    }
    return unseen;
  }


  private static boolean in(double value, String set, int n) {
    return value >= 0 && value < n && (set.charAt((int) value >> 3) >> ((int) value & 7) & 1) == 1;
  }


  /** The number of the leaf. */
  public static int apply(double[] x) {
    if (x[2] == 1) {
      if (Tree.in(x[3], Set0.BITS, 29)) {
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
      if (!(Tree.in(x[3], Set1.BITS, 29))) {
        return 10;
      }
      return 11;
    }
    if (Tree.in(x[3], Set2.BITS, 30)) {
      if (x[0] <= 47.5) {
        return 21;
      }
      if ((x[1] >= 0 && x[1] <= 1)) {
        return 23;
      }
      return 24;
    }
    if (x[0] <= 67.5) {
      if (!(Tree.in(x[3], Set3.BITS, 30))) {
        return 15;
      }
      return 16;
    }
    if ((x[1] >= 0 && x[1] <= 1)) {
      return 18;
    }
    return 19;
  }

  private static int place(int leaf) {
    int low = 0, high = 13 - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (((int[]) LEAVES[middle / 2000])[middle % 2000] < leaf) low = middle + 1; else high = middle;
    }
    return low;
  }

  private static double value(int at) {
    return ((double[]) VALUES[at / 2000])[at % 2000];
  }

  /** The position of the class in CLASSES. */
  public static int predict(double[] x) {
    int leaf = apply(x);
    if (leaf < 0) return -1;
    int at = place(leaf);
    return ((int[]) CLASS_OF[at / 2000])[at % 2000];
  }

  /** The share of each class, in their order. */
  public static double[] predictProba(double[] x) {
    int leaf = apply(x);
    int at = leaf < 0 ? 0 : 3 * place(leaf);
    double[] shares = new double[3];
    for (int k = 0; k < 3; ++k) shares[k] = leaf < 0 ? Double.NaN : value(at + k);
    return shares;
  }

  private static final class Leaves0 {
    static final int[] ITEMS = {
      3, 5, 6, 8, 10, 11, 15, 16, 18, 19, 21, 23, 24
    };
  }
  private static final class Values0 {
    static final double[] ITEMS = {
      0.0, 0.76, 0.24, 0.782608695652174, 0.0, 0.21739130434782608, 0.047619047619047616, 0.0,
      0.9523809523809523, 0.2, 0.13333333333333333, 0.6666666666666666, 1.0, 0.0, 0.0, 0.8, 0.0,
      0.2, 0.0, 1.0, 0.0, 0.0, 0.8709677419354839, 0.12903225806451613, 0.0, 0.0, 1.0,
      0.08333333333333333, 0.75, 0.16666666666666666, 0.0, 0.7037037037037037, 0.2962962962962963,
      0.6774193548387096, 0.0, 0.3225806451612903, 0.05405405405405406, 0.08108108108108109,
      0.8648648648648649
    };
  }
  private static final class ClassOf0 {
    static final int[] ITEMS = {
      1, 0, 2, 2, 0, 0, 1, 1, 2, 1, 1, 0, 2
    };
  }
  private static final class Labels1Part0 {
    static final String[] ITEMS = {
      "Oslo", "it's", "the \042city\042", "\u00c5rhus"
    };
  }
  private static final class Labels3Part0 {
    static final String[] ITEMS = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
      "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29"
    };
  }
  private static final class Set0 {
    static final String BITS = "\111\222\045\031";
  }
  private static final class Set1 {
    static final String BITS = "\131\266\045\033";
  }
  private static final class Set2 {
    static final String BITS = "\044\011\323\064";
  }
  private static final class Set3 {
    static final String BITS = "\064\015\333\066";
  }
}

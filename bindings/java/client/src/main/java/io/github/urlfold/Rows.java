package io.github.urlfold;

/** Rows of one column in the format tsv, with a backslash before what would end a value. */
final class Rows {
  private Rows() {}

  /** Appends a row. An absent value is an empty row. */
  static void append(StringBuilder rows, String value) {
    for (int i = 0; value != null && i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\':
          rows.append("\\\\");
          break;
        case '\t':
          rows.append("\\t");
          break;
        case '\n':
          rows.append("\\n");
          break;
        case '\r':
          rows.append("\\r");
          break;
        default:
          rows.append(c);
      }
    }
    rows.append('\n');
  }

  /** Returns the value of a row, or null if the row is empty. */
  static String value(String row) {
    if (row.isEmpty() || row.indexOf('\\') < 0) {
      return row.isEmpty() ? null : row;
    }
    StringBuilder value = new StringBuilder(row.length());
    for (int i = 0; i < row.length(); i++) {
      char c = row.charAt(i);
      if (c == '\\' && ++i < row.length()) {
        c = row.charAt(i);
        c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
      }
      value.append(c);
    }
    return value.toString();
  }
}

package io.github.urlfold.spark;

import io.github.urlfold.Urlfold;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Functions of Spark SQL, and columns of data frames. The program must be on every worker: see
 * {@link Urlfold}. Each executor starts it once for a set of options.
 */
public final class UrlfoldSpark {
  /** The rows of one question. */
  private static final int BLOCK = 4096;

  private static final ConcurrentHashMap<List<String>, Urlfold> CLIENTS = new ConcurrentHashMap<>();

  private UrlfoldSpark() {}

  /**
   * Registers the functions url_normalize and url_key, from text to text. Each call waits for an
   * answer of the program: for large tables, use {@link #withColumns}.
   */
  public static void register(SparkSession spark, String... options) {
    List<String> o = List.of(options);
    UDF1<String, String> normalize = url -> client(o).normalize(url);
    UDF1<String, String> key = url -> client(o).key(url);
    spark.udf().register("url_normalize", normalize, DataTypes.StringType);
    spark.udf().register("url_key", key, DataTypes.StringType);
  }

  /** Returns a data frame with the columns norm and key beside the others. */
  public static Dataset<Row> withColumns(Dataset<Row> frame, String column, String... options) {
    List<String> o = List.of(options);
    int index = frame.schema().fieldIndex(column);
    StructType schema = frame.schema().add("norm", DataTypes.StringType).add("key", DataTypes.StringType);
    MapPartitionsFunction<Row, Row> answer = rows -> new Answers(rows, index, client(o));
    return frame.mapPartitions(answer, Encoders.row(schema));
  }

  private static Urlfold client(List<String> options) {
    return CLIENTS.computeIfAbsent(options, o -> new Urlfold(o.toArray(new String[0])));
  }

  /** Rows with two more values, asked for in blocks. */
  private static final class Answers implements Iterator<Row> {
    private final Iterator<Row> rows;
    private final int index;
    private final Urlfold urlfold;
    private Iterator<Row> block = List.<Row>of().iterator();

    Answers(Iterator<Row> rows, int index, Urlfold urlfold) {
      this.rows = rows;
      this.index = index;
      this.urlfold = urlfold;
    }

    @Override
    public boolean hasNext() {
      return block.hasNext() || rows.hasNext();
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (!block.hasNext()) {
        block = read().iterator();
      }
      return block.next();
    }

    private List<Row> read() {
      List<Row> part = new ArrayList<>();
      List<String> urls = new ArrayList<>();
      while (rows.hasNext() && part.size() < BLOCK) {
        Row row = rows.next();
        part.add(row);
        urls.add(row.getString(index));
      }
      List<String> norms = urlfold.normalize(urls);
      List<String> keys = urlfold.keys(urls);
      for (int i = 0; i < part.size(); i++) {
        Row row = part.get(i);
        Object[] values = new Object[row.size() + 2];
        for (int j = 0; j < row.size(); j++) {
          values[j] = row.get(j);
        }
        values[row.size()] = norms.get(i);
        values[row.size() + 1] = keys.get(i);
        part.set(i, RowFactory.create(values));
      }
      return part;
    }
  }
}

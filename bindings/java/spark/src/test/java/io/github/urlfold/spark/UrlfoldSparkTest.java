package io.github.urlfold.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class UrlfoldSparkTest {
  private static final int ROWS = 200_000;
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
    spark.range(ROWS).selectExpr("id", "concat('HTTP://H/%7e', id) AS url").createOrReplaceTempView("t");
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  @Test
  void functions() {
    UrlfoldSpark.register(spark);
    Row row = spark.sql("SELECT url_normalize('HTTP://H/%7e'), url_normalize(NULL), url_key('http://h/') = url_key('HTTP://H:80')").first();
    assertEquals("http://h/~", row.getString(0));
    assertNull(row.getString(1));
    assertEquals(true, row.getBoolean(2));
    assertEquals(1000, spark.sql("SELECT * FROM t WHERE id < 1000 AND url_normalize(url) = concat('http://h/~', id)").count());
  }

  @Test
  void columns() {
    Dataset<Row> got = UrlfoldSpark.withColumns(spark.table("t"), "url");
    assertEquals(List.of("id", "url", "norm", "key"), List.of(got.columns()));
    long start = System.nanoTime();
    Row row = got.selectExpr("count(*)", "count_if(norm = concat('http://h/~', id))", "count(DISTINCT key)").first();
    assertEquals("[" + ROWS + "," + ROWS + "," + ROWS + "]", row.toString());
    System.out.printf("withColumns: %d rows, %.1f s%n", ROWS, (System.nanoTime() - start) / 1e9);
  }
}

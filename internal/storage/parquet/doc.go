// Package parquet reads and writes Apache Parquet files
// (https://parquet.apache.org/docs/file-format/). It is the only importer of
// the Parquet library.
//
// A [Writer] encodes rows of record.RenderParquet into a new file. A [Text]
// presents the URLs of a file as the lines of package table, and a [Rewriter] copies a file with these lines after they were
// rewritten.
package parquet

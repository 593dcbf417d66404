// Package parquet reads and writes Apache Parquet files
// (https://parquet.apache.org/docs/file-format/). It is the only importer of
// the Parquet library.
//
// A [Writer] encodes rows of record.RenderParquet into a new file.
package parquet

// Package parquet reads and writes Apache Parquet files
// (https://parquet.apache.org/docs/file-format/). It is the only importer of
// the Parquet library.
//
// A [Writer] encodes rows of record.RenderParquet into a new file. A [Text]
// presents the URLs of a file as the lines of package table. A [Rewriter] copies a
// file with these lines after they were rewritten, and every other column byte
// for byte:
//
//	file, thrift     the footer, edited without losing a field
//	page, decode     a column chunk, page by page; limits bounds both
//	maker, encode    a column chunk with other values or fewer rows
//	index            statistics, page indexes, Bloom filters
//	splice           the row groups of the output, and reading them back
//	spool            pages that wait, in memory and then in a temporary file
package parquet

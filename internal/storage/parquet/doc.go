// Package parquet reads and writes Apache Parquet files
// (https://parquet.apache.org/docs/file-format/). It is the only importer of
// the Parquet library.
//
// A [Writer] encodes rows of record.RenderParquet into a new file. A [Text]
// presents the URLs of a file as the lines of package table. A [Rewriter] copies a
// file with these lines after they were rewritten, and every other column byte
// for byte:
//
//	file.go, thrift.go   the footer, edited without losing a field
//	page.go, decode.go   a column chunk, page by page; limits.go bounds both
//	maker.go, encode.go  a column chunk with other values or fewer rows
//	index.go             statistics, page indexes, Bloom filters
//	splice.go            the row groups of the output, and reading them back
//	spool.go             pages that wait, in memory and then in a temporary file
//	text.go, rewriter.go Text and Rewriter
//	writer.go, schema.go Writer
package parquet

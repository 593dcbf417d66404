// Package arrow reads and writes Apache Arrow IPC streams and writes Arrow IPC
// files, also called Feather v2
// (https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc).
// It reads one column of text and skips the others, whatever their types are. It
// is the only importer of the flatbuffers library.
//
//	flat.go     messages, and the tables in them
//	schema.go   the fields of a stream, and where a column is in a batch
//	values.go   the values of the column
//	reader.go   Reader
//	build.go    the arrays of a batch that is written
//	writer.go   Writer
package arrow

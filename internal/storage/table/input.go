package table

import "io"

// An Input is a file of rows that is being rewritten.
type Input struct {
	io.ReaderAt
	io.Closer
	Size int64 // in bytes
}

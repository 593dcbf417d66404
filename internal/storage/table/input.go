package table

import (
	"fmt"
	"io"
)

// An Input is a file of rows that is being rewritten.
type Input struct {
	io.ReaderAt
	io.Closer
	Size int64 // in bytes
}

// Catch is for defer: it turns a panic of the calling function into *err, so
// that a bug that shows with a damaged file costs only that file.
func Catch(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("cannot be decoded: %v", e)
	}
}

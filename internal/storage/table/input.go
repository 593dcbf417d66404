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

// Catch sets *err to the panic of the function that defers it, so that a bug
// that shows with a damaged file costs that file and not the process.
func Catch(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("cannot be decoded: %v", e)
	}
}

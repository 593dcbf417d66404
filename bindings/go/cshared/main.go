// Command cshared is a prototype for bindings/python/bench.py, which compares it with the
// program: the codec in the process of Python. It is not shipped, because a forked child
// of a process with the runtime of Go hangs.
//
//	go build -buildmode=c-shared -o cshared.so ./cshared
package main

// #include <stdlib.h>
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/urlfold/urlfold/codec"
)

var (
	normalizer = codec.MustNamed("equiv")
	result     codec.Result
	norm, out  []byte
)

// normalize sets answer to the normal forms of the lines of a text, one line
// for each, and returns their size in bytes. The caller must free the memory of
// answer.
//
//export normalize
func normalize(text *C.char, size C.int, answer **C.char) C.int {
	out = out[:0]
	for line := range bytes.Lines(unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size))) {
		var err error
		if norm, err = normalizer.Append(norm[:0], bytes.TrimSuffix(line, []byte("\n")), &result); err == nil {
			out = append(out, norm...)
		}
		out = append(out, '\n')
	}
	*answer = (*C.char)(C.CBytes(out))
	return C.int(len(out))
}

func main() {}

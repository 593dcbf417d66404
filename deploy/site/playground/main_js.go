package main

import (
	"syscall/js"
	"unsafe"
)

// The memory that JavaScript writes questions to and reads answers from. An
// answer overwrites the previous answer. Both begin at a multiple of four
// bytes, because the lengths in a block must: Go aligns allocations of this
// size.
var in, out = make([]byte, 0, minBuffer), make([]byte, 0, minBuffer)

const minBuffer = 1 << 10

// converters has an element for each call of openConverter.
var converters []*converter

// main gives the page the function urlfold, which takes a request and returns an
// answer, both as JSON. The functions with go:wasmexport can be called from then on.
func main() {
	js.Global().Set("urlfold", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(respond([]byte(args[0].String())))
	}))
	js.Global().Call("urlfoldReady")
	select {} // the page may call as long as it is open
}

// input makes room for a question of size bytes, and returns its address.
//
//go:wasmexport urlfold_input
func input(size uint32) unsafe.Pointer {
	if cap(in) < int(size) {
		in = make([]byte, size)
	}
	in = in[:size]
	return unsafe.Pointer(unsafe.SliceData(in))
}

// output returns the address of the answer.
//
//go:wasmexport urlfold_output
func output() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(out)) }

// answerRequest answers a request in JSON, and returns the size of the answer.
//
//go:wasmexport urlfold_ask
func answerRequest() uint32 {
	out = append(out[:0], respond(in)...)
	return uint32(len(out))
}

// openConverter makes a converter for a request in JSON, and returns its number. If that
// fails, it returns -1 - n, where n is the size of the message in the output.
//
//go:wasmexport urlfold_open
func openConverter() int32 {
	c, err := newConverter(in)
	if err != nil {
		out = append(out[:0], err.Error()...)
		return int32(-1 - len(out))
	}
	converters = append(converters, c)
	return int32(len(converters) - 1)
}

// convert answers a block of count values with converter number i, and returns the size
// of the answer: see converter.
//
//go:wasmexport urlfold_convert
func convert(i, count uint32, keys bool) uint32 {
	out = converters[i].answer(out[:0], in, int(count), keys)
	return uint32(len(out))
}

package compress

import (
	"bufio"
	"io"
)

// A deflateDecoder decodes deflate data. See [inflate.Reader] for its methods.
type deflateDecoder interface {
	io.Reader
	Reset(src *bufio.Reader, window []byte, bit uint8)
	PauseAtBlocks(pause bool)
	Block() (bit int64, ok bool)
	Window() []byte
}

package compress

import (
	"io"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// maxTail is more than can come out of two bytes.
const maxTail = 8 << 10

// tail returns the rest of a member that is cut, after offset delivered of the
// decompressed stream. Package flate does not decode a symbol before it has as many
// bits as the code that ends the block, so it may leave up to two bytes of the file
// undecoded, and with them the end of a record. Package inflate decodes them, once
// more from the newest block that is known. It takes a file that can be read twice.
func (d *gzipDecoder) tail(delivered int64) []byte {
	p := d.near
	src, ok := d.in.again(p.compressed)
	if !ok {
		return nil
	}
	r := inflate.NewReader(src(), []byte(p.window), p.bit)
	if _, err := io.CopyN(io.Discard, r, delivered-p.offset); err != nil {
		return nil
	}
	rest, _ := io.ReadAll(io.LimitReader(r, maxTail)) // its error is known: the member is cut
	return rest
}

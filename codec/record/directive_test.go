package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestDirective compares Directive with a search from the end of the block.
func TestDirective(t *testing.T) {
	pieces := []string{"#Fields:", "#fields", "#Fields: a b\n", "#fields\ta\n", " CDX N a\n", "CDX N a\n", "CDX", "CDX ", "\tCDX\ta\n", "#", "\n", "\r\n", "a", " "}
	rnd := rand.New(rand.NewPCG(3, 4))
	readers := map[string]Director{"w3c": &w3cReader{directiveLines: directiveLines{prefix: string(fieldsDirective)}}, "zeek": &zeekReader{directiveLines: directiveLines{prefix: zeekFields}}, "cdx": cdxReader{}}
	for range 20000 {
		var block []byte
		for range rnd.IntN(8) {
			block = append(block, pieces[rnd.IntN(len(pieces))]...)
		}
		for name, r := range readers {
			if got, want := r.Directive(nil, block), directiveFromEnd(block, r); !bytes.Equal(got, want) {
				t.Fatalf("%s: Directive(%q) = %q, want %q", name, block, got, want)
			}
		}
	}
}

// directiveFromEnd returns the last line of block that is a directive.
func directiveFromEnd(block []byte, r Director) []byte {
	lines := bytes.SplitAfter(block, lineFeed)
	for i := len(lines) - 1; i >= 0; i-- {
		switch d := r.(type) {
		case *w3cReader:
			if bytes.HasPrefix(lines[i], []byte(d.prefix)) {
				return lines[i]
			}
		case *zeekReader:
			if bytes.HasPrefix(lines[i], []byte(d.prefix)) {
				return lines[i]
			}
		case cdxReader:
			if legendOf(lines[i]) != nil {
				return lines[i]
			}
		}
	}
	return nil
}

package record

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/archive"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// TestDirective compares Directive with a search from the end of the block.
func TestDirective(t *testing.T) {
	pieces := []string{"#Fields:", "#fields", "#Fields: a b\n", "#fields\ta\n", " CDX N a\n", "CDX N a\n", "CDX", "CDX ", "\tCDX\ta\n", "#", "\n", "\r\n", "a", " "}
	rnd := rand.New(rand.NewPCG(3, 4))
	readers := map[string]Director{"w3c": &textlog.W3CReader{DirectiveLines: locate.DirectiveLines{Prefix: string(textlog.FieldsDirective)}}, "zeek": &textlog.ZeekReader{DirectiveLines: locate.DirectiveLines{Prefix: textlog.ZeekFields}}, "cdx": archive.CDXReader{}}
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
	lines := bytes.SplitAfter(block, locate.LineFeed)
	for i := len(lines) - 1; i >= 0; i-- {
		switch d := r.(type) {
		case *textlog.W3CReader:
			if bytes.HasPrefix(lines[i], []byte(d.Prefix)) {
				return lines[i]
			}
		case *textlog.ZeekReader:
			if bytes.HasPrefix(lines[i], []byte(d.Prefix)) {
				return lines[i]
			}
		case archive.CDXReader:
			if archive.LegendOf(lines[i]) != nil {
				return lines[i]
			}
		}
	}
	return nil
}

package idna2008

import (
	_ "embed"
	"sync"

	"github.com/urlfold/urlfold/codec/internal/table"
)

//go:embed tables.bin
var packed string

// data holds the tables that gen.py writes.
type data struct {
	class     []table.Span // classes of RFC 5892
	joining   []table.Span // joining types L, R, D and T
	script    []table.Span // scripts that CONTEXTO rules name
	direction []table.Span // bidirectional classes
	mark      []table.Span // combining marks, and the value 2 for viramas
	// mapping is the UTS 46 mapping: each text belongs to the code points from
	// its key to the next key, and status has their status.
	mapping table.TextMap
	status  string
}

// tables returns the tables, which the first call decodes.
var tables = sync.OnceValue(func() *data {
	p, t := table.Packed(packed), new(data)
	for _, spans := range []*[]table.Span{&t.class, &t.joining, &t.script, &t.direction, &t.mark} {
		*spans = p.Spans()
	}
	t.mapping = p.TextMap()
	t.status = p.Bytes(len(t.mapping.Keys))
	return t
})

// valueOf returns the value of the span that contains r, or 0.
func valueOf(spans []table.Span, r rune) uint8 {
	value, _ := table.Find(spans, r)
	return value
}

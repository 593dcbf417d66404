package idna2003

import (
	_ "embed"
	"sync"

	"github.com/urlfold/urlfold/codec/internal/table"
)

//go:embed tables.bin
var packed string

// data holds the tables that gen.py writes. Each list is in ascending order.
type data struct {
	unassigned   []table.Span  // RFC 3454, table A.1
	dropped      []table.Span  // table B.1
	prohibited   []table.Span  // tables C.1.2, C.2.2 and C.3 to C.9
	rightToLeft  []table.Span  // table D.1
	leftToRight  []table.Span  // table D.2
	folded       table.TextMap // table B.2, as stringprep.map_table_b2 computes it
	decomposed   table.TextMap // NFKD of Unicode 14
	canonical    table.TextMap // NFD of Unicode 14
	decomposed32 table.TextMap // what NFKD of Unicode 3.2 decomposes differently
	combining    []table.Span  // canonical combining classes of Unicode 14
	composed     []pair        // primary composites of Unicode 14
}

type pair struct{ first, second, composite rune }

// tables returns the tables, which the first call decodes.
var tables = sync.OnceValue(func() *data {
	p, t := table.Packed(packed), new(data)
	for _, spans := range []*[]table.Span{&t.unassigned, &t.dropped, &t.prohibited, &t.rightToLeft, &t.leftToRight} {
		*spans = p.Spans()
	}
	for _, m := range []*table.TextMap{&t.folded, &t.decomposed, &t.canonical, &t.decomposed32} {
		*m = p.TextMap()
	}
	t.combining = p.Spans()
	t.composed = make([]pair, p.Uint())
	for i := range t.composed {
		t.composed[i] = pair{rune(p.Uint()), rune(p.Uint()), rune(p.Uint())}
	}
	return t
})

// in reports whether r is in one of the spans.
func in(spans []table.Span, r rune) bool {
	_, found := table.Find(spans, r)
	return found
}

package peer

import (
	"bytes"
	"slices"
)

// AppendSorted appends the fields of a query in the order of compare. It returns the memory
// of fields, which it uses, for the next call.
func AppendSorted(dst, query []byte, fields [][]byte, compare func(a, b []byte) int) (out []byte, used [][]byte) {
	fields = fields[:0]
	for field := range bytes.SplitSeq(query, []byte{'&'}) {
		fields = append(fields, field)
	}
	slices.SortStableFunc(fields, compare)
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, field...)
	}
	return dst, fields
}

package record

// This file reads the lines of zeek and w3c by their shapes (shape.go). Each of the
// columns up to the last one that is read is a field of the shape.
const (
	columnCell uint8 = iota
	columnQuoted
)

// addColumn adds a column that ends before a separator, and does not begin with quote, if
// that is not 0.
func (s *shapes) addColumn(at span, use int, rank, quote uint8) {
	s.add(shapeField{span: at, kind: columnCell, use: use, rank: rank, marked: 1, not: quote})
}

// updateColumns is update for a record whose columns have been added. The last one ends at
// end, before a separator if there is more.
func (s *shapes) updateColumns(rec []byte, end int) {
	s.update(rec, min(end+1, len(rec)))
}

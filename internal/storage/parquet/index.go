package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/bloom"
)

// This file writes the statistics and indexes of chunks that were made.

// maxBound is the length to which bounds are shortened.
const maxBound = 64

// shorten returns a bound of at most maxBound bytes, and whether it is v
// itself: a prefix is a lower bound, and a prefix whose last character is one
// higher is an upper bound. A cut after an ASCII character keeps UTF-8 valid.
// Where this is not possible, it returns v.
func shorten(v []byte, upper bool) ([]byte, bool) {
	if len(v) <= maxBound {
		return v, true
	}
	for n := maxBound; n > 0; n-- {
		if c := v[n-1]; c < 0x7f {
			cut := bytes.Clone(v[:n])
			if upper {
				cut[n-1]++
			}
			return cut, false
		}
	}
	return v, true
}

// statistics returns the statistics of a page or chunk. old are the statistics of its
// source.
func (m *made) statistics(old fields, b bounds, nulls int64) fields {
	st := slices.Clone(old)
	st.drop(4, 7, 8, 9) // distinct values, exactness, NaNs
	if st.has(3) {
		st.setInt(3, thriftI64, nulls)
	}
	had := st.has(5) || st.has(6)
	st.drop(1, 2, 5, 6)
	// The bounds of all rows of the source would also be correct for a part of
	// them. But some readers answer min() and max() with the bounds, even if
	// the file declares the bounds inexact.
	if !had || b.lo == nil {
		return st
	}
	hi, exactHi := shorten(b.hi, true)
	lo, exactLo := shorten(b.lo, false)
	st.setBytes(5, hi)
	st.setBytes(6, lo)
	if old.has(7) || !exactHi {
		st.setBool(7, exactHi)
	}
	if old.has(8) || !exactLo {
		st.setBool(8, exactLo)
	}
	return st
}

// describe changes the metadata of the chunk of the source into the metadata of m.
// The chunk of m starts at the offset start.
func (m *made) describe(meta *fields, start, size int64) {
	meta.setInt(5, thriftI64, m.values)
	meta.setInt(6, thriftI64, m.text)
	meta.setInt(7, thriftI64, size)
	first := start + int64(len(m.dict))
	if len(m.dict) > 0 && meta.int(11) > 0 {
		meta.setInt(11, thriftI64, start)
	} else {
		first = start
	}
	meta.setInt(9, thriftI64, first)
	meta.drop(10)
	var list []int64
	for _, raw := range meta.list(2) {
		u, _, _ := uvarint(raw)
		list = append(list, zigzag(u))
	}
	var body []byte
	for _, e := range m.encodings {
		if !slices.Contains(list, e[1]) {
			list = append(list, e[1])
		}
		var f fields
		for i, v := range e {
			f.setInt(int16(i+1), thriftI32, v)
		}
		body = appendStruct(body, f)
	}
	meta.setInts(2, thriftI32, list)
	if meta.has(13) {
		meta.setList(13, thriftStruct, len(m.encodings), body)
	}
	if st := meta.sub(12); st != nil {
		meta.setStruct(12, m.statistics(st, m.bounds, m.nulls))
	}
	if sizes := meta.sub(16); sizes != nil {
		if sizes.drop(1); m.changed {
			sizes.setInt(1, thriftI64, m.unencoded)
		}
		for i, hist := range [][]int64{m.repHist, m.defHist} {
			if id := int16(2 + i); sizes.has(id) {
				sizes.setInts(id, thriftI64, hist)
			}
		}
		meta.setStruct(16, sizes)
	}
}

var errIndex = errors.New("malformed page index")

// columnIndex returns the column index of m. old is the column index of the
// source of m; if it contradicts the pages, the result is nil.
func (m *made) columnIndex(old fields) []byte {
	oldLo, oldHi := old.list(2), old.list(3)
	nulls := old.find(1)
	if nulls == nil || len(nulls.raw) == 0 || len(oldLo) != len(oldHi) || len(old.list(1)) != len(oldLo) {
		return nil
	}
	var isNull, lo, hi []byte
	var counts, rep, def []int64
	for i := range m.pages {
		p := &m.pages[i]
		counts, rep, def = append(counts, p.nulls), append(rep, p.repHist...), append(def, p.defHist...)
		switch {
		case p.null:
			isNull, lo, hi = append(isNull, 1), append(lo, 0), append(hi, 0)
			continue
		case m.changed:
			lo, hi = appendBinary(lo, p.lo), appendBinary(hi, p.hi)
		case p.source >= len(oldLo) || old.list(1)[p.source][0] == 1:
			return nil
		default:
			lo, hi = append(lo, oldLo[p.source]...), append(hi, oldHi[p.source]...)
		}
		isNull = append(isNull, 2)
	}
	ci := fields{{id: 4, typ: thriftI32, raw: appendZigzag(nil, m.order(old.int(4)))}}
	ci.setList(1, nulls.raw[0]&15, len(m.pages), isNull)
	ci.setList(2, thriftBinary, len(m.pages), lo)
	ci.setList(3, thriftBinary, len(m.pages), hi)
	for i, list := range [][]int64{counts, rep, def} {
		if id := int16(5 + i); old.has(id) {
			ci.setInts(id, thriftI64, list)
		}
	}
	return appendStruct(nil, ci)
}

// order returns the boundary order: 0 none, 1 ascending, 2 descending. If no value
// has changed, it is the order of the source, because rows were only left out.
func (m *made) order(old int64) int64 {
	if !m.changed {
		return old
	}
	asc, desc := true, true
	var last *madePage
	for i := range m.pages {
		p := &m.pages[i]
		if p.null {
			continue
		}
		if last != nil {
			lo, hi := bytes.Compare(p.lo, last.lo), bytes.Compare(p.hi, last.hi)
			asc, desc = asc && lo >= 0 && hi >= 0, desc && lo <= 0 && hi <= 0
		}
		last = p
	}
	switch {
	case asc:
		return 1
	case desc:
		return 2
	}
	return 0
}

// offsetIndex returns the offset index of m, whose first page is at at.
func (m *made) offsetIndex(old fields, at int64) []byte {
	var body []byte
	var sizes []int64
	for i := range m.pages {
		p := &m.pages[i]
		var l fields
		l.setInt(1, thriftI64, at)
		l.setInt(2, thriftI32, p.size)
		l.setInt(3, thriftI64, p.first)
		body, at, sizes = appendStruct(body, l), at+p.size, append(sizes, p.unencoded)
	}
	var oi fields
	oi.setList(1, thriftStruct, len(m.pages), body)
	if old.has(2) && m.changed {
		oi.setInts(2, thriftI64, sizes)
	}
	return appendStruct(nil, oi)
}

// shiftOffsets returns the offset index of a chunk that was moved.
func shiftOffsets(old fields, by int64) ([]byte, error) {
	var body []byte
	list := old.list(1)
	for _, raw := range list {
		l, _, err := readStruct(raw)
		if err != nil {
			return nil, errIndex
		}
		l.shift(1, by)
		body = appendStruct(body, l)
	}
	old.setList(1, thriftStruct, len(list), body)
	return appendStruct(nil, old), nil
}

// checkIndexes checks the page index and the Bloom filter of a chunk.
func (f *file) checkIndexes(c *chunk) error {
	_, err := f.readIndex(c, 6)
	offsets, err2 := f.readIndex(c, 4)
	if err = errors.Join(err, err2); err == nil {
		_, err = shiftOffsets(offsets, 0)
	}
	if err == nil {
		_, err = f.emptyBloom(c)
	}
	return err
}

// bloomOf returns the header of the Bloom filter of a chunk, as it is in the
// file, and the length of the filter; nil without a filter.
func (f *file) bloomOf(c *chunk) (head []byte, size int64, err error) {
	at := c.meta.int(14)
	if at <= 0 {
		return nil, 0, nil
	}
	b, err := f.read(at, min(256, f.limit-at), 256)
	if err != nil {
		return nil, 0, fmt.Errorf("malformed Bloom filter: %w", err)
	}
	h, n, err := readStruct(b)
	size = h.int(1)
	if err != nil || size <= 0 || size > f.limit-at-int64(n) || size > f.limits.MaxPage {
		return nil, 0, errors.New("malformed Bloom filter")
	}
	return b[:n], size, nil
}

// emptyBloom returns an empty Bloom filter like the filter of a chunk, or nil
// if the chunk has no filter of a known kind.
func (f *file) emptyBloom(c *chunk) (bloom.SplitBlockFilter, error) {
	head, size, err := f.bloomOf(c)
	if head == nil || err != nil {
		return nil, err
	}
	h, _, _ := readStruct(head)
	for _, id := range []int16{2, 3, 4} { // block, XXH64, uncompressed
		if !h.sub(id).has(1) {
			return nil, nil
		}
	}
	if size%32 != 0 {
		return nil, errors.New("malformed Bloom filter")
	}
	return make(bloom.SplitBlockFilter, size/32), nil
}

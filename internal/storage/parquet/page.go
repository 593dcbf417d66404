package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Page types.
const (
	pageV1         = 0
	pageDictionary = 2
	pageV2         = 3
)

// oldSlack is how many bytes the pages of a chunk may exceed the stated size of
// the chunk: old writers did not count the header of the dictionary
// (PARQUET-816).
const oldSlack = 100

// maxHeader is the length from which page headers are refused. pyarrow has the
// same limit.
const maxHeader = 16 << 20

// A page is a page of a chunk.
type page struct {
	head   fields // PageHeader
	sub    fields // the header of the page's type
	raw    []byte // head, as it is in the file
	body   []byte // bytes that follow head in the file
	typ    int64
	enc    int64
	n      int // number of values, including nulls
	codec  compress.Method
	levels []byte // repetition and definition levels, as they are in the page
	values []byte
	rep    hybrid
	def    hybrid
	index  int // index among the data pages of the chunk
}

// subID returns two field ids of the Thrift structs: id is the header for the
// type of p, and enc is the encoding in that header.
func (p *page) subID() (id, enc int16) {
	switch p.typ {
	case pageV1:
		return 5, 2
	case pageV2:
		return 8, 4
	}
	return 7, 2
}

// A pages reads the pages of a chunk.
type pages struct {
	f       *file
	leaf    *leaf
	chunk   *chunk
	r       *bufio.Reader
	most    int64 // maximum length of a page
	size    int64 // size of the pages read, with their headers
	n       int64 // values read
	count   int   // data pages read
	raw     bool  // do not decompress pages
	resolve bool  // return the entries of a dictionary, not their indexes
	dict    *dictionary
	entries int
	scratch *scratch
	src     source
	last    int // definition level of the last value that check has read
}

// A scratch holds buffers that the readers of successive chunks share.
type scratch struct {
	r          *bufio.Reader
	blocks     compress.Blocks
	body, text []byte
}

// readChunk returns a reader of the pages of a chunk.
func (f *file) readChunk(c *chunk, l *leaf, s *scratch, most int64) *pages {
	length := min(c.meta.int(7)+oldSlack, f.limit-c.from)
	if s.r == nil {
		s.r = bufio.NewReaderSize(nil, 64<<10)
	}
	s.r.Reset(io.NewSectionReader(f.in, c.from, length))
	return &pages{f: f, leaf: l, chunk: c, r: s.r, most: most, scratch: s}
}

// next returns the next page, valid until the next call, and io.EOF at the end
// of the chunk. It decompresses dictionaries and data pages, unless r is raw.
func (r *pages) next() (*page, error) {
	total, values := r.chunk.meta.int(7), r.chunk.meta.int(5)
	if r.size >= total && r.n >= values {
		if r.n != values {
			return nil, fmt.Errorf("the pages have %d values, the footer says %d: %w", r.n, values, errDamaged)
		}
		return nil, io.EOF
	}
	p, err := r.header()
	if err != nil {
		return nil, eof(err)
	}
	id, enc := p.subID()
	p.sub = p.head.sub(id)
	p.enc = p.sub.int(enc)
	required := map[int64][]int16{pageV1: {1, 2, 3, 4}, pageV2: {1, 2, 3, 4, 5, 6}, pageDictionary: {1, 2}}[p.typ]
	size, packed := p.head.int(2), p.head.int(3)
	r.size += int64(len(p.raw)) + packed
	if !p.head.hasAll(thriftI32, 1, 2, 3) || !p.sub.hasAll(thriftI32, required...) || size < 0 || packed < 0 || r.size > total+oldSlack {
		return nil, fmt.Errorf("malformed page header: %w", errDamaged)
	}
	if max(size, packed) > r.most {
		return nil, &compress.LimitError{Detail: fmt.Sprintf("a page of %d bytes exceeds %d (--max-window)", max(size, packed), r.most)}
	}
	r.scratch.body = slices.Grow(r.scratch.body[:0], int(packed))[:packed]
	p.body = r.scratch.body
	if _, err := io.ReadFull(r.r, p.body); err != nil {
		return nil, eof(err)
	}
	if p.head.has(4) && int32(crc32.ChecksumIEEE(p.body)) != int32(p.head.int(4)) { //nolint:gosec // the field holds the bits of a uint32
		return nil, fmt.Errorf("the checksum of a page differs: %w", errDamaged)
	}
	if err := r.f.spent.add(packed, size, r.f.limits.MaxRatio); err != nil {
		return nil, err
	}
	n := p.sub.int(1)
	if n < 0 || n > 1<<31 {
		return nil, fmt.Errorf("malformed page header: %w", errDamaged)
	}
	if p.n = int(n); p.typ != pageDictionary {
		p.index, r.count, r.n = r.count, r.count+1, r.n+n
	}
	if r.raw {
		return p, nil
	}
	return p, r.open(p, int(size))
}

// header reads the header of a page.
func (r *pages) header() (*page, error) {
	for want := 256; ; want *= 4 {
		if want > r.r.Size() { // statistics can hold long values
			r.r = bufio.NewReaderSize(r.r, want)
		}
		b, err := r.r.Peek(want)
		head, n, bad := readStruct(b)
		switch {
		case bad == nil:
			p := &page{raw: bytes.Clone(b[:n]), typ: head.int(1), codec: compress.Method(r.chunk.meta.int(4))}
			p.head, _, _ = readStruct(p.raw) // in separate memory
			_, err := r.r.Discard(n)
			return p, err
		case len(b) == 0:
			return nil, err
		case err != nil || want > maxHeader:
			return nil, fmt.Errorf("malformed page header: %w", errDamaged)
		}
	}
}

// open decompresses p into size bytes and finds its levels and values.
func (r *pages) open(p *page, size int) error {
	switch p.typ {
	case pageDictionary:
		return r.dictionary(p, size)
	case pageV1, pageV2:
	default:
		return fmt.Errorf("pages of type %d are not supported", p.typ)
	}
	stored := 0 // bytes of levels before the compressed values
	if p.typ == pageV2 {
		reps, defs := p.sub.int(6), p.sub.int(5)
		if reps < 0 || defs < 0 || reps+defs > int64(min(size, len(p.body))) {
			return errShort
		}
		stored = int(reps + defs)
		if p.sub.isFalse(7) {
			p.codec = compress.BlockNone
		}
	}
	text := slices.Grow(r.scratch.text[:0], size)[:size]
	r.scratch.text = text
	copy(text, p.body[:stored])
	if size > stored || len(p.body) > stored && p.typ == pageV1 {
		if err := r.scratch.blocks.Decode(text[stored:], p.body[stored:], p.codec); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return r.levels(p, text)
}

// levels splits the text of p into levels and values.
func (r *pages) levels(p *page, text []byte) error {
	at := 0
	for k, most := range [2]int{r.leaf.maxRep, r.leaf.maxDef} {
		enc := int64(encRLE)
		if p.typ == pageV1 {
			enc = p.sub.int([2]int16{4, 3}[k])
		}
		h := hybrid{width: bits.Len(uint(most)), swap: enc == encBitPacked}
		n := 0
		switch {
		case h.width > 0 && enc != encRLE && !h.swap:
			return fmt.Errorf("the levels have encoding %d, which is not supported", enc)
		case p.typ == pageV2:
			n = int(p.sub.int([2]int16{6, 5}[k]))
		case h.width == 0:
		case h.swap:
			n = (p.n*h.width + 7) / 8
		case len(text)-at < 4:
			return errShort
		default:
			n = int(binary.LittleEndian.Uint32(text[at:]))
			at += 4
		}
		if n > len(text)-at {
			return errShort
		}
		h.b = text[at : at+n]
		if at += n; h.width == 0 {
			h = hybrid{left: p.n}
		}
		if k == 0 {
			p.rep = h
		} else {
			p.def = h
		}
	}
	p.levels, p.values = text[:at], text[at:]
	notNull, err := countLevels(p.def, p.n, r.leaf.maxDef)
	if err == nil {
		r.src, err = newSource(r.leaf, p.enc, p.values, notNull, r.dict, r.entries)
	}
	return err
}

// countLevels returns how many of the n levels are equal to most, the greatest
// one that is valid.
func countLevels(h hybrid, n, most int) (count int, err error) {
	for n > 0 {
		v, k, err := h.next()
		if err != nil {
			return 0, err
		}
		if int(v) > most {
			return 0, fmt.Errorf("a level of %d in a column with at most %d: %w", v, most, errDamaged)
		}
		if k = min(k, n); int(v) == most {
			count += k
		}
		n -= k
	}
	return count, nil
}

// dictionary reads a dictionary.
func (r *pages) dictionary(p *page, size int) error {
	if r.count > 0 || r.entries > 0 {
		return fmt.Errorf("a second dictionary: %w", errDamaged)
	}
	if p.enc != encPlain && p.enc != encPlainDictionary {
		return fmt.Errorf("encoding %d of a dictionary is not supported", p.enc)
	}
	text := make([]byte, size)
	if err := r.scratch.blocks.Decode(text, p.body, p.codec); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if p.n > size {
		return errShort
	}
	r.entries = p.n
	src, err := newSource(r.leaf, encPlain, text, p.n, nil, 0)
	if err != nil || !r.resolve {
		return errors.Join(err, checkValues(src, p.n))
	}
	d := &dictionary{text: text[:0], at: make([]uint32, 1, p.n+1)}
	for range p.n {
		v, err := src.next()
		if err != nil {
			return err
		}
		d.text = append(d.text, v...) // overwrites the preceding length
		d.at = append(d.at, uint32(len(d.text)))
	}
	r.dict = d
	return nil
}

// counts are the rows of a chunk, and the elements of its innermost lists.
type counts struct{ rows, elements int }

// checkAll reads all pages. It returns an error unless the pages have the given
// number of rows and the columns of a list have the same number of elements.
// checkAll stores this number in elements for the first column of a list, and
// compares it for the others.
func (r *pages) checkAll(rows int64, elements map[string]int) error {
	var n counts
	for {
		p, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := r.check(p, &n); err != nil {
			return err
		}
	}
	if int64(n.rows) != rows {
		return fmt.Errorf("%d rows, but %d in the row group: %w", n.rows, rows, errDamaged)
	}
	if r.leaf.maxRep == 0 {
		return nil
	}
	if other, ok := elements[r.leaf.list]; ok && other != n.elements {
		return fmt.Errorf("%d elements, but %d in another column of the list: %w", n.elements, other, errDamaged)
	}
	elements[r.leaf.list] = n.elements
	return nil
}

// check reads all levels and values of p and adds them to n. It goes from run to
// run, because a few bytes can announce a billion values.
func (r *pages) check(p *page, n *counts) error {
	if p.typ == pageDictionary {
		return nil
	}
	rep, def, notNull := p.rep, p.def, 0
	for left := p.n; left > 0; {
		a, k, err := rep.next()
		if err != nil {
			return err
		}
		d, j, err := def.next()
		if err != nil {
			return err
		}
		m := min(k, j, left)
		rep.left, def.left, left = rep.left+k-m, def.left+j-m, left-m
		if int(a) > r.leaf.maxRep || int(d) > r.leaf.maxDef {
			return fmt.Errorf("a level is too large: %w", errDamaged)
		}
		if int(d) == r.leaf.maxDef {
			notNull += m
		}
		if a == 0 {
			n.rows += m
		} else if least := r.leaf.repeated[a-1]; int(d) < least || r.last < least {
			return fmt.Errorf("a second element in a list without elements: %w", errDamaged)
		}
		if r.last = int(d); r.leaf.maxRep > 0 && r.last >= r.leaf.repeated[r.leaf.maxRep-1] {
			n.elements += m
		}
	}
	return checkValues(r.src, notNull)
}

// checkValues reads n values.
func checkValues(src source, n int) error {
	switch s := src.(type) {
	case *indexSource: // check whole runs, which can be long
		for n > 0 {
			_, k, err := s.run()
			if err != nil {
				return err
			}
			n -= k
		}
	case *fixedSource:
		if n > 0 && len(s.b)/max(1, s.width) < n {
			return errShort
		}
	case *splitSource: // newSource has checked the length
	default:
		for range n {
			if _, err := s.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// level returns the levels of the next value of p, and the value unless it is
// null.
func (r *pages) level(p *page) (rep, def int, v []byte, err error) {
	d, err := p.def.one()
	if err != nil {
		return 0, 0, nil, err
	}
	if r.leaf.maxRep > 0 {
		v, err := p.rep.one()
		if err != nil || int(v) > r.leaf.maxRep {
			return 0, 0, nil, errors.Join(errShort, err)
		}
		rep = int(v)
	}
	if def = int(d); def == r.leaf.maxDef {
		v, err = r.src.next()
	}
	return rep, def, v, err
}

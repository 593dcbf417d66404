package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// A made describes a chunk with other values or fewer rows than its source.
type made struct {
	pages     []madePage
	dict      []byte // the dictionary page, which precedes the others
	text      int64  // length of the pages before compression, with their headers
	values    int64  // number of values, including nulls
	nulls     int64
	unencoded int64       // bytes of byte strings; only of changed columns
	bounds                // only of changed columns
	encodings [][3]int64  // page type, encoding, number of pages
	repHist   []int64     // number of values by repetition level
	defHist   []int64     // number of values by definition level
	sums      fingerprint // fingerprint of the values that a reader must find
	changed   bool
	bloom     bloom.SplitBlockFilter // nil: no filter, or the filter of the source
}

// A madePage describes a page of a made.
type madePage struct {
	size, first, nulls, unencoded int64 // first: number of its first row
	bounds
	repHist, defHist []int64
	source           int // number of the page of the source, among its data pages
	null             bool
}

// bounds are the least and greatest value; nil if all are null.
type bounds struct{ lo, hi []byte }

func (b *bounds) add(v []byte) {
	if b.lo == nil || bytes.Compare(v, b.lo) < 0 {
		b.lo = append(b.lo[:0:0], v...)
		if b.lo == nil {
			b.lo = []byte{}
		}
	}
	if b.hi == nil || bytes.Compare(v, b.hi) > 0 {
		b.hi = append(b.hi[:0:0], v...)
		if b.hi == nil {
			b.hi = []byte{}
		}
	}
}

// A fingerprint is a hash of levels and values in their order. It does not
// depend on how they are divided into pages.
type fingerprint struct{ levels, values uint64 }

func (f *fingerprint) add(rep, def int) {
	f.levels = f.levels*0x9e3779b97f4a7c15 + uint64(rep)<<16 + uint64(def) + 1
}

func (f *fingerprint) value(v []byte) {
	f.values = f.values*0x9e3779b97f4a7c15 + bloom.XXH64{}.Sum64(v)
}

// A maker writes a chunk again, row by row, with other values or without some
// rows. The rows of a page that are kept form a page with the same encoding and
// compression. If they become too large for a page, they form several pages. After
// the dictionary becomes too large, pages have the encoding PLAIN.
type maker struct {
	made
	src  *pages
	page *page // the current page of the source
	left int   // number of values left in page
	next int64 // number of the next row of the source
	rows int64 // number of rows written, including the current page
	out  spool

	enc      encoder
	rep, def []byte // levels of the page
	cur      madePage
	comp     []byte

	dictPage *page // dictionary page of the source
	ids      map[string]int64
	dictText []byte
	dictMost int // length at which a dictionary is closed: PLAIN pages follow
	closed   bool
}

// Limits of a page of a maker.
const (
	makerBytes  = 8 << 20
	makerLevels = 1 << 20
	leastDict   = 1 << 20
)

// newMaker returns a maker of the chunk that src reads.
func newMaker(src *pages, changed bool, dir string) *maker {
	src.resolve = changed
	m := &maker{src: src, out: spool{dir: dir}, enc: encoder{leaf: src.leaf}}
	m.changed = changed
	m.repHist, m.defHist = make([]int64, src.leaf.maxRep+1), make([]int64, src.leaf.maxDef+1)
	return m
}

// row reads a row, and writes it if keep is set. In a changed column, cell is
// its value unless the value is null.
func (m *maker) row(keep bool, cell []byte) error {
	if len(m.def) >= makerLevels || m.enc.size() >= makerBytes {
		if err := m.flush(); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		if m.left == 0 {
			err := m.load()
			if errors.Is(err, io.EOF) && first {
				return errShort
			} else if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		if !first && m.page.rep.peek() == 0 {
			break
		}
		rep, def, v, err := m.src.level(m.page)
		if err != nil {
			return err
		}
		if first != (rep == 0) {
			return fmt.Errorf("a row begins with a repetition level above 0: %w", errDamaged)
		}
		m.left--
		if keep {
			if first {
				m.rows++
			}
			m.add(rep, def, v, cell)
		}
		if m.src.leaf.maxRep == 0 {
			break
		}
	}
	m.next++
	return nil
}

// add adds a value to the page.
func (m *maker) add(rep, def int, v, cell []byte) {
	if len(m.def) == 0 {
		m.cur = madePage{first: m.rows - 1, source: m.page.index, null: true,
			repHist: make([]int64, len(m.repHist)), defHist: make([]int64, len(m.defHist))}
	}
	m.rep, m.def = append(m.rep, byte(rep)), append(m.def, byte(def))
	m.cur.repHist[rep]++
	m.cur.defHist[def]++
	m.sums.add(rep, def)
	if def < m.src.leaf.maxDef {
		m.cur.nulls++
		return
	}
	m.cur.null = false
	if !m.changed {
		m.sums.value(v)
		m.enc.add(v)
		return
	}
	m.sums.value(cell)
	m.cur.add(cell)
	m.cur.unencoded += int64(len(cell))
	if !isDictionary(m.enc.enc) {
		m.insert(cell)
		m.enc.add(cell)
		return
	}
	id, ok := m.ids[string(cell)]
	if !ok {
		id = int64(len(m.ids))
		m.ids[string(cell)] = id
		m.insert(cell)
		m.dictText = binary.LittleEndian.AppendUint32(m.dictText, uint32(len(cell)))
		m.dictText = append(m.dictText, cell...)
	}
	m.enc.index(id)
}

// insert adds a value to the Bloom filter.
func (m *maker) insert(v []byte) {
	if m.bloom != nil {
		m.bloom.Insert(bloom.XXH64{}.Sum64(v))
	}
}

// load writes the page and reads the next page that has values.
func (m *maker) load() error {
	if err := m.flush(); err != nil {
		return err
	}
	for m.left == 0 {
		p, err := m.src.next()
		if err != nil {
			return err
		}
		if p.typ == pageDictionary {
			m.dictPage = p
			m.ids, m.dictMost = map[string]int64{}, max(leastDict, int(p.head.int(2)*5/4))
			if !m.changed {
				m.dict = slices.Concat(p.raw, p.body)
				m.text += int64(len(p.raw)) + p.head.int(2)
				m.count(p.typ, p.enc)
			}
			continue
		}
		m.page, m.left = p, p.n
	}
	m.reset()
	return nil
}

// reset begins a page like the source's.
func (m *maker) reset() {
	enc := m.page.enc
	if m.changed && isDictionary(enc) && m.closed {
		enc = encPlain
	}
	m.enc.reset(enc)
	m.rep, m.def = m.rep[:0], m.def[:0]
}

// flush writes the page, if rows of it are kept.
func (m *maker) flush() error {
	if len(m.def) == 0 {
		return nil
	}
	p := m.page
	v2 := p.typ == pageV2
	var levels []byte
	var lengths [2]int
	for k, most := range [2]int{m.src.leaf.maxRep, m.src.leaf.maxDef} {
		if most == 0 {
			continue
		}
		b, err := (&rle.Encoding{BitWidth: bits.Len(uint(most))}).EncodeLevels(nil, [2][]byte{m.rep, m.def}[k])
		if err != nil {
			return err
		}
		if lengths[k] = len(b); !v2 {
			levels = binary.LittleEndian.AppendUint32(levels, uint32(len(b)))
		}
		levels = append(levels, b...)
	}
	stored := len(levels) * b2i(v2)
	text, err := m.enc.bytes(levels)
	if err != nil {
		return err
	}
	m.comp = m.comp[:0]
	if len(text) > stored {
		if m.comp, err = compressPage(p.codec, m.comp, text[stored:]); err != nil {
			return err
		}
	}
	id, encID := p.subID()
	sub := slices.Clone(p.sub)
	sub.setInt(1, thriftI32, int64(len(m.def)))
	sub.setInt(encID, thriftI32, m.enc.enc)
	statsID := int16(5)
	if v2 {
		statsID = 8
		sub.setInt(2, thriftI32, m.cur.nulls)
		sub.setInt(3, thriftI32, m.rows-m.cur.first)
		sub.setInt(5, thriftI32, int64(lengths[1]))
		sub.setInt(6, thriftI32, int64(lengths[0]))
	} else {
		sub.setInt(3, thriftI32, encRLE)
		sub.setInt(4, thriftI32, encRLE)
	}
	if stats := sub.sub(statsID); stats != nil {
		sub.setStruct(statsID, m.statistics(stats, m.cur.bounds, m.cur.nulls))
	}
	m.cur.size, err = m.write(p.head, id, sub, text[:stored], m.comp, len(text))
	m.count(p.typ, m.enc.enc)
	m.end()
	return err
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// end counts the page that was written.
func (m *maker) end() {
	if m.cur.lo != nil {
		m.bounds.add(m.cur.lo)
		m.bounds.add(m.cur.hi)
	}
	m.cur.lo, _ = shorten(m.cur.lo, false)
	m.cur.hi, _ = shorten(m.cur.hi, true)
	m.values += int64(len(m.def))
	m.nulls += m.cur.nulls
	m.unencoded += m.cur.unencoded
	for i, n := range m.cur.repHist {
		m.repHist[i] += n
	}
	for i, n := range m.cur.defHist {
		m.defHist[i] += n
	}
	m.pages = append(m.pages, m.cur)
	m.closed = m.closed || len(m.dictText) > m.dictMost
	m.reset()
}

// write writes a page with the header head, in which sub is the header of its
// type. It returns the length of the page in the file.
func (m *maker) write(head fields, id int16, sub fields, levels, comp []byte, size int) (int64, error) {
	head = slices.Clone(head)
	head.setInt(2, thriftI32, int64(size))
	head.setInt(3, thriftI32, int64(len(levels)+len(comp)))
	if head.has(4) {
		sum := crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, comp)
		head.setInt(4, thriftI32, int64(int32(sum))) //nolint:gosec // the field holds the bits of a uint32
	}
	head.setStruct(id, sub)
	out := appendStruct(nil, head)
	m.text += int64(len(out) + size)
	out = append(append(out, levels...), comp...)
	if id == 7 {
		m.dict = out
		return int64(len(out)), nil
	}
	_, err := m.out.Write(out)
	return int64(len(out)), err
}

// count counts a page of a type and encoding.
func (m *maker) count(typ, enc int64) {
	for i := range m.encodings {
		if e := &m.encodings[i]; e[0] == typ && e[1] == enc {
			e[2]++
			return
		}
	}
	m.encodings = append(m.encodings, [3]int64{typ, enc, 1})
}

// finish writes the last page and the dictionary. If all rows of the source were
// read, it checks that no value follows.
func (m *maker) finish(all bool) error {
	if err := m.flush(); err != nil {
		return err
	}
	if all {
		if err := m.load(); !errors.Is(err, io.EOF) {
			return cmp.Or(err, errMore)
		}
	}
	if m.dictPage == nil || !m.changed {
		return nil
	}
	p := m.dictPage
	comp, err := compressPage(p.codec, nil, m.dictText)
	if err != nil {
		return err
	}
	sub := slices.Clone(p.sub)
	sub.setInt(1, thriftI32, int64(len(m.ids)))
	sub.drop(3) // is_sorted
	m.count(p.typ, p.enc)
	_, err = m.write(p.head, 7, sub, nil, comp, len(m.dictText))
	m.ids, m.dictText = nil, nil
	return err
}

// peek returns the next value without reading it.
func (h *hybrid) peek() uint32 {
	next := *h
	v, _ := next.one()
	return v
}

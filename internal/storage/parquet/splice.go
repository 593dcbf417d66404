package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A splicer writes a file of chunks that are copied byte for byte and of chunks
// that were made:
//
//	PAR1 │ chunks and Bloom filters of each row group │ column indexes │ offset indexes │ footer
//
// Copied pages are not decompressed: the Text has found the damage in them. The
// footer is taken from the first file, except for what follows from the chunks.
type splicer struct {
	out     *bufio.Writer
	at      int64
	dir     string // directory of temporary files
	meta    fields
	groups  [][]byte
	rows    int64
	scratch scratch
	// The indexes follow all row groups. Until end writes them, the offsets of
	// indexes in groups count from the start of each spool.
	columnIndexes, offsetIndexes spool
	checks                       []check
	readBack                     bool // the output can be read
}

// A check says what a reader must find in a chunk that was made.
type check struct {
	group, column int
	sums          fingerprint
	changed       bool
}

// errReadBack reports that the output is not what was written.
var errReadBack = errors.New("the output does not read back as it was written; try again, and check the memory and the disk")

// Write implements [io.Writer].
func (s *splicer) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	s.at += int64(n)
	return n, err
}

// begin writes the start of the file.
func (s *splicer) begin(f *file) error {
	s.meta = f.meta
	_, err := s.Write([]byte("PAR1"))
	return err
}

// A selection is what to write of a row group.
type selection struct {
	file   *file
	group  int
	keep   []uint64 // bits of the rows; the rest is dropped
	kept   int64
	end    int64 // the number after the last row of keep
	makers map[int]*maker
}

// all reports whether no row is dropped.
func (s *selection) all() bool { return s.kept == s.file.rows[s.group] }

// writeGroup writes the rows of a row group that are selected.
func (s *splicer) writeGroup(sel *selection) error {
	f := sel.file
	rg, chunks, err := f.group(sel.group)
	if err != nil {
		return err
	}
	start := s.at
	var text, size int64 // added by the new chunks
	for i := range chunks {
		c := &chunks[i]
		was, wasText := c.meta.int(7), c.meta.int(6)
		m, err := s.writeChunk(sel, c, i)
		if err != nil {
			return fmt.Errorf("row group %d of %d, column %s: %w", sel.group+1, len(f.groups), f.leaves[i].path, err)
		}
		size, text = size+c.meta.int(7)-was, text+c.meta.int(6)-wasText
		if err := s.writeIndexes(f, c, m); err != nil {
			return fmt.Errorf("row group %d of %d, column %s: %w", sel.group+1, len(f.groups), f.leaves[i].path, err)
		}
	}
	var body []byte
	for i := range chunks {
		if err := s.writeBloom(f, &chunks[i], sel.makers[i]); err != nil {
			return err
		}
		chunks[i].setStruct(3, chunks[i].meta)
		body = appendStruct(body, chunks[i].fields)
	}
	rg.setList(1, thriftStruct, len(chunks), body)
	rg.setInt(2, thriftI64, rg.int(2)+text)
	rg.setInt(3, thriftI64, sel.kept)
	if rg.int(5) != 0 {
		rg.setInt(5, thriftI64, start)
	}
	if rg.has(6) {
		rg.setInt(6, thriftI64, rg.int(6)+size)
	}
	if rg.has(7) {
		rg.setInt(7, thriftI16, int64(len(s.groups)))
	}
	sortedBy(&rg, sel.makers)
	s.groups = append(s.groups, appendStruct(nil, rg))
	s.rows += sel.kept
	return nil
}

// sortedBy preserves the declared sort order up to the first changed column.
func sortedBy(rg *fields, changed map[int]*maker) {
	var body []byte
	n := 0
	for _, raw := range rg.list(4) {
		if sc, _, _ := readStruct(raw); changed[int(sc.int(1))] != nil {
			break
		}
		body, n = append(body, raw...), n+1
	}
	if n == 0 {
		rg.drop(4)
	} else {
		rg.setList(4, thriftStruct, n, body)
	}
}

// writeChunk writes a chunk and updates its metadata. It returns nil if it has
// copied the chunk.
func (s *splicer) writeChunk(sel *selection, c *chunk, i int) (*maker, error) {
	f, m := sel.file, sel.makers[i]
	start, from := s.at, c.from
	switch c.int(2) { // the deprecated file_offset
	case 0:
	case from:
		c.setInt(2, thriftI64, start)
	default:
		c.setInt(2, thriftI64, 0) // the metadata is not written a second time
	}
	if m == nil && sel.all() {
		err := s.copyChunk(f, c, i)
		c.meta.setInt(7, thriftI64, s.at-start)
		for _, id := range []int16{9, 10, 11} {
			c.meta.shift(id, start-from)
		}
		return nil, err
	}
	if m == nil {
		m = newMaker(f.readChunk(c, &f.leaves[i], &s.scratch, f.limits.MaxPage), false, s.dir)
		for row := range sel.end {
			if err := m.row(sel.keep[row/64]>>(row%64)&1 == 1, nil); err != nil {
				m.out.close()
				return nil, err
			}
		}
	}
	defer m.out.close()
	// The Text has read the pages with URLs to their ends, and reports what is wrong there.
	if err := m.finish(!m.changed && sel.end == f.rows[sel.group]); err != nil {
		return nil, err
	}
	ck := check{len(s.groups), i, m.sums, m.changed}
	if s.readBack {
		s.checks = append(s.checks, ck)
	} else if err := s.checkSpool(f, c, m, ck); err != nil {
		return nil, err
	}
	if _, err := s.Write(m.dict); err != nil {
		return nil, err
	}
	err := m.out.copyTo(s)
	m.describe(&c.meta, start, s.at-start)
	return m, err
}

// copyChunk copies the pages of a chunk.
func (s *splicer) copyChunk(f *file, c *chunk, i int) error {
	r := f.readChunk(c, &f.leaves[i], &s.scratch, f.limits.MaxPage)
	r.raw = true
	for {
		p, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := s.Write(p.raw); err != nil {
			return err
		}
		if _, err := s.Write(p.body); err != nil {
			return err
		}
	}
}

// writeIndexes adds the column index and the offset index of a chunk, which was
// copied if m is nil. c.meta describes the output.
func (s *splicer) writeIndexes(f *file, c *chunk, m *maker) error {
	ci, err := f.readIndex(c, 6)
	if err != nil {
		return err
	}
	oi, err := f.readIndex(c, 4)
	if err != nil {
		return err
	}
	var columns, offsets []byte
	switch {
	case m != nil && ci != nil:
		columns = m.columnIndex(ci)
	case ci != nil:
		columns = appendStruct(nil, ci)
	}
	first := c.meta.int(9)
	switch {
	case oi == nil:
	case m != nil:
		if len(m.dict) > 0 && c.meta.int(11) == 0 {
			first += int64(len(m.dict)) // data_page_offset is the dictionary
		}
		offsets = m.offsetIndex(oi, first)
	default:
		if offsets, err = shiftOffsets(oi, startOf(c.meta)-c.from); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		id   int16
		body []byte
		to   *spool
	}{{6, columns, &s.columnIndexes}, {4, offsets, &s.offsetIndexes}} {
		if c.drop(x.id, x.id+1); x.body == nil {
			continue
		}
		c.setInt(x.id, thriftI64, x.to.n)
		c.setInt(x.id+1, thriftI32, int64(len(x.body)))
		x.to.dir = s.dir
		if _, err := x.to.Write(x.body); err != nil {
			return err
		}
	}
	return nil
}

// readIndex returns the index whose offset and length are the fields id and
// id+1 of a chunk; nil if the chunk lacks it.
func (f *file) readIndex(c *chunk, id int16) (fields, error) {
	if !c.has(id) || !c.has(id+1) {
		return nil, nil
	}
	b, err := f.read(c.int(id), c.int(id+1), f.limits.MaxPage)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	index, _, err := readStruct(b)
	if err != nil {
		return nil, errIndex
	}
	return index, nil
}

// writeBloom writes the Bloom filter of a chunk: a new one if m is not nil.
func (s *splicer) writeBloom(f *file, c *chunk, m *maker) error {
	head, size, err := f.bloomOf(c)
	if head == nil || err != nil {
		return err
	}
	if m != nil && m.bloom == nil {
		c.meta.drop(14, 15)
		return nil
	}
	at := c.meta.int(14) + int64(len(head))
	c.meta.setInt(14, thriftI64, s.at)
	if c.meta.has(15) {
		c.meta.setInt(15, thriftI32, int64(len(head))+size)
	}
	if _, err := s.Write(head); err != nil {
		return err
	}
	if m != nil {
		_, err = s.Write(m.bloom.Bytes())
		return err
	}
	_, err = io.Copy(s, io.NewSectionReader(f.in, at, size))
	return err
}

// end writes the indexes and the footer. If in is not nil, it reads the output,
// and end reads the new chunks back from it and checks them.
func (s *splicer) end(in io.ReaderAt) error {
	columns := s.at
	if err := s.columnIndexes.copyTo(s); err != nil {
		return err
	}
	offsets := s.at
	if err := s.offsetIndexes.copyTo(s); err != nil {
		return err
	}
	var list []byte
	for _, raw := range s.groups {
		rg, _, err := readStruct(raw)
		if err != nil {
			return err
		}
		var body []byte
		chunks := rg.list(1)
		for _, raw := range chunks {
			c, _, _ := readStruct(raw)
			if c.has(6) {
				c.setInt(6, thriftI64, columns+c.int(6))
			}
			if c.has(4) {
				c.setInt(4, thriftI64, offsets+c.int(4))
			}
			body = appendStruct(body, c)
		}
		rg.setList(1, thriftStruct, len(chunks), body)
		list = appendStruct(list, rg)
	}
	s.meta.setList(4, thriftStruct, len(s.groups), list)
	s.meta.setInt(3, thriftI64, s.rows)
	footer := appendStruct(nil, s.meta)
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	if _, err := s.Write(append(footer, "PAR1"...)); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil || in == nil {
		return err
	}
	return s.checkOutput(in)
}

// close releases temporary files.
func (s *splicer) close() {
	s.columnIndexes.close()
	s.offsetIndexes.close()
}

// checkOutput reads back from the output the chunks that were made.
func (s *splicer) checkOutput(in io.ReaderAt) error {
	f, err := openFile(in, s.at, Limits{MaxRatio: -1, MaxPage: 1 << 40})
	if err != nil {
		return fmt.Errorf("%w: %w", errReadBack, err)
	}
	if f.total != s.rows || len(f.groups) != len(s.groups) {
		return errReadBack
	}
	var chunks []chunk
	for i, ck := range s.checks {
		if i == 0 || ck.group != s.checks[i-1].group {
			if _, chunks, err = f.group(ck.group); err != nil {
				return fmt.Errorf("%w: %w", errReadBack, err)
			}
		}
		if err := s.checkChunk(f, &chunks[ck.column], ck); err != nil {
			return err
		}
	}
	return nil
}

// checkSpool reads a chunk that is about to be written.
func (s *splicer) checkSpool(f *file, c *chunk, m *maker, ck check) error {
	size := int64(len(m.dict)) + m.out.n
	meta := fields{{id: 4, typ: thriftI32, raw: appendZigzag(nil, c.meta.int(4))}}
	meta.setInt(5, thriftI64, m.values)
	meta.setInt(7, thriftI64, size)
	from := &file{in: prefixed{m.dict, &m.out}, limit: size, leaves: f.leaves, limits: Limits{MaxRatio: -1, MaxPage: 1 << 40}}
	return s.checkChunk(from, &chunk{meta: meta}, ck)
}

// checkChunk reads a chunk and compares its levels and values with ck.
func (s *splicer) checkChunk(f *file, c *chunk, ck check) error {
	r := f.readChunk(c, &f.leaves[ck.column], &s.scratch, f.limits.MaxPage)
	r.resolve = ck.changed
	var got fingerprint
	for {
		p, err := r.next()
		if errors.Is(err, io.EOF) && got == ck.sums {
			return nil
		}
		for i := 0; err == nil && p.typ != pageDictionary && i < p.n; i++ {
			var rep, def int
			var v []byte
			if rep, def, v, err = r.level(p); err == nil {
				got.add(rep, def)
				if def == r.leaf.maxDef {
					got.value(v)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("column %s: %w: %w", r.leaf.path, errReadBack, err)
		}
	}
}

// A prefixed reads a dictionary page and the pages after it.
type prefixed struct {
	dict []byte
	rest *spool
}

// ReadAt implements [io.ReaderAt].
func (p prefixed) ReadAt(b []byte, at int64) (n int, err error) {
	if at < int64(len(p.dict)) {
		n = copy(b, p.dict[at:])
	}
	if n < len(b) {
		k, err := p.rest.ReadAt(b[n:], at+int64(n-len(p.dict)))
		return n + k, err
	}
	return n, nil
}

// startOf returns the offset of the first page of a chunk: the least offset that is
// greater than 0, because writers leave 0 for a kind of page that the chunk lacks.
func startOf(meta fields) (start int64) {
	for _, id := range []int16{9, 10, 11} {
		if at := meta.int(id); at > 0 && (at < start || start == 0) {
			start = at
		}
	}
	return start
}

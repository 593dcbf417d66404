package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Physical types.
const (
	typeBoolean  = 0
	typeInt32    = 1
	typeInt64    = 2
	typeInt96    = 3
	typeFloat    = 4
	typeDouble   = 5
	typeBytes    = 6
	typeFixedLen = 7
)

// A file is an open Parquet file.
type file struct {
	in     io.ReaderAt
	size   int64
	limit  int64 // start of the footer
	meta   fields
	leaves []leaf
	groups [][]byte // encoded metadata of the row groups
	rows   []int64  // rows of each row group
	total  int64    // total number of rows
	limits Limits
	spent  expansion
}

// A leaf is a column of values.
type leaf struct {
	path           string
	typ            int64
	width          int // width of a value in bytes; 0: byte strings and booleans
	maxRep, maxDef int
	repeated       []int  // for each list around the column, outermost first: the definition level from which the list has an element
	list           string // path of the innermost of these lists
}

// A chunk is a column chunk: the values of a leaf in a row group.
type chunk struct {
	fields        // ColumnChunk
	meta   fields // ColumnMetaData
	from   int64  // first byte in the file
}

// errEncrypted reports an encrypted file.
var errEncrypted = &compress.UnsupportedError{Detail: "the Parquet file is encrypted, which is not supported: decrypt it first"}

var errMissing = errors.New("required fields are missing")

var errSchema = errors.New("malformed schema")

const minSize = 12 // two magic numbers and the length of the footer

// openFile opens a Parquet file.
func openFile(in io.ReaderAt, size int64, limits Limits) (*file, error) {
	f := &file{in: in, size: size, limits: limits.withDefaults()}
	var tail [8]byte
	if size < minSize {
		return nil, fmt.Errorf("the file has no footer: %w", io.ErrUnexpectedEOF)
	}
	if _, err := in.ReadAt(tail[:], size-8); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, fmt.Errorf("the file has no footer: %w", io.ErrUnexpectedEOF)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-minSize {
		return nil, errors.New("damaged footer: its length exceeds the size of the file")
	}
	f.limit = size - 8 - n
	b := make([]byte, n)
	if _, err := in.ReadAt(b, f.limit); err != nil {
		return nil, err
	}
	if err := f.parse(b); err != nil {
		if errors.Is(err, errEncrypted) {
			return nil, err
		}
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	return f, nil
}

// parse parses the footer.
func (f *file) parse(b []byte) error {
	meta, n, err := readStruct(b)
	switch {
	case err != nil:
		return err
	case meta.has(8) || meta.has(9):
		return errEncrypted
	case n != len(b):
		return fmt.Errorf("%d trailing bytes after the metadata", len(b)-n)
	}
	if !meta.hasAll(thriftI32, 1) || !meta.hasAll(thriftList, 2, 4) || !meta.hasAll(thriftI64, 3) {
		return errMissing
	}
	f.meta, f.groups = meta, meta.list(4)
	if err := f.parseSchema(meta.list(2)); err != nil {
		return err
	}
	return f.checkGroups()
}

// parseSchema collects the leaves of the schema, which lists a tree depth first.
func (f *file) parseSchema(elements [][]byte) error {
	at := 0
	var walk func(path []string, repeated []int, list string, def int) error
	walk = func(path []string, repeated []int, list string, def int) error {
		if at >= len(elements) || len(path) > 100 {
			return errSchema
		}
		e, _, err := readStruct(elements[at])
		if err != nil || !e.hasAll(thriftBinary, 4) {
			return errSchema
		}
		if at++; at > 1 {
			path = append(slices.Clip(path), string(e.bytes(4)))
			switch e.int(3) {
			case 1: // optional
				def++
			case 2: // repeated
				def++
				repeated, list = append(slices.Clip(repeated), def), strings.Join(path, ".")
			}
		}
		children := e.int(5)
		if children == 0 && e.has(1) {
			f.leaves = append(f.leaves, leaf{strings.Join(path, "."), e.int(1), widthOf(e.int(1), e.int(2)), len(repeated), def, repeated, list})
			return nil
		}
		for range children {
			if err := walk(path, repeated, list, def); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(nil, nil, "", 0)
	if err == nil && at != len(elements) {
		err = errSchema
	}
	return err
}

// widthOf returns the length of the values of a type in bytes, or 0 if the type
// is not of fixed length.
func widthOf(typ, length int64) int {
	switch typ {
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeInt96:
		return 12
	case typeFixedLen:
		return int(max(0, min(length, 1<<30)))
	}
	return 0
}

// checkGroups checks that the chunks lie in the file and share no bytes:
// otherwise a small file could announce an output of any size.
func (f *file) checkGroups() error {
	var spans [][2]int64
	for g := range f.groups {
		rg, chunks, err := f.group(g)
		if err != nil {
			return err
		}
		rows := rg.int(3)
		if rows < 0 || rows > 1<<48 {
			return errors.New("malformed row group")
		}
		f.rows, f.total = append(f.rows, rows), f.total+rows
		for i := range chunks {
			c := &chunks[i]
			n := c.meta.int(7)
			switch {
			case c.has(8) || c.has(9):
				return errEncrypted
			case len(c.bytes(1)) > 0:
				return errors.New("columns in another file are not supported (file_path)")
			case n < 0 || n > f.limit || c.from > f.limit-n || n > 0 && c.from < 4 || c.meta.int(5) < 0:
				return fmt.Errorf("column %s of row group %d lies outside the file", f.leaves[i].path, g+1)
			case c.meta.int(1) != f.leaves[i].typ:
				return fmt.Errorf("the type of column %s in row group %d differs from its type in the schema", f.leaves[i].path, g+1)
			case n > 0:
				spans = append(spans, [2]int64{c.from, c.from + n})
			}
		}
	}
	slices.SortFunc(spans, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i := 1; i < len(spans); i++ {
		if spans[i][0] < spans[i-1][1] {
			return errors.New("column chunks overlap")
		}
	}
	return nil
}

// group returns the metadata of a row group and its chunks.
func (f *file) group(g int) (fields, []chunk, error) {
	rg, _, err := readStruct(f.groups[g])
	if err != nil {
		return nil, nil, err
	}
	columns := rg.list(1)
	if !rg.hasAll(thriftI64, 2, 3) {
		return nil, nil, errMissing
	}
	if len(columns) != len(f.leaves) {
		return nil, nil, fmt.Errorf("row group %d has %d columns, but the schema has %d", g+1, len(columns), len(f.leaves))
	}
	chunks := make([]chunk, len(columns))
	for i, raw := range columns {
		c := &chunks[i]
		if c.fields, _, err = readStruct(raw); err != nil {
			return nil, nil, err
		}
		c.meta = c.sub(3)
		c.from = startOf(c.meta)
		if !c.hasAll(thriftI64, 2) || !c.meta.hasAll(thriftI32, 1, 4) || !c.meta.hasAll(thriftList, 2, 3) || !c.meta.hasAll(thriftI64, 5, 6, 7, 9) {
			return nil, nil, errMissing
		}
	}
	return rg, chunks, nil
}

// read returns the n bytes at offset at, which must lie before the footer. It
// returns an error if n is greater than most.
func (f *file) read(at, n, most int64) ([]byte, error) {
	if at < 4 || n < 0 || n > f.limit-at {
		return nil, errors.New("outside the file")
	}
	if n > most {
		return nil, fmt.Errorf("%d bytes, more than the limit of %d", n, most)
	}
	b := make([]byte, n)
	_, err := f.in.ReadAt(b, at)
	return b, err
}

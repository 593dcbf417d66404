// Package avro reads Avro object container files
// (https://avro.apache.org/docs/1.12.0/specification/#object-container-files).
// It is the only importer of the Avro library.
package avro

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/urlfold/urlfold/internal/storage/table"
)

// textBlock is the length of text from which Read returns it.
const textBlock = 32 << 10

// A Text presents the URLs of an Avro file as the lines of package table. Its
// memory is that of one block of the file, of 64 MiB at most. It is not safe for
// concurrent use.
//
// The file is read with a schema of its own that has only the fields with the
// URLs, so all others are skipped and not decoded.
type Text struct {
	in    *counter
	r     *ocf.Reader
	paths [][]string
	rows  int64
	buf   []byte
	at    int // buf[at:] is not delivered
	err   error
}

// OpenText returns the text of the fields with the given names, which are paths
// such as request.url, or of the only field that is called url or similar: see
// table.Choose. The error is a *table.ColumnError if there are no such fields;
// otherwise the file is damaged.
func OpenText(r io.Reader, names []string) (t *Text, err error) {
	defer catch(&err)
	t = &Text{in: &counter{r: r}}
	var columns *table.ColumnError
	t.r, err = ocf.NewReader(bufio.NewReaderSize(t.in, 64<<10), ocf.WithReaderSchemaFunc(func(rd *ocf.Reader) (*avro.Schema, error) {
		s, err := t.project(rd.Schema(), names)
		errors.As(err, &columns)
		return s, err
	}))
	switch {
	case columns != nil:
		return nil, columns
	case err != nil:
		return nil, fmt.Errorf("the header of the file is damaged: %w", err)
	}
	return t, nil
}

// project sets t.paths to the fields of s with the given names, and returns the
// schema that has only these.
func (t *Text) project(s *avro.Schema, names []string) (*avro.Schema, error) {
	root := s.Root().ExpandReferences()
	all := textFields(root, "", nil)
	chosen, err := table.Choose(all, names)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, i := range chosen {
		paths = append(paths, all[i])
		t.paths = append(t.paths, strings.Split(all[i], "."))
	}
	keep(root, "", paths)
	small, err := root.Schema()
	if err != nil {
		return nil, nil // a type with two meanings after keep: the library then decodes all fields
	}
	return small, nil
}

// maxDepth is the number of records inside each other that are searched.
const maxDepth = 16

// textFields appends the paths of the fields of n and of the records inside it
// that are strings or bytes, or a union of one of these with null.
func textFields(n *avro.SchemaNode, prefix string, list []string) []string {
	if n.Type != "record" || strings.Count(prefix, ".") > maxDepth {
		return list
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		if isText(&f.Type) {
			list = append(list, prefix+f.Name)
			continue
		}
		list = textFields(&f.Type, prefix+f.Name+".", list)
	}
	return list
}

// isText reports whether values of n are strings or bytes, or null.
func isText(n *avro.SchemaNode) bool {
	switch n.Type {
	case "string", "bytes":
		return n.LogicalType == ""
	case "union":
		texts := 0
		for i := range n.Branches {
			b := &n.Branches[i]
			switch {
			case isText(b) && b.Type != "union":
				texts++
			case b.Type != "null":
				return false
			}
		}
		return texts > 0
	}
	return false
}

// keep removes from n, a record, the fields that lead to none of paths.
func keep(n *avro.SchemaNode, prefix string, paths []string) {
	var kept []avro.SchemaField
	for _, f := range n.Fields {
		path := prefix + f.Name
		for _, p := range paths {
			if p == path || strings.HasPrefix(p, path+".") {
				if f.Type.Type == "record" {
					keep(&f.Type, path+".", paths)
				}
				kept = append(kept, f)
				break
			}
		}
	}
	n.Fields = kept
}

// Read implements io.Reader. Its error other than io.EOF describes damage and
// where it is.
func (t *Text) Read(p []byte) (int, error) {
	if t.at == len(t.buf) {
		t.buf, t.at = t.buf[:0], 0
		for t.err == nil && len(t.buf) < textBlock {
			t.err = t.next()
		}
		if len(t.buf) == 0 {
			return 0, t.err
		}
	}
	n := copy(p, t.buf[t.at:])
	t.at += n
	return n, nil
}

// next appends a record to buf.
func (t *Text) next() (err error) {
	defer catch(&err)
	var v any
	if err := t.r.Decode(&v); err != nil {
		if err == io.EOF {
			return err
		}
		return fmt.Errorf("record %d: %w; the records from there on are not read", t.rows+1, err)
	}
	for i, path := range t.paths {
		if i > 0 {
			t.buf = append(t.buf, '\t')
		}
		t.buf = appendValue(t.buf, v, path)
	}
	t.buf = append(t.buf, '\n')
	t.rows++
	return nil
}

// appendValue appends the cell for the value at path in v.
func appendValue(dst []byte, v any, path []string) []byte {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	switch v := v.(type) {
	case string:
		return table.AppendEscaped(dst, []byte(v))
	case []byte:
		return table.AppendEscaped(dst, v)
	}
	return dst
}

// Consumed returns how many bytes of the file are read.
func (t *Text) Consumed() int64 { return t.in.n.Load() }

// Close releases what t holds. It does not close the file.
func (t *Text) Close() {
	_ = t.r.Close() // it was only read
	if t.err == nil {
		t.err = errors.New("avro: read after Close")
	}
}

// A counter counts the bytes read from r.
type counter struct {
	r io.Reader
	n atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// catch sets *err to the panic of the function that defers it.
func catch(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("cannot be decoded: %v", e)
	}
}

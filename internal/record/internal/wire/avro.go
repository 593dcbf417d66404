package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/internal/ground/avroschema"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// AvroFormat is the format of Avro messages with the framing of Confluent: a
// zero byte, the id of the writer's schema in four bytes, and one value in
// Avro's binary encoding:
// https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format.
type AvroFormat struct{}

// Name implements [locate.Format].
func (AvroFormat) Name() string { return AvroName }

// AvroName is the name of the format.
const AvroName = "avro"

// Detect implements [locate.Format]. The format occurs only in messages, not in
// files whose format could be detected.
func (AvroFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// ErrNoSchema is the error of a SchemaFunc for an id without an Avro schema.
var ErrNoSchema = errors.New("no Avro schema with this id")

// Open implements [locate.Format].
func (AvroFormat) Open(c *locate.Settings) (locate.Reader, error) {
	path, err := parsePath(c, "avro")
	r := &avroReader{path: path, schemas: c.Schemas, stops: c.StopNoSchema, binaryFraming: binaryFraming{
		func([]byte) int { return -1 }, func([]byte) int64 { return 0 }, // this form does not occur in files
	}}
	errs := []error{checkBinary(c), err}
	if c.Schemas == nil {
		errs = append(errs, locate.Wrong("Schemas", "missing: avro needs the registry with the schemas of the messages"))
	}
	return r, errors.Join(errs...)
}

// avroReader reads Avro messages.
type avroReader struct {
	binaryFraming
	path    []jsonlines.Step
	schemas locate.SchemaFunc
	stops   bool // stops at an id without a schema
}

// MessagesOnly implements [locate.MessageReader].
func (*avroReader) MessagesOnly() {}

// AppendLength implements [locate.BinaryReader].
func (*avroReader) AppendLength(dst, _ []byte, n int) []byte { return appendUvarint(dst, uint64(n)<<1) }

// Locator implements [locate.Reader].
func (r *avroReader) Locator() locate.Locator {
	return &avroLocator{avroReader: r, programs: map[uint32]*avroProgram{}}
}

// avroProgram reads the messages with one schema. Both fields are nil if the
// registry has no such schema.
type avroProgram struct {
	t     *avroschema.Type
	route *avroRoute // nil: the schema lacks the field
}

// avroLocator is an avroReader with the programs of the schemas that it has
// seen.
type avroLocator struct {
	*avroReader
	programs map[uint32]*avroProgram
	last     *avroProgram // program of lastID
	lastID   uint32
}

// avroHeader is the length of the zero byte and the id.
const avroHeader = 5

// Locate implements [locate.Locator]. The offset of an error points to the
// damage or, if a message is cut, is its length.
func (l *avroLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	switch {
	case len(rec) > 0 && rec[0] != 0:
		return locate.Unparsed, 0
	case len(rec) < avroHeader:
		return locate.Unparsed, len(rec)
	}
	p, err := l.program(binary.BigEndian.Uint32(rec[1:]))
	switch {
	case err != nil:
		f.Err = err
		return locate.NoSchema, 1
	case p.t == nil:
		return locate.NoSchema, 1
	}
	w := avroWalk{f: f, b: rec, pos: avroHeader, fuel: avroFuel * int64(len(rec)+100)}
	var ok bool
	if p.route != nil {
		ok = w.follow(p.route, -1, 0)
	} else {
		ok = w.skip(p.t, 0)
	}
	switch {
	case !ok:
		return locate.Unparsed, w.pos
	case w.pos < len(rec):
		return locate.Unparsed, w.pos
	case p.route == nil:
		return locate.NoField, avroHeader
	case w.miss > 0:
		return locate.NoField, w.miss
	}
	return 0, 0
}

// program returns the program for the schema with an id.
func (l *avroLocator) program(id uint32) (*avroProgram, error) {
	if l.last != nil && l.lastID == id {
		return l.last, nil
	}
	p := l.programs[id]
	if p == nil {
		texts, err := l.schemas(id)
		switch {
		case errors.Is(err, ErrNoSchema) && !l.stops:
			return &avroProgram{}, nil // the schema may exist later
		case err != nil:
			return nil, fmt.Errorf("schema %d: %w", id, err)
		}
		p = &avroProgram{}
		if p.t, err = avroschema.Parse(texts); err != nil && l.stops {
			return nil, fmt.Errorf("schema %d: %w", id, err)
		}
		if err == nil {
			p.route = avroRouter{}.route(p.t, l.path)
		}
		l.programs[id] = p
	}
	l.last, l.lastID = p, id
	return p, nil
}

// avroFuel limits the number of values for each byte of a message. Values of
// types without bytes, such as null, could otherwise occupy the reader for
// hours. A message with more values counts as damaged.
const avroFuel = 16

// avroWalk reads one value. A method that returns false has set pos to the
// offset of the damage.
type avroWalk struct {
	f    *locate.Found
	b    []byte
	pos  int
	miss int // offset of a value on the path that cannot hold a URL; 0: none
	fuel int64
}

// cut sets pos for a message that is cut, and returns false.
func (w *avroWalk) cut() bool {
	w.pos = len(w.b)
	return false
}

// long reads a zigzag varint.
func (w *avroWalk) long() (n int64, ok bool) {
	rest := w.b[w.pos:]
	u, size := ReadUvarint(rest)
	if size == 0 {
		if len(rest) < maxVarint {
			w.pos = len(w.b)
		}
		return 0, false
	}
	w.pos += size
	return int64(u>>1) ^ -int64(u&1), true
}

// counted reads a length. It returns the range of the length, and the end of
// the bytes that follow, as many as the length says.
func (w *avroWalk) counted() (field locate.Span, end int, ok bool) {
	start := w.pos
	n, ok := w.long()
	switch {
	case !ok:
		return field, 0, false
	case n < 0:
		w.pos = start
		return field, 0, false
	case n > int64(len(w.b)-w.pos):
		return field, 0, w.cut()
	}
	return locate.Between(start, w.pos), w.pos + int(n), true
}

// skip skips a value of type t.
func (w *avroWalk) skip(t *avroschema.Type, depth int) bool {
	if w.fuel--; w.fuel < 0 || depth > avroschema.MaxNesting {
		return false
	}
	switch t.Kind {
	case avroschema.Fixed:
		if t.Size > len(w.b)-w.pos {
			return w.cut()
		}
		w.pos += t.Size
		return true
	case avroschema.Varint:
		_, ok := w.long()
		return ok
	case avroschema.Text:
		_, end, ok := w.counted()
		if ok {
			w.pos = end
		}
		return ok
	case avroschema.Record:
		return w.skipAll(t.Parts, depth)
	case avroschema.Union:
		i, ok := w.branch(t)
		return ok && w.skip(t.Parts[i], depth+1)
	}
	return w.blocks(t, nil, -1, depth)
}

func (w *avroWalk) skipAll(fields []*avroschema.Type, depth int) bool {
	for _, t := range fields {
		if !w.skip(t, depth+1) {
			return false
		}
	}
	return true
}

// branch reads the index of a branch of the union t.
func (w *avroWalk) branch(t *avroschema.Type) (int, bool) {
	start := w.pos
	i, ok := w.long()
	if ok && (i < 0 || i >= int64(len(t.Parts))) {
		w.pos, ok = start, false
	}
	return int(i), ok
}

// follow reads a value with the URL. outer is the index of the length field
// around it.
func (w *avroWalk) follow(r *avroRoute, outer, depth int) bool {
	if w.fuel--; w.fuel < 0 || depth > avroschema.MaxNesting {
		return false
	}
	switch {
	case r.url:
		field, end, ok := w.counted()
		if ok {
			w.f.AddCounted(field, end, outer)
			w.pos = end
		}
		return ok
	case r.t.Kind == avroschema.Record:
		return w.skipAll(r.t.Parts[:r.at], depth) && w.follow(r.next, outer, depth+1) && w.skipAll(r.t.Parts[r.at+1:], depth)
	case r.t.Kind == avroschema.Union:
		start := w.pos
		i, ok := w.branch(r.t)
		switch {
		case !ok:
			return false
		case r.routes[i] != nil:
			return w.follow(r.routes[i], outer, depth+1)
		case !r.t.Parts[i].Null:
			w.miss = start
		}
		return w.skip(r.t.Parts[i], depth+1)
	}
	return w.blocks(r.t, r, outer, depth)
}

// blocks reads an array or a map. If r is not nil, it leads to the URL in one
// element.
func (w *avroWalk) blocks(t *avroschema.Type, r *avroRoute, outer, depth int) bool {
	begin, found := w.pos, r == nil
	for index := int64(0); ; {
		n, end, inner, ok := w.block(r != nil, outer)
		switch {
		case !ok:
			return false
		case n == 0:
			if !found {
				w.miss = begin
			}
			return true
		}
		for ; n > 0; n-- {
			before := w.pos
			hot, ok := w.isStep(t, r, index)
			if hot = hot && !found; hot {
				found = true
				ok = ok && w.follow(r.next, inner, depth+1)
			} else {
				ok = ok && w.skip(t.Item, depth+1)
			}
			if !ok {
				return false
			}
			if index++; w.pos == before {
				break // items of zero bytes: a block may claim any number of them
			}
		}
		if end >= 0 && w.pos != end {
			return false
		}
	}
}

// block reads the header of a block: the number of elements, and the offset at
// which the block ends, or -1 if the header does not state it. If hot is set,
// it adds the length field of the block and returns its index as inner.
func (w *avroWalk) block(hot bool, outer int) (n int64, end, inner int, ok bool) {
	start := w.pos
	n, ok = w.long()
	if !ok || n >= 0 {
		return n, -1, outer, ok
	}
	field, end, ok := w.counted()
	switch {
	case !ok:
		return 0, 0, 0, false
	case n == -n: // the smallest int64 has no positive counterpart
		w.pos = start
		return 0, 0, 0, false
	case hot:
		outer = w.f.AddLength(field, end, outer)
	}
	return -n, end, outer, true
}

// isStep reports whether r leads to the element at w.pos, which has the given index
// in an array. In a map, isStep reads the key of the element.
func (w *avroWalk) isStep(t *avroschema.Type, r *avroRoute, index int64) (is, ok bool) {
	if t.Kind == avroschema.Array {
		return r != nil && index == int64(r.step.Index), true
	}
	field, end, ok := w.counted()
	if !ok {
		return false, false
	}
	w.pos = end
	return r != nil && bytes.Equal(w.b[field.End:end], r.step.Name), true
}

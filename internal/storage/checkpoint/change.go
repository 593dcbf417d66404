package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A state is all that is stored: the entries of files, in their serialized
// form, and the extents of outputs.
type state struct {
	sources map[string]*lines
	extents map[extentKey]engine.Extent
	cuts    bool              // see [Store.SetCuts]
	keys    string            // see [Update.Keys]
	extra   map[uint64]string // the last section of each type that is unknown to this program
}

// An extentKey identifies an output.
type extentKey struct{ sink, lane, path string }

func keyOf(m engine.Extent) extentKey { return extentKey{m.Sink, m.Lane, m.Path} }

func newState() *state {
	return &state{sources: map[string]*lines{}, extents: map[extentKey]engine.Extent{}, extra: map[uint64]string{}}
}

// empty reports whether the state has no entries.
func (s *state) empty() bool {
	for _, l := range s.sources {
		if l.len() > 0 {
			return false
		}
	}
	return true
}

// contents returns the state as entries and extents, in no particular order.
func (s *state) contents() (Contents, error) {
	c := Contents{Cuts: s.cuts || len(s.extents) > 0, Keys: s.keys}
	for _, l := range s.sources {
		for _, text := range l.all() {
			e, err := parseEntry(text)
			if err != nil {
				return Contents{}, err
			}
			c.Entries = append(c.Entries, e)
		}
	}
	c.Extents = slices.Collect(maps.Values(s.extents))
	return c, nil
}

// A change is the effect of one commit on a state. A snapshot is written as
// changes to an empty state.
type change struct {
	put     []item
	gone    []item // removed entries, which have no lines
	extents []engine.Extent
	dropped []extentKey
	cuts    *bool
	keys    *string
	extra   map[uint64]string
}

// An item is the entry of one file.
type item struct{ source, id, line string }

// empty reports whether c changes nothing.
func (c *change) empty() bool {
	return len(c.put)+len(c.gone)+len(c.extents)+len(c.dropped)+len(c.extra) == 0 && c.cuts == nil && c.keys == nil
}

// apply applies c to s.
func (s *state) apply(c *change) {
	for _, it := range c.gone {
		if l := s.sources[it.source]; l != nil {
			if l.remove(it.id); l.len() == 0 {
				delete(s.sources, it.source)
			}
		}
	}
	for _, it := range c.put {
		if s.sources[it.source] == nil {
			s.sources[it.source] = newLines()
		}
		s.sources[it.source].set(it.id, it.line)
	}
	for _, k := range c.dropped {
		delete(s.extents, k)
	}
	for _, m := range c.extents {
		s.extents[keyOf(m)] = m
	}
	if c.cuts != nil {
		s.cuts = *c.cuts
	}
	if c.keys != nil {
		s.keys = *c.keys
	}
	maps.Copy(s.extra, c.extra)
}

// Types of the sections in the payload of a frame. A payload is a sequence of
// sections; a section is its type and its length as varints, followed by its
// bytes.
//
// A program rejects a state with an unknown section type below
// optionalTypes, because it cannot interpret the state. It stores the last
// section of every other unknown type, and writes that section to its
// snapshots.
const (
	headSection    = 1 // a header, as JSON
	putSection     = 2 // entries, a line of JSON each
	goneSection    = 3 // source and id of entries that were removed, a line of JSON each
	extentSection  = 4 // output extents, a line of JSON each
	dropSection    = 5 // output extents that were removed, a line of JSON each
	cutsSection    = 6 // one byte: extents belong to the checkpoint (1) or not (0)
	endSection     = 7 // empty: marks the last frame of a snapshot
	keysSection    = 8 // description of a set of keys; empty without a set
	optionalTypes  = 128
	maxSectionType = 1 << 20
)

// errNewer is wrapped by errors about data that a later version of the program
// wrote.
var errNewer = errors.New("written by a newer version of urlfold")

// appendSection appends a section of type kind with the bytes text.
func appendSection(dst []byte, kind uint64, text []byte) []byte {
	dst = binary.AppendUvarint(dst, kind)
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// appendChange appends the sections of c.
func appendChange(dst []byte, c *change) ([]byte, error) {
	var text []byte
	flush := func(kind uint64) {
		if len(text) > 0 {
			dst = appendSection(dst, kind, text)
			text = text[:0]
		}
	}
	var err error
	for _, it := range c.gone {
		if text, err = appendLine(text, &line{Gone: &goneLine{it.source, it.id}}); err != nil {
			return nil, err
		}
	}
	flush(goneSection)
	for _, it := range c.put {
		text = append(append(text, it.line...), '\n')
	}
	flush(putSection)
	for _, k := range c.dropped {
		if text, err = appendLine(text, &line{Extent: &extent{Sink: k.sink, Lane: k.lane, Path: k.path}}); err != nil {
			return nil, err
		}
	}
	flush(dropSection)
	for _, m := range c.extents {
		if text, err = appendLine(text, &line{Extent: (*extent)(&m)}); err != nil {
			return nil, err
		}
	}
	flush(extentSection)
	if c.cuts != nil {
		text = append(text, 0)
		if *c.cuts {
			text[0] = 1
		}
		flush(cutsSection)
	}
	if c.keys != nil {
		dst = appendSection(dst, keysSection, []byte(*c.keys))
	}
	for kind, extra := range c.extra {
		dst = appendSection(dst, kind, []byte(extra))
	}
	return dst, nil
}

// sections calls f for each section of a payload.
func sections(payload []byte, f func(kind uint64, text []byte) error) error {
	for len(payload) > 0 {
		kind, k := binary.Uvarint(payload)
		if k <= 0 || kind == 0 || kind > maxSectionType {
			return errors.New("section has an invalid type")
		}
		n, l := binary.Uvarint(payload[k:])
		if l <= 0 || n > uint64(len(payload)-k-l) {
			return errors.New("section has an invalid length")
		}
		text := payload[k+l:][:n]
		payload = payload[k+l+int(n):]
		if err := f(kind, text); err != nil {
			return err
		}
	}
	return nil
}

// parseChange parses the sections of a change. end reports whether there is an
// end section.
func parseChange(payload []byte) (c *change, end bool, err error) {
	c = new(change)
	err = sections(payload, func(kind uint64, text []byte) error {
		switch kind {
		case putSection, goneSection, extentSection, dropSection:
			return c.parseLines(kind, string(text))
		case cutsSection:
			if len(text) != 1 || text[0] > 1 {
				return errors.New("section that says whether extents belong to the checkpoint has an invalid value")
			}
			c.cuts = new(text[0] == 1)
		case keysSection:
			c.keys = new(string(text))
		case endSection:
			end = true
		default:
			if kind < optionalTypes {
				return fmt.Errorf("unknown section type %d: %w", kind, errNewer)
			}
			if c.extra == nil {
				c.extra = map[uint64]string{}
			}
			c.extra[kind] = string(text)
		}
		return nil
	})
	return c, end, err
}

// parseLines parses a section that consists of lines.
func (c *change) parseLines(kind uint64, text string) error {
	for len(text) > 0 {
		one, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return errors.New("section ends inside a line")
		}
		text = rest
		switch kind {
		case putSection:
			e, err := parseEntry(one)
			if err != nil {
				return err
			}
			c.put = append(c.put, item{e.Source, e.ID, strings.Clone(one)})
		case goneSection:
			var g goneLine
			if err := parseLine(one, &line{Gone: &g}); err != nil {
				return err
			}
			c.gone = append(c.gone, item{source: g.Source, id: g.ID})
		default:
			var m extent
			if err := parseLine(one, &line{Extent: &m}); err != nil {
				return err
			}
			if m.Length < 0 {
				return errNumbers
			}
			if kind == dropSection {
				c.dropped = append(c.dropped, extentKey{m.Sink, m.Lane, m.Path})
			} else {
				c.extents = append(c.extents, engine.Extent(m))
			}
		}
	}
	return nil
}

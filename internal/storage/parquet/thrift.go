package parquet

import (
	"encoding/binary"
	"errors"
	"slices"
)

// This file edits structs of the Thrift compact protocol without loss: a field
// that is not edited keeps its bytes, whatever its id and type, so metadata of
// a newer version of the format survives. The Thrift structs of the library are
// not suitable: they drop unknown fields and add some that the file does not
// have.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

// The types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

var errThrift = errors.New("malformed Thrift struct")

// maxDepth bounds the nesting of structs. Parquet's have less than ten levels.
const maxDepth = 24

// A field is a field of a struct. raw is its encoded value.
type field struct {
	id  int16
	typ byte
	raw []byte
}

// A fields is a struct.
type fields []field

func uvarint(b []byte) (uint64, int, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, errThrift
	}
	return v, n, nil
}

func zigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func appendZigzag(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

func appendBinary(dst, v []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}

// fixedSizes are the lengths of the types whose values all have the same
// length.
var fixedSizes = map[byte]int{thriftByte: 1, thriftDouble: 8, thriftUUID: 16}

// skipValue returns the length of the value at the start of b. A boolean takes
// a byte only as an element of a list, set or map.
func skipValue(typ byte, b []byte, element bool, depth int) (n int, err error) {
	if depth > maxDepth {
		return 0, errThrift
	}
	switch typ {
	case thriftTrue, thriftFalse:
		if element {
			n = 1
		}
	case thriftByte, thriftDouble, thriftUUID:
		n = fixedSizes[typ]
	case thriftI16, thriftI32, thriftI64:
		_, n, err = uvarint(b)
	case thriftBinary:
		var size uint64
		if size, n, err = uvarint(b); err == nil && size > uint64(len(b)-n) {
			err = errThrift
		}
		n += int(size)
	case thriftList, thriftSet:
		var count int
		var of byte
		if of, count, n, err = listHead(b); err == nil {
			n, err = skipElements([]byte{of}, b, n, count, depth)
		}
	case thriftMap:
		var count uint64
		if count, n, err = uvarint(b); err != nil || count == 0 {
			return n, err
		}
		if n >= len(b) || count > uint64(len(b)) {
			return 0, errThrift
		}
		n, err = skipElements([]byte{b[n] >> 4, b[n] & 15}, b, n+1, int(count), depth)
	case thriftStruct:
		_, n, err = parseStruct(b, depth+1, false)
	default:
		err = errThrift
	}
	if err == nil && n > len(b) {
		err = errThrift
	}
	return n, err
}

// skipElements skips count elements at b[at:]. Each element has one value of
// each type.
func skipElements(types, b []byte, at, count, depth int) (int, error) {
	for range count {
		for _, typ := range types {
			n, err := skipValue(typ, b[at:], true, depth+1)
			if err != nil {
				return 0, err
			}
			at += n
		}
	}
	return at, nil
}

// listHead reads the head of a list. An element takes at least a byte.
func listHead(b []byte) (typ byte, count, n int, err error) {
	if len(b) == 0 {
		return 0, 0, 0, errThrift
	}
	typ, count, n = b[0]&15, int(b[0]>>4), 1
	if count == 15 {
		v, k, err := uvarint(b[1:])
		if err != nil || v > uint64(len(b)) {
			return 0, 0, 0, errThrift
		}
		count, n = int(v), 1+k
	}
	if count > len(b)-n {
		return 0, 0, 0, errThrift
	}
	return typ, count, n, nil
}

// parseStruct returns the length of the struct at the start of b and, if want
// is set, its fields. The fields share the memory of b.
func parseStruct(b []byte, depth int, want bool) (list fields, at int, err error) {
	for last := int16(0); ; {
		if at >= len(b) {
			return nil, 0, errThrift
		}
		f := field{typ: b[at] & 15}
		delta := b[at] >> 4
		at++
		if f.typ == 0 {
			return list, at, nil
		}
		f.id = last + int16(delta)
		if delta == 0 {
			u, n, err := uvarint(b[at:])
			if err != nil {
				return nil, 0, err
			}
			f.id, at = int16(zigzag(u)), at+n
		}
		n, err := skipValue(f.typ, b[at:], false, depth)
		if err != nil {
			return nil, 0, err
		}
		f.raw, last, at = b[at:at+n:at+n], f.id, at+n
		if want {
			list = append(list, f)
		}
	}
}

// readStruct returns the fields of the struct at the start of b, and its length.
func readStruct(b []byte) (fields, int, error) { return parseStruct(b, 0, true) }

// appendStruct appends the encoded struct.
func appendStruct(dst []byte, list fields) []byte {
	last := int16(0)
	for _, f := range list {
		if d := int(f.id) - int(last); d > 0 && d <= 15 {
			dst = append(dst, byte(d)<<4|f.typ)
		} else {
			dst = appendZigzag(append(dst, f.typ), int64(f.id))
		}
		dst, last = append(dst, f.raw...), f.id
	}
	return append(dst, 0)
}

// find returns the field with an id, or nil.
func (s fields) find(id int16) *field {
	for i := range s {
		if s[i].id == id {
			return &s[i]
		}
	}
	return nil
}

func (s fields) has(id int16) bool { return s.find(id) != nil }

// int returns an integer, or 0 if the struct does not have it.
func (s fields) int(id int16) int64 {
	if f := s.find(id); f != nil && f.typ >= thriftI16 && f.typ <= thriftI64 {
		u, _, _ := uvarint(f.raw) // parseStruct has checked it
		return zigzag(u)
	}
	return 0
}

// hasAll reports whether the struct has all of these fields, with the type typ.
func (s fields) hasAll(typ byte, ids ...int16) bool {
	return !slices.ContainsFunc(ids, func(id int16) bool {
		f := s.find(id)
		return f == nil || f.typ != typ
	})
}

// isFalse reports whether the struct has a boolean that is false.
func (s fields) isFalse(id int16) bool {
	f := s.find(id)
	return f != nil && f.typ == thriftFalse
}

func (s fields) bytes(id int16) []byte {
	if f := s.find(id); f != nil && f.typ == thriftBinary {
		_, n, _ := uvarint(f.raw)
		return f.raw[n:]
	}
	return nil
}

func (s fields) sub(id int16) fields {
	if f := s.find(id); f != nil && f.typ == thriftStruct {
		list, _, _ := readStruct(f.raw)
		return list
	}
	return nil
}

// list returns the encoded elements of a list.
func (s fields) list(id int16) [][]byte {
	f := s.find(id)
	if f == nil || f.typ != thriftList {
		return nil
	}
	typ, count, at, _ := listHead(f.raw)
	list := make([][]byte, 0, count)
	for range count {
		n, _ := skipValue(typ, f.raw[at:], true, 0)
		list = append(list, f.raw[at:at+n:at+n])
		at += n
	}
	return list
}

// set sets a field. It inserts a new field in the order of ids.
func (s *fields) set(id int16, typ byte, raw []byte) {
	if f := s.find(id); f != nil {
		f.typ, f.raw = typ, raw
		return
	}
	at := slices.IndexFunc(*s, func(f field) bool { return f.id > id })
	if at < 0 {
		at = len(*s)
	}
	*s = slices.Insert(*s, at, field{id, typ, raw})
}

// drop removes fields.
func (s *fields) drop(ids ...int16) {
	*s = slices.DeleteFunc(*s, func(f field) bool { return slices.Contains(ids, f.id) })
}

func (s *fields) setInt(id int16, typ byte, v int64) { s.set(id, typ, appendZigzag(nil, v)) }

// shift adds by to an integer that is an offset, if the struct has it.
func (s *fields) shift(id int16, by int64) {
	if v := s.int(id); v > 0 {
		s.setInt(id, thriftI64, v+by)
	}
}

func (s *fields) setBool(id int16, v bool) {
	typ := byte(thriftTrue)
	if !v {
		typ = thriftFalse
	}
	s.set(id, typ, nil)
}

func (s *fields) setBytes(id int16, v []byte) { s.set(id, thriftBinary, appendBinary(nil, v)) }

func (s *fields) setStruct(id int16, v fields) { s.set(id, thriftStruct, appendStruct(nil, v)) }

// setList sets a list of n elements, which body holds encoded.
func (s *fields) setList(id int16, typ byte, n int, body []byte) {
	raw := []byte{byte(n)<<4 | typ}
	if n >= 15 {
		raw = binary.AppendUvarint([]byte{0xf0 | typ}, uint64(n))
	}
	s.set(id, thriftList, append(raw, body...))
}

// setInts sets a list of integers.
func (s *fields) setInts(id int16, typ byte, list []int64) {
	var body []byte
	for _, v := range list {
		body = appendZigzag(body, v)
	}
	s.setList(id, typ, len(list), body)
}

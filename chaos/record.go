package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// A Format is the format of the records of a Spec.
type Format string

// The formats, with the names that the program uses.
const (
	Lines    Format = "lines"
	Combined Format = "combined" // with one URL as the request target and one as the referer
)

// A Form is the form of a record in the output. It shows which rules produced
// it.
type Form uint8

// The forms.
const (
	Folded   Form = iota // profile equiv: unreserved escapes decoded, others in upper case
	Kept                 // profile whatwg: escapes unchanged
	Raw                  // unchanged: the record was passed through
	NumForms = iota
)

// String returns the name of the form.
func (f Form) String() string { return [...]string{"folded", "kept", "raw"}[min(int(f), NumForms-1)] }

// A Spec defines the records. Record n of lane l is a function of the Spec, l
// and n.
//
//	http://Example.COM/%7e/LANE/N/CRC?q=LETTERS%7e%2f     as written
//	http://example.com/~/LANE/N/CRC?q=LETTERS~%2F         Folded
//	http://example.com/%7e/LANE/N/CRC?q=LETTERS%7e%2f     Kept
//	http://Example.COM:99999/%7e/LANE/N/CRC?…             poison: the port is invalid
type Spec struct {
	Seed   uint64
	Format Format
	// Poison is the distance between records that cannot be parsed; 0: none.
	Poison uint64
	// Dense makes queries long and with more distinct letters, so that they
	// hardly compress.
	Dense bool
}

// mix is the finalizer of SplitMix64: a bijection with pseudorandom results.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *Spec) chance(lane, n uint64) uint64 { return mix(mix(s.Seed^lane<<40) ^ n) }

// Poisoned reports whether record n cannot be parsed.
func (s *Spec) Poisoned(n uint64) bool { return s.Poison > 0 && n%s.Poison == s.Poison-1 }

// Append appends record n of a lane as it is written to inputs, with its line
// feed.
func (s *Spec) Append(dst []byte, lane, n uint64) []byte {
	return s.append(dst, lane, n, Raw)
}

// Want appends record n of a lane in its expected output form.
func (s *Spec) Want(dst []byte, lane, n uint64, f Form) []byte { return s.append(dst, lane, n, f) }

func (s *Spec) append(dst []byte, lane, n uint64, f Form) []byte {
	r := s.chance(lane, n)
	if s.Format != Combined {
		return append(s.url(dst, lane, n, r, f), '\n')
	}
	dst = append(dst, "10."...)
	dst = strconv.AppendUint(dst, r>>8&255, 10)
	dst = append(dst, '.')
	dst = strconv.AppendUint(dst, r>>16&255, 10)
	dst = append(dst, ".7 - - [21/Nov/2026:10:00:00 +0000] \"GET "...)
	dst = s.url(dst, lane, n, r, f)
	dst = append(dst, " HTTP/1.1\" 200 "...)
	dst = strconv.AppendUint(dst, r>>24&0xffff, 10)
	dst = append(dst, " \""...)
	dst = s.path(dst, lane, n, f, false)
	return append(dst, "\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n"...)
}

// url appends the URL that identifies a record.
func (s *Spec) url(dst []byte, lane, n, r uint64, f Form) []byte {
	dst = s.path(dst, lane, n, f, f == Raw && s.Poisoned(n))
	dst = append(dst, "?q="...)
	const letters = "abcdefghijklmnopqrstuvwxyz012345ABCDEFGHIJKLMNOPQRSTUVWXYZ6789-_"
	left, mask := r>>56&127, uint64(31)
	if s.Dense {
		left, mask = left+400, 63
	}
	for bits := r; left > 0; left-- {
		if left%10 == 0 {
			bits = mix(r ^ left)
		}
		dst = append(dst, letters[bits&mask])
		bits >>= 6
	}
	if f == Folded {
		return append(dst, "~%2F"...)
	}
	return append(dst, "%7e%2f"...)
}

// path appends a URL without its query.
func (s *Spec) path(dst []byte, lane, n uint64, f Form, poison bool) []byte {
	switch {
	case poison:
		dst = append(dst, "http://Example.COM:99999/%7e/"...)
	case f == Raw:
		dst = append(dst, "http://Example.COM/%7e/"...)
	case f == Kept:
		dst = append(dst, "http://example.com/%7e/"...)
	default:
		dst = append(dst, "http://example.com/~/"...)
	}
	dst = strconv.AppendUint(dst, lane, 10)
	dst = append(dst, '/')
	dst = strconv.AppendUint(dst, n, 10)
	dst = append(dst, '/')
	return appendHex(dst, s.crc(lane, n))
}

// crc makes it unlikely that damaged data looks like another record.
func (s *Spec) crc(lane, n uint64) uint32 {
	var b [24]byte
	for i, v := range [...]uint64{s.Seed, lane, n} {
		for k := range 8 {
			b[8*i+k] = byte(v >> (8 * k))
		}
	}
	return crc32.ChecksumIEEE(b[:])
}

func appendHex(dst []byte, v uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v>>shift&15])
	}
	return dst
}

// An identity identifies a record.
type identity struct {
	lane, n uint64
	form    Form
}

var (
	errNoRecord = errors.New("not a record")
	errChanged  = errors.New("differs from the record that it identifies")
)

// prefixes are the beginnings of URLs, by form. Poison is last, with the form
// Raw.
var prefixes = [...]struct {
	text []byte
	form Form
}{
	{[]byte("http://example.com/~/"), Folded},
	{[]byte("http://example.com/%7e/"), Kept},
	{[]byte("http://Example.COM/%7e/"), Raw},
	{[]byte("http://Example.COM:99999/%7e/"), Raw},
}

// identify returns the identity of the record in line, which may end with a
// line feed. It returns an error if line is not a record or differs from it. It
// may write to scratch.
func (s *Spec) identify(line, scratch []byte) (id identity, _ []byte, err error) {
	at := bytes.Index(line, []byte("http://"))
	if at < 0 {
		return id, scratch, errNoRecord
	}
	rest, ok := line[at:], false
	for _, p := range prefixes {
		if rest, ok = bytes.CutPrefix(line[at:], p.text); ok {
			id.form = p.form
			break
		}
	}
	if !ok {
		return id, scratch, errNoRecord
	}
	if id.lane, rest, ok = number(rest); !ok {
		return id, scratch, errNoRecord
	}
	if id.n, rest, ok = number(rest); !ok || len(rest) < 8 {
		return id, scratch, errNoRecord
	}
	var crc [8]byte
	if !bytes.Equal(rest[:8], appendHex(crc[:0], s.crc(id.lane, id.n))) {
		return id, scratch, errNoRecord
	}
	scratch = s.append(scratch[:0], id.lane, id.n, id.form)
	if want := scratch[:len(scratch)-1]; !bytes.Equal(bytes.TrimSuffix(line, []byte{'\n'}), want) {
		return id, scratch, errChanged
	}
	return id, scratch, nil
}

// number parses a number and its slash.
func number(text []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && i < 19 && text[i] >= '0' && text[i] <= '9'; i++ {
		v = v*10 + uint64(text[i]-'0')
	}
	if i == 0 || i == len(text) || text[i] != '/' {
		return 0, nil, false
	}
	return v, text[i+1:], true
}

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Lines, Combined:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %[3]q (must be %[1]s or %[2]s)", Lines, Combined, name)
}

package table

import "testing"

func TestPacked(t *testing.T) {
	p := Packed("\x7F\x80\x01" +
		"\x02\x41\x19\x01\x07\x00\x02" + // A to Z, a
		"\x02\x05\x01\x01\x02xyz" +
		"ab")
	if a, b := p.Uint(), p.Uint(); a != 0x7F || b != 0x80 {
		t.Errorf("integers %#x, %#x", a, b)
	}
	spans := p.Spans()
	for r, want := range map[rune]uint8{'@': 0, 'A': 1, 'Z': 1, '[': 0, 'a': 2, 'b': 0} {
		if got, found := Find(spans, r); got != want || found != (want != 0) {
			t.Errorf("%q: %d, %v", r, got, found)
		}
	}
	m := p.TextMap()
	if m.Keys[0] != 5 || m.Keys[1] != 6 || m.Text(0) != "x" || m.Text(1) != "yz" {
		t.Errorf("map %v", m)
	}
	if last := p.Bytes(2); last != "ab" || p != "" {
		t.Errorf("bytes %q, rest %q", last, p)
	}
}

package main

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/urlfold/urlfold/codec"
)

// pack returns values as a block: nil pointers are absent.
func pack(values []*string) []byte {
	var lengths []byte
	text := ""
	for _, v := range values {
		n := absent
		if v != nil {
			n, text = uint32(len(utf16.Encode([]rune(*v)))), text+*v
		}
		lengths = binary.LittleEndian.AppendUint32(lengths, n)
	}
	return append(lengths, text...)
}

// unpack returns count values of a block, "-" for one that is absent.
func unpack(block []byte, count int) []string {
	var values []string
	text := utf16.Encode([]rune(string(block[4*count:])))
	for i := range count {
		n := binary.LittleEndian.Uint32(block[4*i:])
		if n == absent {
			values = append(values, "-")
			continue
		}
		values, text = append(values, string(utf16.Decode(text[:n]))), text[n:]
	}
	return values
}

// TestPacked checks the answers to blocks: with a base and without, of ASCII and not.
func TestPacked(t *testing.T) {
	c, err := newConverter([]byte(`{"Profile":"rfc3986"}`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(base *string, urls []string, want ...string) {
		t.Helper()
		values := []*string{base}
		for i := range urls {
			values = append(values, &urls[i])
		}
		values = append(values, nil)
		got := unpack(c.answer([]byte("x"), pack(values), len(values), false)[1:], len(urls)+1)
		if want = append(want, "-"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", urls, got, want)
		}
	}
	base := "http://é/😀/"
	f(nil, []string{"http://H/%7e", "http://[", "a:b"}, "http://h/~", "-", "a:b")
	f(&base, []string{"a", "😀é", "../b"}, "http://%C3%A9/%F0%9F%98%80/a", "http://%C3%A9/%F0%9F%98%80/%F0%9F%98%80%C3%A9", "http://%C3%A9/b")
	f(nil, []string{strings.Repeat("a:é", 9), "a:b"}, "a:%C3%A9"+strings.Repeat("a:%C3%A9", 8), "a:b")
}

// TestPackedKeys checks that keys are those of the codec, and that a profile that keeps
// other characters than ASCII has lengths in UTF-16 code units.
func TestPackedKeys(t *testing.T) {
	url := "http://H/%7e"
	c, err := newConverter([]byte(`{"Profile":"crawler","Level":"k1"}`))
	if err != nil {
		t.Fatal(err)
	}
	var r codec.Result
	if _, err := c.n.Append(nil, []byte(url), &r); err != nil {
		t.Fatal(err)
	}
	got := unpack(c.answer(nil, pack([]*string{nil, &url, nil}), 3, true), 2)
	if want := r.Key(codec.LevelEquivalent).String(); got[0] != want || got[1] != "-" {
		t.Errorf("keys %q, want %s", got, want)
	}
	if n := units([]byte("aé😀")); n != 4 {
		t.Errorf("%d code units, want 4", n)
	}
	for _, bad := range []string{`{`, `{"Profile":"none"}`, `{"Level":"k9"}`} {
		if _, err := newConverter([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

package params

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	f := func(value string, want Shape, also ...Shape) {
		t.Helper()
		if got := ShapeOf([]byte(value)); got != want {
			t.Errorf("ShapeOf(%q) = %v, want %v", value, got, want)
		}
		is := map[Shape]bool{Any: true, want: true}
		for _, s := range also {
			is[s] = true
		}
		for s := range numShapes {
			if got := s.Match([]byte(value)); got != is[s] {
				t.Errorf("%v.Match(%q) = %v", s, value, got)
			}
		}
	}
	const hex32 = "d41d8cd98f00b204e9800998ecf8427e"
	f("", Any)
	f("0", Int)
	f("-1", Any)
	f("12345678901234567890", Int, Hex16, Alnum16, Token)
	f("123456789012345678901", Hex16, Alnum16, Token)
	f("2026-11-21", Date)
	f("2026-13-21", Any)
	f("2026-11-32", Any)
	f("2026-00-01", Any)
	f("2026_11_21", Any)
	f("123e4567-e89b-12d3-a456-426614174000", UUID, Token)
	f("{123E4567-E89B-12D3-A456-426614174000}", UUID, Token)
	f("123e4567-e89b-12d3-a456-42661417400g", Any)
	f("123e4567-e89b-12d3-a456+426614174000", Any)
	f("123e4567ae89b-12d3-a456-426614174000", Any)
	f(hex32, Hex32, Hex16, Alnum16, Token)
	f(hex32+".node1", Alnum16, Token)
	f(hex32+".", Any)
	f(hex32+".a.b", Any)
	f("0123456789abcde", Any)
	f("0123456789abcdef", Hex16, Alnum16, Token)
	f("0123456789ABCDEG", Alnum16, Token)
	f("dQw4w9WgXcQ_dQw4w9WgXcQ", Base64URL, Token)
	f("dQw4w9WgXcQ_dQw4w9WgX", Any)
	f("a-slug-of-many-words-2026", Any) // base64url by its bytes, but no capitals
	f(strings.Repeat("é", 20), Any)
}

func TestShapeNames(t *testing.T) {
	for s := range numShapes {
		if got, ok := ParseShape(s.String()); !ok || got != s {
			t.Errorf("ParseShape(%q) = %v, %v", s.String(), got, ok)
		}
	}
	if _, ok := ParseShape("unknown"); ok || numShapes.String() != "unknown" || numShapes.Match(nil) {
		t.Error("there is a shape too many")
	}
}

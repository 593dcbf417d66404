package params

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	f := func(value string, want shape, also ...shape) {
		t.Helper()
		is := map[shape]bool{shapeAny: true, want: true}
		for _, s := range also {
			is[s] = true
		}
		for s := range numShapes {
			if got := s.matches([]byte(value)); got != is[s] {
				t.Errorf("%v.Match(%q) = %v", s, value, got)
			}
		}
	}
	const hex32 = "d41d8cd98f00b204e9800998ecf8427e"
	f("", shapeAny)
	f("0", shapeInt)
	f("-1", shapeAny)
	f("12345678901234567890", shapeInt, shapeHex16, shapeAlnum16, shapeToken)
	f("123456789012345678901", shapeHex16, shapeAlnum16, shapeToken)
	f("2026-11-21", shapeDate)
	f("2026-13-21", shapeAny)
	f("2026-11-32", shapeAny)
	f("2026-00-01", shapeAny)
	f("2026_11_21", shapeAny)
	f("123e4567-e89b-12d3-a456-426614174000", shapeUUID, shapeToken)
	f("{123E4567-E89B-12D3-A456-426614174000}", shapeUUID, shapeToken)
	f("123e4567-e89b-12d3-a456-42661417400g", shapeAny)
	f("123e4567-e89b-12d3-a456+426614174000", shapeAny)
	f("123e4567ae89b-12d3-a456-426614174000", shapeAny)
	f(hex32, shapeHex32, shapeHex16, shapeAlnum16, shapeToken)
	f(hex32+".node1", shapeAlnum16, shapeToken)
	f(hex32+".", shapeAny)
	f(hex32+".a.b", shapeAny)
	f("0123456789abcde", shapeAny)
	f("0123456789abcdef", shapeHex16, shapeAlnum16, shapeToken)
	f("0123456789ABCDEG", shapeAlnum16, shapeToken)
	f("dQw4w9WgXcQ_dQw4w9WgXcQ", shapeBase64URL, shapeToken)
	f("dQw4w9WgXcQ_dQw4w9WgX", shapeAny)
	f("a2g0o.home.1000002.1", shapeDotted)
	f("a21bo.jianhua/a.201876.d1.5af92a89_-.x~5!2", shapeDotted)
	f("192.0.2.1", shapeDotted)
	f("a.b.c", shapeAny)
	f("a.b.c.d.e.f.g", shapeAny)
	f("a.b.c.", shapeAny)
	f("a.b..d", shapeAny)
	f("a.b.c.d e", shapeAny)
	f("a-slug-of-many-words-2026", shapeAny) // base64url, but without upper case
	f(strings.Repeat("é", 20), shapeAny)
}

func TestShapeNames(t *testing.T) {
	for s := range numShapes {
		if got, ok := parseShape(s.String()); !ok || got != s {
			t.Errorf("ParseShape(%q) = %v, %v", s.String(), got, ok)
		}
	}
	if _, ok := parseShape("unknown"); ok || numShapes.String() != "unknown" || numShapes.matches(nil) {
		t.Error("parseShape accepted an unknown name")
	}
}

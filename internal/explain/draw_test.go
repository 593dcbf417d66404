package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// plain and fancy are styles for tests.
var (
	plain = style{width: 80}
	fancy = style{width: 80, unicode: true}
)

func TestCells(t *testing.T) {
	f := func(s style, url, want string, width int) {
		t.Helper()
		cells := s.cells([]byte(url), codec.Span{})
		if got := s.escapeText(url); got != want || widthOf(cells) != width {
			t.Errorf("%q: %q, %d columns; want %q, %d", url, got, widthOf(cells), want, width)
		}
		at := 0
		for _, c := range cells {
			if c.start != at || c.end <= at {
				t.Fatalf("%q: a cell of bytes %d to %d follows byte %d", url, c.start, c.end, at)
			}
			at = c.end
		}
		if at != len(url) {
			t.Errorf("%q: the cells end at byte %d", url, at)
		}
	}
	f(fancy, "a%zz", "a%zz", 4)
	f(fancy, "ü", "ü", 1)
	f(plain, "ü", `\u00fc`, 6)
	f(fancy, "日本", "日本", 4) // wide: Unicode Annex 11
	f(fancy, "\x00\x1b[2J\x7f", `\x00\x1B[2J\x7F`, 15)
	f(fancy, "\xff\xed\xa0\x80", `\xFF\xED\xA0\x80`, 16)
	f(fancy, "\u202eabc", `\u202eabc`, 9) // it would turn the direction of writing
	f(fancy, "e\u0301", `e\u0301`, 7)     // it would take no column
	f(fancy, "\u05d0", `\u05d0`, 6)       // it would be written from right to left
	f(plain, "\U0001f600", `\U0001f600`, 10)
}

func TestRuler(t *testing.T) {
	f := func(s style, want string, spans ...placed) {
		t.Helper()
		var lines []string
		for _, l := range s.ruler(spans) {
			lines = append(lines, string(l))
		}
		if got := strings.Join(lines, "\n"); got != strings.Trim(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	f(fancy, `
└──┘   └──┘
scheme host`, placed{0, 4, "scheme"}, placed{7, 11, "host"})
	f(fancy, `
│└┘│
│b c
a`, placed{0, 1, "a"}, placed{1, 3, "b"}, placed{3, 4, "c"})
	f(plain, `
+--+ |
|    q
scheme`, placed{0, 4, "scheme"}, placed{5, 6, "q"})
}

func TestCut(t *testing.T) {
	url := strings.Repeat("a", 200) + "%zz" + strings.Repeat("b", 200)
	cells := fancy.cells([]byte(url), codec.Span{})
	short := fancy.cut(cells, []int{200}, 70)
	if w := widthOf(short); w > 70 {
		t.Errorf("%d columns are left of 70", w)
	}
	var text strings.Builder
	for _, c := range short {
		text.WriteString(c.text)
	}
	if !strings.Contains(text.String(), "aa%zzbb") || strings.Count(text.String(), "…") != 2 {
		t.Errorf("cut to %q", text.String())
	}
	if got := fancy.cut(cells, []int{200}, 500); len(got) != len(cells) {
		t.Error("what fits is cut")
	}
	at := slices.IndexFunc(short, func(c cell) bool { return c.start == 200 })
	if col, ok := column(short, 200); !ok || col != widthOf(short[:at]) {
		t.Errorf("the defect is in column %d, %v", col, ok)
	}
}

func TestRows(t *testing.T) {
	f := func(url string, width int, want ...string) {
		t.Helper()
		var got []string
		for _, row := range rows(fancy.cells([]byte(url), codec.Span{}), width) {
			var b strings.Builder
			for _, c := range row {
				b.WriteString(c.text)
			}
			got = append(got, b.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q in %d columns: %q, want %q", url, width, got, want)
		}
	}
	f("", 5)
	f("abc", 5, "abc")
	f("abcdefgh", 4, "abcd", "efgh")
	f("abc%41d", 5, "abc", "%41d") // an escape is not broken
	f("%41%42", 4, "%41", "%42")
	f("日本語", 5, "日本", "語")
	f("\x00\x00", 2, `\x00`, `\x00`) // wider than a row: it has one of its own
}

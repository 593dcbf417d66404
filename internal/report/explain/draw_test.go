package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// plain and fancy are styles for tests.
var (
	plain = terminal.Style{Width: 80}
	fancy = terminal.Style{Width: 80, Unicode: true}
)

func TestRuler(t *testing.T) {
	f := func(s terminal.Style, want string, spans ...placed) {
		t.Helper()
		var lines []string
		for _, l := range (&TextWriter{Style: s}).ruler(spans) {
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
	cells := fancy.Cells([]byte(url))
	drawing := &TextWriter{Style: fancy}
	short := drawing.cut(cells, []int{200}, 70)
	if w := widthOf(short); w > 70 {
		t.Errorf("%d columns are left of 70", w)
	}
	var text strings.Builder
	for _, c := range short {
		text.WriteString(c.Text)
	}
	if !strings.Contains(text.String(), "aa%zzbb") || strings.Count(text.String(), "…") != 2 {
		t.Errorf("cut to %q", text.String())
	}
	if got := drawing.cut(cells, []int{200}, 500); len(got) != len(cells) {
		t.Error("what fits is cut")
	}
	at := slices.IndexFunc(short, func(c terminal.Cell) bool { return c.Start == 200 })
	if col, ok := column(short, 200); !ok || col != widthOf(short[:at]) {
		t.Errorf("the defect is in column %d, %v", col, ok)
	}
}

func TestRows(t *testing.T) {
	f := func(url string, width int, want ...string) {
		t.Helper()
		var got []string
		for _, row := range rows(fancy.Cells([]byte(url)), width) {
			var b strings.Builder
			for _, c := range row {
				b.WriteString(c.Text)
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
	f("\x00\x00", 2, `\x00`, `\x00`) // wider than a row: it gets a separate row
}

package table

import (
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// checkTable checks that Cut, Next and walk.cells find the records and cells that
// Syntax finds byte by byte, if they do not give up. It returns how many lines
// walk.cells has read.
func checkTable(t *testing.T, text []byte) (lines int) {
	t.Helper()
	r := &Reader{Syntax: *rfc4180}
	l := &Locator{Reader: r}
	b := locate.Walk{Marks: l.Marks()}
	b.Begin(text)
	cut := 0
	for pos := 0; pos < len(text); {
		mark := 0
		if pos == 0 {
			mark = locate.MarkLen(text)
		}
		want, _ := rfc4180.recordEnd(text[pos+mark:], true)
		want += mark
		if n := r.Next(text[pos:]); n != want {
			t.Fatalf("%q: Next returned %d, want %d", text[pos:], n, want)
		}
		if n, _ := rfc4180.recordEnd(text[pos+mark:], false); cut == pos && n > 0 {
			cut = pos + mark + n
		}
		if size := b.Line(pos, len(text)); size > 0 && checkCells(t, &b, text[pos:pos+size]) {
			if lines++; size != want && mark == 0 {
				t.Fatalf("%q: a line of %d bytes is a record, want %d", text[pos:], size, want)
			}
		}
		pos += want
	}
	if got := r.Cut(text); got != cut {
		t.Fatalf("%q: Cut returned %d, want %d", text, got, cut)
	}
	return lines
}

// checkCells checks the cells of the current line of b. It reports whether they can be read.
func checkCells(t *testing.T, b *locate.Walk, line []byte) bool {
	t.Helper()
	body, l := locate.TrimEnd(line), Locator{Reader: &Reader{Syntax: *rfc4180}}
	for count := 1; count < 6; count++ {
		cells := make([]locate.Span, count)
		if !Cells(b, cells, '"') {
			return count > 1
		}
		pos := 0
		for i, s := range cells {
			if pos > len(body) {
				t.Fatalf("%q has a cell %d, want fewer", body, i)
			}
			want, d, next, ok := rfc4180.cell(body, pos)
			if s != want || !ok || l.DialectOf(body, s) != d {
				t.Fatalf("%q: the cell at %d is %v, want %v, %v", body, pos, s, want, ok)
			}
			pos = next
		}
	}
	return true
}

// tableTexts are tables, and texts that are nearly tables.
var tableTexts = []string{
	"", "\n", `"`, `""`, `"",""` + "\n", "a,b\n\"c\"\"\n,\",d\n", `"a"x,b` + "\n", `a"b,"c` + "\nd\"\n", `"a","b` + "\n" + `c","d"""` + "\r\n1,2\n",
	"\xEF\xBB\xBF\"a\",\"b\"\n\"c\",\"d\"\n", "\"é\",\"ü,\xFF\"\n", `"a""b""",""""` + "\n", `"a"x"` + "\n\"\nb", "a,b\r\n\"\",\"c\"\r\n,\r\n\r\n",
}

func TestTableKeep(t *testing.T) {
	for _, text := range tableTexts {
		checkTable(t, []byte(text))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	lines := 0
	for range 20_000 {
		alphabet := []byte("ab,,\"\n\r\xC3\xBC")
		text := make([]byte, rnd.IntN(200))
		for i := range text {
			text[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		if rnd.IntN(2) == 0 {
			text = quotedTable(rnd, alphabet)
		}
		lines += checkTable(t, text)
	}
	if lines < 50_000 {
		t.Errorf("%d lines were read", lines)
	}
}

// quotedTable returns a table, most of whose cells are quoted.
func quotedTable(rnd *rand.Rand, alphabet []byte) (text []byte) {
	for size := rnd.IntN(4000); len(text) < size; {
		var cell []byte
		for range rnd.IntN(80) {
			cell = append(cell, alphabet[rnd.IntN(len(alphabet))])
		}
		text = append(locate.EncodeQuotes(append(text, '"'), cell, ','), '"', ",,,\n"[rnd.IntN(4)])
	}
	return text
}

// FuzzTableKeep does the same with any text.
func FuzzTableKeep(f *testing.F) {
	for _, text := range tableTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkTable(t, text) })
}

// rfc4180 is the syntax of the format csv.
var rfc4180 = &Syntax{Sep: ',', Quote: '"', longest: locate.DefaultMaxQuoted, plain: locate.CellDialect, Quoted: locate.QuotedDialect}

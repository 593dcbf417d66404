package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// checkTableScan checks that a tableScan finds the records and cells that
// tableSyntax finds byte by byte, if it does not give up.
func checkTableScan(t *testing.T, text []byte) (gaveUp bool) {
	t.Helper()
	r := &tableReader{tableSyntax: *rfc4180, scan: newTableScan(rfc4180)}
	slow := &tableReader{tableSyntax: *rfc4180}
	if got, want := r.Cut(text), slow.Cut(text); got != want {
		t.Fatalf("%q: Cut returned %d, want %d", text, got, want)
	}
	n, gaveUp := r.scan.cut(text)
	if want, slow := r.scan.slowCut(text); n != want || gaveUp != slow {
		t.Fatalf("%q: cut returned %d, %v, want %d, %v", text, n, gaveUp, want, slow)
	}
	for rest := text; len(rest) > 0; {
		n, want := r.Next(rest), slow.Next(rest)
		if n != want {
			t.Fatalf("%q: Next returned %d, want %d", rest, n, want)
		}
		checkCellEnds(t, r, trimEnd(rest[:n]))
		checkReadLine(t, rest)
		rest = rest[n:]
	}
	return gaveUp
}

// checkReadLine compares readLine with its twin.
func checkReadLine(t *testing.T, text []byte) {
	t.Helper()
	var fast, slow cellEnds
	size, want := fast.readLine(rfc4180, text), slow.readBareLine(rfc4180, text)
	if size != want || size > 0 && fast.bare != slow.bare {
		t.Fatalf("%q: readLine returned %d, %v, want %d, %v", text, size, fast.bare, want, slow.bare)
	}
	if size == 0 {
		return
	}
	body := text[:size-1]
	fast.close(body)
	slow.close(body)
	for i := range size {
		if fast.ends.Next(i) != slow.ends.Next(i) || fast.quotes.Next(i) != slow.quotes.Next(i) {
			t.Fatalf("%q: readLine found other cells after %d", text, i)
		}
	}
}

// checkCellEnds checks the cells of one record.
func checkCellEnds(t *testing.T, r *tableReader, body []byte) {
	t.Helper()
	var e cellEnds
	if !e.read(r.scan, body) {
		return
	}
	for pos := 0; pos <= len(body); {
		s, d, next, ok := e.cell(&r.tableSyntax, body, pos)
		wantSpan, wantDialect, wantNext, wantOK := r.cell(body, pos)
		if s != wantSpan || d != wantDialect || next != wantNext || ok != wantOK {
			t.Fatalf("%q: the cell at %d is %v, %d, %v, want %v, %d, %v", body, pos, s, next, ok, wantSpan, wantNext, wantOK)
		}
		if !ok {
			return
		}
		pos = next
	}
}

// tableTexts are tables, and texts that are nearly tables.
var tableTexts = []string{
	"", "\n", `"`, `""`, `"",""` + "\n", "a,b\n\"c\"\"\n,\",d\n", `"a"x,b` + "\n", `a"b,"c` + "\nd\"\n", `"a","b` + "\n" + `c","d"""` + "\r\n1,2\n",
	"\xEF\xBB\xBF\"a\",\"b\"\n\"c\",\"d\"\n", "\"é\",\"ü,\xFF\"\n", `"a""b""",""""` + "\n", `"a"x"` + "\n\"\nb",
}

func TestTableScan(t *testing.T) {
	for _, text := range tableTexts {
		checkTableScan(t, []byte(text))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	gaveUp, rounds := 0, 20_000
	for range rounds {
		alphabet := []byte(`a,,"` + "\n")
		text := make([]byte, rnd.IntN(200))
		for i := range text {
			text[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		if rnd.IntN(2) == 0 {
			text = quotedTable(rnd, alphabet)
		}
		if checkTableScan(t, text) {
			gaveUp++
		}
	}
	if gaveUp == 0 || gaveUp > rounds*2/3 {
		t.Errorf("the scan gave up on %d of %d texts", gaveUp, rounds)
	}
}

// quotedTable returns a table of more than one chunk, most of whose cells are
// quoted.
func quotedTable(rnd *rand.Rand, alphabet []byte) (text []byte) {
	for size := rnd.IntN(2 * scanChunk); len(text) < size; {
		var cell []byte
		for range rnd.IntN(80) {
			cell = append(cell, alphabet[rnd.IntN(len(alphabet))])
		}
		text = append(encodeQuotes(append(text, '"'), cell, ','), '"', ",,,\n"[rnd.IntN(4)])
	}
	return text
}

// FuzzTableScan does the same with any text.
func FuzzTableScan(f *testing.F) {
	for _, text := range tableTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkTableScan(t, text) })
}

// TestTableFramed reads records whose ends and cells Next has found, and the same
// records byte by byte. It also changes the memory of a record after it was read:
// what Next has found belongs to the record only once.
func TestTableFramed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		alphabet := []byte(`ab,,"` + "\r\n\xC3\xBC")
		text := make([]byte, rnd.IntN(400))
		for i := range text {
			text[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		if rnd.IntN(2) == 0 {
			text = quotedTable(rnd, []byte("ab,\"\xC3"))
		}
		for column := range 4 {
			checkTableFramed(t, text, column)
		}
	}
}

// checkTableFramed compares what a tableLocator finds in a column of text with
// and without framing.
func checkTableFramed(t *testing.T, text []byte, column int) {
	t.Helper()
	open := func(scan *tableScan) *tableLocator {
		r := &tableReader{tableSyntax: *rfc4180, scan: scan}
		r.url.index, r.base.index, r.host.index = column, noColumn, noColumn
		return r.Locator().(*tableLocator)
	}
	fast, slow := open(newTableScan(rfc4180)), open(nil)
	at := &Position{Off: 1}
	for rest := text; len(rest) > 0; {
		n, want := fast.next(rest), slow.next(rest)
		if n != want {
			t.Fatalf("%q: next returned %d, want %d", rest, n, want)
		}
		if rec := rest[:n]; fast.isLine(rec) && bytes.Count(rec, lineFeed) != 1 {
			t.Fatalf("%q is not one line", rec)
		}
		body := bytes.Clone(trimEnd(rest[:n]))
		if len(body) > 0 {
			compareLocated(t, fast, slow, trimEnd(rest[:n]), body, at)
			for i := range body {
				body[i] = ",\"x"[(i+n)%3]
			}
			own := copy(rest, body)
			compareLocated(t, fast, slow, rest[:own:own], body, at)
		}
		rest = rest[n:]
	}
}

// compareLocated checks that two Locators find the same URL in a record and a
// copy of it.
func compareLocated(t *testing.T, fast, slow *tableLocator, rec, body []byte, at *Position) {
	t.Helper()
	var got, want Found
	why, pos := fast.Locate(&got, rec, at)
	wantWhy, wantPos := slow.Locate(&want, body, at)
	if why != wantWhy || pos != wantPos || got.n != want.n || got.n > 0 && got.sites[0].span != want.sites[0].span {
		t.Fatalf("%q: %v at %d, %v, want %v at %d, %v", body, why, pos, got.sites, wantWhy, wantPos, want.sites)
	}
	if got.n > 0 && got.sites[0].dialect != want.sites[0].dialect {
		t.Fatalf("%q: another dialect", body)
	}
}

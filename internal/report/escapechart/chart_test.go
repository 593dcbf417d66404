package escapechart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/testkit/tsv"
)

func mustChart(t *testing.T, standard string) Chart {
	t.Helper()
	ch, err := New(standard)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// cells returns the cells of a row by column name, including the columns
// "class", "label" and "notes".
func (ch Chart) cells(r Row) map[string]string {
	m := map[string]string{"class": r.Class, "label": string(rune(r.First))}
	if r.First == ' ' {
		m["label"] = "SPACE"
	}
	for i, c := range r.Cells {
		m[ch.Columns[i]] = string(c)
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, fmt.Sprint(int(n)))
	}
	m["notes"] = strings.Join(notes, ",")
	return m
}

// TestChartOfDocument compares the chart of RFC 3986 with a published one, cell
// by cell. A separate file lists the errors of that document, with the correct
// value and the clause that decides. The test fails for listed errors that are
// not differences.
func TestChartOfDocument(t *testing.T) {
	ch, doc := mustChart(t, "rfc3986"), tsv.Read(t, "testdata/chart-001.tsv")
	wrong := map[string]map[string]string{}
	for _, w := range tsv.Read(t, "testdata/chart-001-wrong.tsv") {
		wrong[w["byte"]+" "+w["column"]] = w
	}
	if len(doc) != 0x7F-0x20 {
		t.Fatalf("got %d rows in the document", len(doc))
	}
	for i, d := range doc {
		ours := ch.cells(ch.Rows[i])
		for _, col := range append([]string{"label", "class", "notes"}, ch.Columns...) {
			at := d["byte"] + " " + col
			w := wrong[at]
			delete(wrong, at)
			switch {
			case w == nil && d[col] != ours[col]:
				t.Errorf("%s: got %q, the document has %q", at, ours[col], d[col])
			case w != nil && (w["document"] != d[col] || w["right"] != ours[col] || w["clause"] == "" || d[col] == ours[col]):
				t.Errorf("%s: got %q, the document has %q, and the list of errors is out of date: %v", at, ours[col], d[col], w)
			}
		}
	}
	for at := range wrong {
		t.Errorf("%s: unknown cell", at)
	}
}

// TestChartRest checks the document's statement that controls, DEL and all
// bytes from 80 to FF are always escaped.
func TestChartRest(t *testing.T) {
	for _, standard := range percent.Standards() {
		ch := mustChart(t, standard)
		rest := ch.Rows[0x7F-0x20:]
		if len(rest) != 3 || rest[0].Last != 0x1F || rest[1].First != 0x7F || rest[2].First != 0x80 || rest[2].Last != 0xFF {
			t.Fatalf("%s: got last rows %v", standard, rest)
		}
		for _, r := range rest {
			for i, c := range r.Cells {
				if want := map[bool]Cell{true: NotAllowed, false: Always}[ch.Columns[i] == "scheme"]; c != want {
					t.Errorf("%s: %02X in %s is %c, want %c", standard, r.First, ch.Columns[i], c, want)
				}
			}
		}
	}
	if _, err := New("rfc2396"); err == nil {
		t.Error("New accepted an unknown standard")
	}
	if got := Note(99).String(); got != "note(99)" || NoteQuery.String() == "" {
		t.Errorf("out-of-range note: got %q", got)
	}
}

// TestChartCells checks the other standards where they differ from RFC 3986.
func TestChartCells(t *testing.T) {
	f := func(standard string, c byte, want, class string) {
		t.Helper()
		r := mustChart(t, standard).Rows[c-0x20]
		var got []string
		for _, cell := range r.Cells {
			got = append(got, string(cell))
		}
		if strings.Join(got, " ") != want || r.Class != class {
			t.Errorf("%s, %q: %s (%s), want %s (%s)", standard, c, strings.Join(got, " "), r.Class, want, class)
		}
	}
	// Columns: scheme auth path query fragment. URL Standard §1.3: the sets;
	// §4.4: the states that end at / \ ? #.
	f("whatwg", '\'', "- N N Y N", "sub-delim")
	f("whatwg", ';', "- Y N N N", "sub-delim")
	f("whatwg", '=', "- Y N m N", "sub-delim") // §5.1: a form parser splits at & = and decodes +
	f("whatwg", '^', "- Y Y N N", "")
	f("whatwg", '|', "- Y N N N", "")
	f("whatwg", '\\', "- m m N N", "")
	f("whatwg", '`', "- Y Y N Y", "")
	f("whatwg", '#', "- m m m N", "gen-delim")
	f("whatwg", '[', "- m N N N", "gen-delim")
	f("whatwg", '~', "- N N N N", "unreserved")
	f("whatwg", '%', "- Y Y Y Y", "escape")

	// RFC 1738 §2.2 and §5. §3.1: ':', '@' and '/' must be encoded within user
	// and password. §3.3: '/', ';' and '?' are reserved.
	f("rfc1738", '~', "- Y Y Y Y", "unsafe")
	f("rfc1738", '#', "- Y Y Y Y", "unsafe")
	f("rfc1738", '/', "- m m Y N", "reserved")
	f("rfc1738", ';', "- N m m N", "reserved")
	f("rfc1738", '?', "- N m Y N", "reserved")
	f("rfc1738", '&', "- N N N N", "reserved")
	f("rfc1738", '@', "- m N N N", "reserved")
	f("rfc1738", '!', "- N N N N", "extra")
	f("rfc1738", '$', "- N N N N", "safe")
	f("rfc1738", '+', "N N N N N", "safe")
	f("rfc1738", 'A', "- N N N N", "alphanumeric") // §5: a scheme consists of lowalpha
	f("rfc1738", '%', "- Y Y Y Y", "unsafe")

	// URL Standard §5.2: all bytes except alphanumerics and * - . _ are
	// escaped.
	f("form", '*', "N", "")
	f("form", '~', "Y", "")
	f("form", '&', "m", "")
	f("form", ' ', "Y", `written as "+"`)
}

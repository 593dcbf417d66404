package record

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	named := Config{Format: "csv", URLField: "url"}
	check(t, named, "id,url\r\n1,HTTP://A\r\n2,http://a/\n", "id,url\r\n1,http://a/\r\n2,http://a/\n")
	check(t, named, "\"url\",\"a\nb\"\nHTTP://A,x", "\"url\",\"a\nb\"\nhttp://a/,x")
	check(t, named, "\xEF\xBB\xBFurl\nHTTP://A\n", "\xEF\xBB\xBFurl\nhttp://a/\n")
	// RFC 4180 §2.6, §2.7: quotes, separators and line ends in a quoted cell.
	// Quoted cells stay quoted, and cells that need quotes get them.
	number := Config{Format: "csv", URLField: "2", Base: "http://b/x,y/"}
	check(t, number, "\"a\n,\"\"\",\"HTTP://A/\"\"\"\n", "\"a\n,\"\"\",\"http://a/%22\"\n")
	check(t, number, "1,c\n1,\n1\n\n", "1,\"http://b/x,y/c\"\n1,\n1\n\n")
	check(t, number, "1,5\" x,z\n", "1,\"http://b/x,y/5%22%20x\",z\n")
	// The record has a base (RFC 3986 §5.1.1 before §5.1.4).
	check(t, Config{Format: "tsv", URLField: "2", BaseField: "1", Base: "http://b/"}, "http://a/\tx\n\tx\n", "http://a/\thttp://a/x\n\thttp://b/x\n")
	check(t, Config{Format: "tsv", URLField: "u"}, "a\tu\n1\tHTTP://A/,\"\n", "a\tu\n1\thttp://a/,%22\n")

	_, _, st := runJob(t, newJob(t, named), []byte("id,u\n1,HTTP://A\n"))
	if st.Rejects[NoField] != 1 {
		t.Errorf("column missing in the header: %+v", st)
	}
	_, _, st = runJob(t, newJob(t, number), []byte("1,\"a\"b\n1\n,\"\"\n"))
	if st.Rejects[Unparsed] != 1 || st.Rejects[NoField] != 1 || st.NoURL != 1 {
		t.Errorf("text after a quote, a short record, an empty cell: %+v", st)
	}
}

// TestTableHeads checks that a worker looks up its columns again for another
// stream.
func TestTableHeads(t *testing.T) {
	w := newJob(t, Config{Format: "csv", URLField: "u", Render: RenderURLs}).NewWorker()
	var st Stats
	var out []byte
	for _, head := range []string{"u,v\n", "v,u\n", "v,u\n", "u,v\n"} {
		out, _ = w.Append(out, nil, []byte("a,b\n"), Position{Head: []byte(head), Off: 9}, &st)
	}
	if string(out) != "a\nb\nb\na\n" {
		t.Errorf("got %q", out)
	}
}

func TestFraming(t *testing.T) {
	f := func(c Config, in string, cut, head int) {
		t.Helper()
		fr := newJob(t, c).Framing()
		if got := fr.Cut([]byte(in)); got != cut {
			t.Errorf("Cut(%q) is %d, want %d", in, got, cut)
		}
		if got := fr.Head([]byte(in)); got != head {
			t.Errorf("Head(%q) is %d, want %d", in, got, head)
		}
	}
	lines := Config{Format: "lines"}
	f(lines, "", 0, 0)
	f(lines, "a", 0, 0)
	f(lines, "a\nb", 2, 0)
	csvByName, csvByNumber := Config{Format: "csv", URLField: "u"}, Config{Format: "csv", URLField: "1"}
	f(csvByName, "a,b\nc,d\ne", 8, 4)
	f(csvByNumber, "a,b\nc,d\ne", 8, 0)
	f(csvByName, "\"a\n\"\"\",b\nc,\"d\n", 9, 9)
	f(csvByName, "a,5\"\nb\n", 7, 5)
	f(csvByName, "\"a\n", 0, 0)
	f(csvByName, "\"a\"x\"\n\"\nb", 6, 6)
}

// FuzzTable checks that records and cells are those of encoding/csv, if that
// accepts the text.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n\"c\"\"\n,\",d\n")
	f.Add("\"\",\n1,\"2\"\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "\r", "") // encoding/csv changes it inside quotes
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		want, err := r.ReadAll()
		if err != nil {
			return
		}
		var got [][]string
		for b := []byte(text); len(b) > 0; {
			n := tableRecordEnd(b, ',', false)
			if n < 0 {
				n = len(b)
			}
			body := trimEnd(b[:n])
			b = b[n:]
			if len(body) == 0 {
				continue // like encoding/csv
			}
			var cells []string
			for pos := 0; pos <= len(body); {
				s, enc, next, ok := cell(body, pos, ',')
				if !ok {
					t.Fatalf("%q: rejected the cell at %d of %q", text, pos, body)
				}
				cellText, _, _ := enc.unescape(nil, s.in(body), nil)
				cells = append(cells, string(cellText))
				pos = next
			}
			got = append(got, cells)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\n got %q\nwant %q", text, got, want)
		}
	})
}

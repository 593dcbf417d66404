package record

import (
	"encoding/csv"
	"errors"
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
			n := rfc4180.recordEnd(b)
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
				s, enc, next, ok := rfc4180.cell(body, pos)
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

// rfc4180 is the syntax of the format csv.
var rfc4180 = &tableSyntax{sep: ',', quote: '"', plain: cellDialect, quoted: quotedDialect}

// TestTableSyntax checks tables with other delimiters, quotes and escapes:
// which cells are read, and how a URL is written back.
func TestTableSyntax(t *testing.T) {
	f := func(c Config, in, want string) {
		t.Helper()
		c.Format, c.URLField = "csv", "2"
		check(t, c, in, want)
		verify(t, c, []byte(in))
		c.Render, c.Fields = RenderURLs, nil
		again, _, _ := runJob(t, newJob(t, c), []byte(want))
		if before, _, _ := runJob(t, newJob(t, c), []byte(in)); string(before) != string(again) {
			t.Errorf("%+v: %q has the URLs %q, and rewritten %q", c, in, before, again)
		}
	}
	f(Config{Delimiter: ":"}, "1:\"HTTP://H/%7e\":x\n", "1:\"http://h/~\":x\n")
	f(Config{Delimiter: "tab"}, "1\tHTTP://H/a,b\tx\n", "1\thttp://h/a,b\tx\n")
	f(Config{Delimiter: `\t`}, "1\tHTTP://H/\n", "1\thttp://h/\n")
	f(Config{Delimiter: "~"}, "1~http://h/%7e\n", "1~\"http://h/~\"\n") // the normal form has a delimiter
	f(Config{Delimiter: "~", Quote: "'"}, "1~http://h/%7e'\n", "1~'http://h/~'''\n")
	check(t, Config{Format: "csv", URLField: "2", Delimiter: "~", Quote: "none"}, "1~http://h/%7e\"\n", "1~http://h/%7E%22\n")
	f(Config{Delimiter: "~", Quote: "none", Escape: `\`}, "1~HTTP://h/\\~a\n", "1~http://h/\\~a\n")
	f(Config{Quote: "'"}, "'it''s, \"1\"','HTTP://H/a,''b''\n'\n", "'it''s, \"1\"','http://h/a,''b''%0A'\n")
	f(Config{Quote: "'", Escape: `\`}, "'it\\'s, 1','HTTP://H/a,\\'b'\n", "'it\\'s, 1','http://h/a,\\'b'\n")
	f(Config{Quote: "none"}, "\"a,HTTP://H/\"x\n", "\"a,http://h/%22x\n")
	f(Config{Escape: `\`}, "\"a\\\"b\",HTTP://H/\\,a\n", "\"a\\\"b\",\"http://h/,a\"\n")
	f(Config{Escape: `"`, NoHeader: true}, "\"a\"\"b\",HTTP://H/\n", "\"a\"\"b\",http://h/\n")
	f(Config{NoHeader: true, URL: URLParts{}}, "url,HTTP://H/\n", "url,http://h/\n")
}

// TestTableSyntaxMistakes checks the errors about settings of tables.
func TestTableSyntaxMistakes(t *testing.T) {
	for _, c := range []struct {
		Config
		want string
	}{
		{Config{Delimiter: "::"}, "Delimiter: must be one ASCII character, such as ; or |, or tab"},
		{Config{Delimiter: "\u00a6"}, "Delimiter: must be one ASCII character, such as ; or |, or tab"},
		{Config{Delimiter: "\n"}, "Delimiter: must be one ASCII character, such as ; or |, or tab"},
		{Config{Delimiter: ";", Format: "tsv"}, "Delimiter: applies only to the format csv; the format tsv has its own delimiter"},
		{Config{Delimiter: `"`}, "Quote: must differ from the delimiter"},
		{Config{Quote: "''"}, "Quote: must be one ASCII character, such as ', or none"},
		{Config{Quote: ","}, "Quote: must differ from the delimiter"},
		{Config{Escape: "^"}, "Escape: must be a backslash, or the quote character for quotes that are doubled"},
		{Config{Escape: `\`, Quote: `\`}, ""},
		{Config{Escape: `\`, Delimiter: `\`}, "Escape: must differ from the delimiter and the quote"},
		{Config{NoHeader: true, URLField: "url"}, "NoHeader: columns must be given by number, because a table without a header has no column names"},
		{Config{NoHeader: true, URLField: "1", BaseField: "page"}, "NoHeader: columns must be given by number, because a table without a header has no column names"},
		{Config{Format: "combined", Delimiter: ";"}, "Delimiter: applies only to tables such as csv, not to the format combined"},
		{Config{Format: "jsonl", NoHeader: true}, "NoHeader: applies only to tables such as csv, not to the format jsonl"},
		{Config{Format: "parquets", Quote: "'"}, `Format: unknown format "parquets"`},
	} {
		if c.Format == "" {
			c.Format = "csv"
		}
		if c.URLField == "" && c.Format != "combined" {
			c.URLField = "1"
		}
		c.Normalizer = newNormalizer(t, "equiv")
		_, err := New(c.Config)
		var e *ConfigError
		got := ""
		if errors.As(err, &e) {
			got = e.Field + ": " + err.Error()
		}
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") || c.want == "" && err != nil {
			t.Errorf("%+v: got %q, want %q", c.Config, got, c.want)
		}
	}
}

// TestTableOpenQuote checks that lines which a quote swallows up to the end of
// the input are not lost without a word, even if the URL comes before the quote.
func TestTableOpenQuote(t *testing.T) {
	for _, c := range []struct {
		config Config
		in     string
		want   int64 // unparsed records
	}{
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\nhttp://h/b,y\n", 1},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\nhttp://h/b,y", 1},
		{Config{URLField: "1"}, "\xEF\xBB\xBFhttp://h/a,\"x\nhttp://h/b,y\n", 1},
		{Config{URLField: "url", Dialect: "backslash"}, "url,title\nhttp://h/a,\"x\\\"\nhttp://h/b,y\n", 1},
		{Config{URL: URLParts{Host: []string{"host"}, Path: []string{"path"}}}, "host,path,title\nh,/a,\"x\nh,/b,y\n", 1},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\n", 0}, // nothing is lost
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\ny\"\nhttp://h/b,\"y\nz\"", 0},
	} {
		c.config.Format, c.config.Normalizer = "csv", newNormalizer(t, "equiv")
		j, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		var st Stats
		var pos Position
		w := j.NewWorker()
		pos.Head = []byte(c.in[:j.Framing().Head([]byte(c.in))])
		for in := []byte(c.in); len(in) > 0; {
			n := w.Next(in)
			w.Append(nil, nil, in[:n], pos, &st)
			in, pos.Off = in[n:], pos.Off+int64(n)
		}
		if got := st.Rejects[Unparsed]; got != c.want || st.Rejected != c.want {
			t.Errorf("%q: %d unparsed, want %d; %v", c.in, got, c.want, st.Rejects)
		}
	}
}

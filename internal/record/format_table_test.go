package record

import (
	"bytes"
	"errors"
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

// TestTableOpenQuote checks that a quote which does not close its cell swallows no row
// after its own, whatever is on them, and that OpenQuotes finds its line.
func TestTableOpenQuote(t *testing.T) {
	rows := func(n int) string { return strings.Repeat("http://h/b,y\n", n) }
	for _, c := range []struct {
		config       Config
		in           string
		urls, open   int64
		unparsed     int64
		line         int // offset of the first line with an open quote
		undetermined bool
	}{
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\n" + rows(1), 2, 1, 0, 10, true},
		{Config{URLField: "url"}, "title,url\n\"x,http://h/a\ny,http://h/b", 1, 1, 1, 10, true},
		{Config{URLField: "2"}, "\xEF\xBB\xBF\"x,http://h/a\ny,http://h/b\n", 1, 1, 1, 0, true},
		{Config{URLField: "url", Dialect: "backslash"}, "title,url\n\"x\\\",http://h/a\ny,http://h/b\n", 1, 1, 1, 10, true},
		{Config{URL: URLParts{Host: []string{"host"}, Path: []string{"path"}}}, "title,host,path\n\"x,h,/a\ny,h,/b\n", 1, 1, 1, 16, true},
		{Config{URLField: "url", Quote: "'", Delimiter: ";"}, "title;url\n'x;http://h/a\ny;http://h/b\n", 1, 1, 1, 10, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\n", 1, 1, 0, 10, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\ny\"\nhttp://h/b,\"y\nz\"", 2, 0, 0, 0, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"" + strings.Repeat("x\n", 999) + "\"\n" + rows(1), 2, 0, 0, 0, false},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"" + rows(1000) + "\"\n" + rows(1), 1001, 2, 1, 10, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"" + rows(2000), 2000, 1, 0, 10, false},
		{Config{URLField: "url"}, "url,title\n1,\"\n\",\"" + rows(2000), 2000, 1, 0, 14, false},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"" + strings.Repeat("x", 1<<20) + "\n\"\n" + rows(1), 2, 2, 1, 10, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"" + strings.Repeat("x", 1<<21) + "\"\n" + rows(1), 2, 0, 0, 0, false},
		{Config{URLField: "url", MaxQuoted: 16}, "url,title\nhttp://h/a,\"0123456789abc\n\"\nhttp://h/b,\"0123456789abcd\n\"\nhttp://h/b,y\n", 3, 2, 1, 38, true},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\n" + rows(3) + "\"http://h/c\",\"z\"\n" + rows(1), 6, 1, 0, 10, false},
		{Config{URLField: "url"}, "url,title\nhttp://h/a,\"x\n" + rows(3) + "http://h/c,\"z\"\n" + rows(1), 6, 1, 0, 10, false},
		{Config{URLField: "url"}, "url,title\r\nhttp://h/a,\"x\r\n\"\"y\"\"\"\r\nhttp://h/c,\"\n\"\n" + rows(1), 3, 0, 0, 0, false},
		{Config{URLField: "url", Dialect: "backslash"}, "url,title\nhttp://h/a,\"x\n" + rows(3) + "\"http://h/c\",\"z\"\n" + rows(1), 6, 1, 0, 10, false},
		{Config{URLField: "url", MaxQuoted: 4 << 20}, "url,title\nhttp://h/a,\"" + rows(2000) + "\"\n" + rows(1), 2, 0, 0, 0, false},
	} {
		c.config.Format = "csv"
		checkOpenQuote(t, c.config, c.in, c.urls, c.open, c.unparsed, c.line, c.undetermined)
	}
}

func checkOpenQuote(t *testing.T, config Config, in string, urls, open, unparsed int64, line int, undetermined bool) {
	t.Helper()
	config.Normalizer = newNormalizer(t, "equiv")
	j, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	name := in[:min(len(in), 60)]
	first, number := j.Framing().(QuoteFraming).OpenQuotes([]byte(in))
	if number != int(open) || first != line {
		t.Errorf("%q: %d open quotes, first %d, want %d, %d", name, number, first, open, line)
	}
	if n := j.Framing().Cut([]byte(in)); (n < bytes.LastIndexByte([]byte(in), '\n')+1) != undetermined {
		t.Errorf("%q: Cut returned %d of %d", name, n, len(in))
	}
	var st Stats
	var pos Position
	w := j.NewWorker()
	pos.Head = []byte(in[:j.Framing().Head([]byte(in))])
	for in := []byte(in); len(in) > 0; {
		n := w.Next(in)
		w.Append(nil, nil, in[:n], pos, &st)
		in, pos.Off = in[n:], pos.Off+int64(n)
	}
	if st.URLs != urls || st.Rejects[Unparsed] != unparsed {
		t.Errorf("%q: %d URLs, %d unparsed, want %d, %d; %v", name, st.URLs, st.Rejects[Unparsed], urls, unparsed, st.Rejects)
	}
}

// TestTSVQuotes checks that the quotes of a TSV count only on lines on which all of them
// are closed, whichever way a line takes, unless the quote is configured.
func TestTSVQuotes(t *testing.T) {
	const literal = "\"item 3\thttp://H/%7e3\n"
	f := func(c Config, in, want string) {
		t.Helper()
		c.Format, c.URLField = "tsv", "2"
		check(t, c, in, want)
		verify(t, c, []byte(in))
	}
	f(Config{}, literal+"b\thttp://H/4\n", "\"item 3\thttp://h/~3\nb\thttp://h/4\n")
	f(Config{}, "\"a\tb\"\t\"http://H/%7e\"\n"+literal+"\"c\"\td\n", "\"a\tb\"\t\"http://h/~\"\n\"item 3\thttp://h/~3\n\"c\"\td\n")
	f(Config{}, "\"a\"b\thttp://H/%7e\n\"a\"\thttp://H/%7e\t\"a\"b\n", "\"a\"b\thttp://h/~\n\"a\"\thttp://h/~\t\"a\"b\n")
	f(Config{Quote: "none"}, "\"a\tHTTP://h/\"\n\x00a\thttp://H/%7e\x00\n", "\"a\thttp://h/%22\n\x00a\thttp://h/~%00\n")
	f(Config{Quote: `"`}, "\"a\nb\"\thttp://H/%7e\n", "\"a\nb\"\thttp://h/~\n")
	check(t, Config{Format: "csv", Delimiter: "tab", URLField: "2"}, literal, "\"item 3\thttp://h/~3\n")
	check(t, Config{Format: "tsv", URL: URLParts{Host: []string{"2"}, Path: []string{"3"}}}, "\"a\tH\t/%7e\n\"a\"\tH\t/%7e\n", "\"a\th\t/~\n\"a\"\th\t/~\n")
}

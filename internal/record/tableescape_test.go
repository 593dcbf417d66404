package record

import (
	"strings"
	"testing"
)

// TestTableEscapes checks tables in which a backslash makes the next byte
// literal.
func TestTableEscapes(t *testing.T) {
	f := func(format, field, in, want string) {
		t.Helper()
		c := Config{Format: format, URLField: field, Dialect: "backslash"}
		check(t, c, in, want)
		check(t, c, want, want)
	}
	f("csv", "2", `"a\"b,c","http://H/%7e",x`, `"a\"b,c","http://h/~",x`)
	f("csv", "2", `"a\\","http://H/\"%7e",x`, `"a\\","http://h/%22~",x`)
	f("csv", "2", `a\,b,http://H/x\,%7e,c`, `a\,b,"http://h/x,~",c`)
	f("csv", "2", `\N,http://H/,c`, `\N,http://h/,c`)
	f("csv", "1", "\"http://H/a\\\n\",\"b\\\"\nc\"\nhttp://H,\n", "\"http://h/a%0A\",\"b\\\"\nc\"\nhttp://h/,\n")
	f("csv-semicolon", "url", "id;url\n1;\"http://H/\\\\\"\n", "id;url\n1;\"http://h/%5C\"\n")
	f("csv-pipe", "2", `a\|b|http://H/\x|c`, `a\|b|http://h/x|c`)
	f("tsv", "2", `a\tb`+"\thttp://H/%7e\t\\N\n", `a\tb`+"\thttp://h/~\t\\N\n")
	f("csv", "2", `a\,"b","http://H"`, `a\,"b","http://h/"`)
	f("csv", "1", `"http://H/"x,`, `"http://H/"x,`) // text after a closing quote
	f("csv", "1", `http://H/%7e,"a\"`, `http://h/~,"a\"`)
	f("tsv", "1", "http://H/\\0\\f\tx\n", "http://h/%00%0C\tx\n")
	list := func(in, want string) {
		t.Helper()
		check(t, Config{Format: "tsv", URLField: "1", Dialect: "backslash", Quote: "none", NoHeader: true, Render: RenderTSV, Fields: []string{"url", "norm"}}, in, want)
	}
	list("\\N\ta\nN\ta\nhttp://H/\\\\N\n", "N\tN\nhttp://H/\\\\N\thttp://h/%5CN\n")
	check(t, Config{Format: "csv", URLField: "1", Dialect: "backslash", Base: "http://h/", Render: RenderURLs}, "\"\\N\",a\n\\N,a\n", "http://h/N\n")
	check(t, Config{Format: "csv", URLField: "1", Dialect: "backslash", Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}, {Name: "r", Field: "record"}}},
		`"http://H/\"",1`+"\n", `"http://H/\"",1,http://h/%22,"\"http://H/\\\"\",1"`+"\n")
	for _, format := range []string{"combined", "w3c", "ltsv", "jsonl"} {
		_, err := New(Config{Format: format, URLField: map[string]string{"jsonl": "u"}[format], Dialect: "backslash", Normalizer: newNormalizer(t, "equiv")})
		if err == nil || !strings.Contains(err.Error(), "dialect") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestTableMark checks that a byte order mark is not part of the first cell.
func TestTableMark(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	for _, test := range []struct{ format, field, in, want string }{
		{"csv", "1", "http://H/,a\n1,http://H/\n", "http://h/,a\n1,http://H/\n"},
		{"csv", "url", "url,a\nhttp://H/,b\n", "url,a\nhttp://h/,b\n"},
		{"csv-semicolon", "url", "\"url\";\"a\nb\"\n\"http://H/\";b\n", "\"url\";\"a\nb\"\n\"http://h/\";b\n"},
		{"csv-pipe", "1", "\"http://H/\"|b\n\"http://H/\"|c\n", "\"http://h/\"|b\n\"http://h/\"|c\n"},
		{"tsv", "1", "http://H/\ta\nhttp://H/\tb\n", "http://h/\ta\nhttp://h/\tb\n"},
	} {
		check(t, Config{Format: test.format, URLField: test.field}, mark+test.in, mark+test.want)
		with, _ := Detect([]byte(mark + test.in))
		if without, _ := Detect([]byte(test.in)); with != without {
			t.Errorf("%q: detected as %+v, without a mark as %+v", test.in, with, without)
		}
	}
}

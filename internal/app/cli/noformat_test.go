package cli

import (
	"errors"
	"strings"
	"testing"
)

// TestNoFormat checks that the error about an input without a format names a
// command that works.
func TestNoFormat(t *testing.T) {
	for head, want := range map[string]string{
		"[\n{\"url\":\"http://h/\"},\n{\"url\":\"http://h/a\"}\n]\n": "convert it with jq -c '.[]' FILE",
		"[{\"url\":\"http://h/\"},{\"url\":\"http://h/a\"}]":         "convert it with jq -c '.[]' FILE",
		"\xEF\xBB\xBF[\n {\n  \"url\": \"http://h/\"\n }\n]\n":       "convert it with jq -c '.[]' FILE",
		"[ \"http://h/\",\n \"http://h/a\" ]\n":                      "convert it with jq -r '.[]' FILE",
		"[[\"id\",\"url\"],\n[\"1\",\"http://h/\"]]\n":               "convert it with jq -r '.[] | @tsv' FILE",
		"{\n  \"url\": \"http://h/\"\n}\n":                           "convert it with jq -c . FILE",
		"{\"url\":\"http://h/\"}{\"url\":\"http://h/a\"}\n":          "convert it with jq -c . FILE",
		"# Page paths\n# Account: x\nPath,Views\n/,1\n":              "grep -v '^#' FILE",
		"CREATE TABLE t;\nINSERT INTO t VALUES (1,'http://h/a');\n":  "use --from text --to urls; otherwise",
		"<?xml version=\"1.0\"?>\n<list>\n<item>http://h/</item>\n":  "use --from text --to urls --repair html-entity; otherwise",
		"http://h/%7e [200] [nginx]\nhttp://h/a [200] [nginx]\n":     "use --from text --to urls; otherwise",
		"example.com\nexample.org\n":                                 "no URL with a scheme and no request such as GET /path in the first 2 records; name the format with --from",
	} {
		if err := noFormat("a", []byte(head)); !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", head, err)
		}
	}
	if err := noFormat("a", []byte("a http://h/%7e\n")); strings.Contains(err.Error(), "no URL") {
		t.Error(err)
	}
}

func TestExplainHeader(t *testing.T) {
	err := errors.New(`no column "url" in the header`)
	for head, want := range map[string]string{
		"\xEF\xBB\xBFsep=;\r\nurl;n\r\n": "; the first line names the separator and is not the header; remove it first: sed 1d FILE",
		"\nurl,n\n":                      "; the first line is blank; remove the lines before the header first: sed '/./,$!d' FILE",
		"# x\nurl,n\n":                   "; the first line begins with #; remove the lines before the header first: grep -v '^#' FILE",
		"ulr,n\n":                        "",
	} {
		if got := explainHeader(err, []byte(head)).Error(); got != err.Error()+want {
			t.Errorf("%q: %s", head, got)
		}
	}
	if explainHeader(nil, []byte("\n")) != nil {
		t.Error("an error where there was none")
	}
}

// TestArrayHint checks that a record of records is noticed, and no other one.
func TestArrayHint(t *testing.T) {
	for head, want := range map[string]string{
		`{"log":{"entries":[{"request":{"url":"http://h/a"}},{"request":{"url":"http://h/b"}}]}}`: "jq -c '.log.entries[]' FILE",
		`{"log":{"entries":[{"request":{"url":"http://h/a"}}]}}`:                                  "",
		`{"url":"http://h/","tags":["a","b"]}`:                                                    "",
		`{"links":["http://h/a","http://h/b"]}` + "\n" + `{"links":["http://h/c","http://h/d"]}`:  "",
	} {
		if got := arrayHint([]byte(head)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", head, got)
		}
	}
}

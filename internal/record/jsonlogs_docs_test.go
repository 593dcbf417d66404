package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

//go:generate go test -run ^TestJSONLogsPage$ -update .

// TestJSONLogsPage checks that docs/reference/json-logs.md shows the table
// Logs. With -update it writes the page.
func TestJSONLogsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "json-logs.md")
	page := jsonLogsPage(t)
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, page) {
		t.Errorf("%s is out of date (%v): run go generate ./internal/record", path, err)
	}
}

const jsonLogsIntro = `# JSON logs

<!-- Made from the code by go generate ./internal/record: do not edit. -->

urlfold knows the fields of these logs, which have one JSON object in each line. It detects them
without any option:

| format | reads |
|---|---|
`

const jsonLogsRules = `
A file has one of these formats if at least half of its first records have the landmarks of the
format: for each landmark, one of the fields named. Otherwise, or if you name fields with
` + "`--url-field` or `--url`" + `, it is plain ` + "[`jsonl`](tables.md#jsonl)" + `.

The tables below list the fields with each part of a request. Of several fields, urlfold uses the
first one that is not empty; a missing field, ` + "`null`, an empty text and `-`" + ` are empty. Numbers may also
be texts. ` + "`[=Host]`" + ` is the member value of the array's object whose member name is Host, in any case. [URLs in several fields](tables.md#urls-in-several-fields) describes how urlfold composes
the URL of these parts, and how ` + "`rewrite`" + ` writes it back.

- A record without any of the fields of the URL, such as a message of another kind, passes through.
- A record that is not a JSON object, such as a truncated line, is ` + "`unparsed`" + `.
- ` + "`--target referer` and `--target all`" + ` select the referer.
- Records that lack the scheme get it from ` + "`--base https://{host}/`" + `.

Azure Monitor can put many records into one line: ` + "`{\"records\":[{…},{…}]}`" + `. In the formats of
Azure, urlfold reads each element of the array as a record. The text between two elements belongs to
the second one, so ` + "`rewrite`" + ` gives the line back byte for byte except for the URLs, and the whole
line is one message in a topic. If you leave out elements, for example with ` + "`--where` or `--dead-letter`" + `,
the rest of the line is no longer JSON; use another output format then.
`

// jsonLogsPage returns the page.
func jsonLogsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString(jsonLogsIntro)
	for i := range jsonlines.Logs {
		l := &jsonlines.Logs[i]
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", l.ID, l.ID, l.About)
	}
	b.WriteString(jsonLogsRules)
	for i := range jsonlines.Logs {
		writeJSONLog(t, &b, &jsonlines.Logs[i])
	}
	return b.Bytes()
}

// writeJSONLog writes the section about a format.
func writeJSONLog(t *testing.T, b *bytes.Buffer, l *jsonlines.Log) {
	fmt.Fprintf(b, "\n## %s\n\nReads %s. Reference: <%s>.\n\n", l.ID, l.About, l.Doc)
	if l.Note != "" {
		fmt.Fprintf(b, "%s\n\n", wrapText(l.Note, 100))
	}
	fmt.Fprint(b, "| part | fields |\n|---|---|\n")
	for _, list := range l.Landmarks {
		fmt.Fprintf(b, "| landmark | %s |\n", codeList(strings.Fields(list)))
	}
	for _, p := range l.Parts() {
		fmt.Fprintf(b, "| %s | %s%s |\n", partTitle(p.Use), codeList(p.Names), unitTitles[p.Unit])
	}
	sample, _, _ := bytes.Cut(readFile(t, filepath.Join("testdata", "named", l.ID+".log")), locate.LineFeed)
	fmt.Fprintf(b, "\n```json\n%s\n```\n", sample)
}

var unitTitles = map[int8]string{3: ", in milliseconds", 9: ", in nanoseconds", locate.MsUnlessDecimal: ", in seconds or milliseconds", locate.NoUnit: ", with its unit"}

func codeList(fields []string) string {
	return "`" + strings.Join(fields, "`, `") + "`"
}

// partTitle returns the title of a part.
func partTitle(p locate.Use) string {
	if p >= locate.UseAttr {
		for f := range numFields {
			if ofAttrs.has(f) && attrOf(f) == locate.AttrID(p-locate.UseAttr) {
				return fieldNames[f]
			}
		}
	}
	return map[locate.Use]string{
		locate.UseURL: "URL", locate.UseTarget: "request target or URL", locate.UseRequest: "request line", locate.UsePath: "path", locate.UseQuery: "query, if the path has none",
		locate.UseScheme: "scheme", locate.UseTLS: "https", locate.UseHost: "host", locate.UsePort: "port", locate.UseMethod: "method", locate.UseReferer: "referer",
	}[p]
}

// wrapText wraps a text at a column.
func wrapText(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}

// TestJSONLogsTable checks that each format has landmarks, the address of its
// reference and a field for the URL, and lists each part once.
func TestJSONLogsTable(t *testing.T) {
	for i := range jsonlines.Logs {
		l := &jsonlines.Logs[i]
		if len(l.Landmarks) < 2 || !strings.HasPrefix(l.Doc, "https://") || l.About == "" || l.Note == "" {
			t.Errorf("%s: landmarks %q, reference %q", l.ID, l.Landmarks, l.Doc)
		}
		if !slices.ContainsFunc(l.Parts(), func(p locate.Named) bool { return p.Use <= locate.UsePath }) {
			t.Errorf("%s: no field for the URL", l.ID)
		}
		seen := map[locate.Use]bool{}
		for _, p := range l.Parts() {
			if seen[p.Use] || len(p.Names) == 0 {
				t.Errorf("%s: part %s is empty or given twice", l.ID, partTitle(p.Use))
			}
			seen[p.Use] = true
		}
	}
}

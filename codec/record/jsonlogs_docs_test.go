package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -run ^TestJSONLogsPage$ -update .

// TestJSONLogsPage checks that docs/reference/json-logs.md shows the table
// jsonLogs. With -update it writes the page.
func TestJSONLogsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference", "json-logs.md")
	page := jsonLogsPage(t)
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, page) {
		t.Errorf("%s is out of date (%v): run go generate ./codec/record", path, err)
	}
}

const jsonLogsIntro = `# JSON logs

<!-- Made from the code by go generate ./codec/record: do not edit. -->

urlfold knows the fields of these logs, which have one JSON object in each line. It detects them
without any option:

| format | reads |
|---|---|
`

const jsonLogsRules = `
A file has one of these formats if at least half of its first records have the landmarks of the
format: for each landmark, one of the fields named. Otherwise, or if you name fields with
` + "`--url-field` or `--url`" + `, it is plain ` + "[`jsonl`](formats.md#jsonl)" + `.

The tables below list the fields with each part of a request. Of several fields, urlfold uses the
first one that is not empty; a missing field, ` + "`null`, an empty text and `-`" + ` are empty. Numbers may also
be texts. [URLs in several fields](formats.md#urls-in-several-fields) describes how urlfold composes
the URL of these parts, and how ` + "`rewrite`" + ` writes it back.

- A record without any of the fields of the URL, such as a message of another kind, has no URL and
  passes through.
- A record that is not a JSON object, such as a truncated line, is ` + "`unparsed`" + `.
- ` + "`--target referer` and `--target all`" + ` select the referer.
- Records that lack the scheme get it from ` + "`--base https://{host}/`" + `.

Azure Monitor can put many records into one line: ` + "`{\"records\":[{…},{…}]}`" + `. In the formats of Azure,
urlfold reads each element of the array as a record. The text between two elements belongs to the
second one, so ` + "`rewrite`" + ` gives the line back byte for byte except for the URLs, and such a line is one
message in a topic. If you leave out elements, for example with ` + "`--where` or `--rejects`" + `, the rest of
the line is no longer JSON; use another rendering then.
`

// jsonLogsPage returns the page.
func jsonLogsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString(jsonLogsIntro)
	for i := range jsonLogs {
		l := &jsonLogs[i]
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", l.name, l.name, l.about)
	}
	b.WriteString(jsonLogsRules)
	for i := range jsonLogs {
		writeJSONLog(t, &b, &jsonLogs[i])
	}
	return b.Bytes()
}

// writeJSONLog writes the section about a format.
func writeJSONLog(t *testing.T, b *bytes.Buffer, l *jsonLog) {
	fmt.Fprintf(b, "\n## %s\n\nReads %s. Reference: <%s>.\n\n%s\n\n| part | fields |\n|---|---|\n", l.name, l.about, l.doc, wrapText(l.note, 100))
	for _, list := range l.landmarks {
		fmt.Fprintf(b, "| landmark | %s |\n", codeList(list))
	}
	for _, p := range l.parts {
		fmt.Fprintf(b, "| %s | %s%s |\n", partTitle(p.part), codeList(p.fields), unitTitles[p.unit])
	}
	sample, _, _ := bytes.Cut(readFile(t, filepath.Join("testdata", "named", l.name+".log")), lineFeed)
	fmt.Fprintf(b, "\n```json\n%s\n```\n", sample)
}

var unitTitles = map[int8]string{3: ", in milliseconds", 9: ", in nanoseconds", msUnlessDecimal: ", in seconds or milliseconds", noUnit: ", with its unit"}

func codeList(fields []string) string {
	return "`" + strings.Join(fields, "`, `") + "`"
}

// partTitle returns the title of a part.
func partTitle(p part) string {
	if p >= partAttr {
		for f := range numFields {
			if ofAttrs.has(f) && attrOf(f) == attrID(p-partAttr) {
				return fieldNames[f]
			}
		}
	}
	return map[part]string{
		partAbsolute: "URL", partTarget: "request target or URL", partRequest: "request line", partPath: "path", partQuery: "query, if the path has none",
		partScheme: "scheme", partSecure: "https", partHost: "host", partPort: "port", partMethod: "method", partReferer: "referer",
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
	for i := range jsonLogs {
		l := &jsonLogs[i]
		if len(l.landmarks) < 2 || !strings.HasPrefix(l.doc, "https://") || l.about == "" || l.note == "" {
			t.Errorf("%s: landmarks %q, reference %q", l.name, l.landmarks, l.doc)
		}
		if !slices.ContainsFunc(l.parts, func(p jsonPart) bool { return p.part <= partPath }) {
			t.Errorf("%s: no field for the URL", l.name)
		}
		seen := map[part]bool{}
		for _, p := range l.parts {
			if seen[p.part] || len(p.fields) == 0 {
				t.Errorf("%s: part %s is empty or given twice", l.name, partTitle(p.part))
			}
			seen[p.part] = true
		}
	}
}

package cli

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/record"
)

// A textField is a field of the first records of a file.
type textField struct {
	path  string // as in --url-field
	name  string
	value string
	rank  int // sum over the first records, in which urlRank counts most; 0 if only value is known
}

// jsonFields returns the strings of the first JSON records. Among the
// strings with the same path, it returns the first that most likely holds a
// URL.
func jsonFields(head []byte) (fields []textField) {
	index := map[string]int{}
	for _, m := range slices.Concat(jsonRecords(head)...) {
		i, ok := index[m.path]
		if !ok {
			index[m.path] = len(fields)
			fields = append(fields, textField{path: m.path, name: m.name, value: m.value})
		} else if old := fields[i]; urlRank(m.name, m.value) > urlRank(old.name, old.value) || urlRank(old.name, old.value) == 0 && strings.Contains(m.value, "://") {
			fields[i].value = m.value
		}
	}
	return fields
}

// maxURLFields is the maximum number of fields that a command line names.
const maxURLFields = 8

// jsonURLFields returns the paths of the fields that most likely hold the URLs
// of the first JSON records: the best field of all records, then the best field
// of the records that lack the first, and so on.
func jsonURLFields(head []byte) (paths []string) {
	left := jsonRecords(head)
	for len(paths) < maxURLFields {
		best, bestRank, ranks := "", 0, map[string]int{}
		for _, m := range slices.Concat(left...) {
			if strings.Contains(m.path, ",") || len(paths) > 0 && isReferer(m.name) {
				continue // not possible in --url, or not the URL of the request
			}
			ranks[m.path] += m.rank()
			if r := ranks[m.path]; r > bestRank {
				best, bestRank = m.path, r
			}
		}
		if best == "" {
			break
		}
		paths = append(paths, best)
		left = slices.DeleteFunc(left, func(record []jsonMember) bool {
			return slices.ContainsFunc(record, func(m jsonMember) bool { return m.path == best && m.value != "" && m.value != "-" })
		})
	}
	return paths
}

// jsonURLParts returns the value of --url for JSON records whose URLs are in
// one of several fields, or "" if they are all in the same field.
func jsonURLParts(head []byte, fields []textField) string {
	paths := jsonURLFields(head)
	if len(paths) < 2 {
		return ""
	}
	var parts []string
	for _, path := range paths {
		i := slices.IndexFunc(fields, func(f textField) bool { return f.path == path })
		composed := "absolute=" + path
		if strings.HasPrefix(fields[i].value, "/") {
			composed = cmp.Or(urlParts(fields, path), "path="+path)
		}
		for part := range strings.SplitSeq(composed, ",") {
			if !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, ",")
}

// lineFormat returns the format of JSON records with a log line that holds an
// absolute URL, or "".
func lineFormat(fields []textField) string {
	collectors := map[string]string{"log": "docker", "MESSAGE": "journald", "message": "filebeat"}
	for _, f := range fields {
		if collector := collectors[f.path]; collector != "" && strings.Contains(f.value, "://") {
			return collector + "+log"
		}
	}
	return ""
}

// journalFields returns the fields of the first journal entry that are text and
// that the program has set. The names of all others begin with '_'.
func journalFields(head []byte) (fields []textField) {
	for line := range bytes.Lines(bytes.TrimLeft(head, "\r\n")) {
		name, value, text := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("="))
		if !text {
			break // the end of the entry, or a value that is not text
		}
		if !bytes.HasPrefix(name, []byte("_")) {
			fields = append(fields, textField{path: string(name), name: string(name), value: string(value)})
		}
	}
	return fields
}

// columns returns the columns of a table, with the names in the header, if there is
// one, and numbers otherwise. Their values are the cells of a row after the first one:
// the first row in which the cell looks like a URL or, without such a row, the first of
// all. A byte order mark is not part of the first name.
func columns(head []byte, separator rune) (fields []textField) {
	var rows [][]string
	if separator == '\t' && openCell().Match(head) { // quotes are ordinary characters
		head = bytes.ReplaceAll(head, []byte(`"`), nil)
	}
	c := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(head, []byte(byteOrderMark))))
	c.Comma, c.LazyQuotes, c.FieldsPerRecord = separator, true, -1
	for len(rows) < hintRecords {
		row, err := c.Read()
		if err != nil {
			break
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	header := rows[0]
	named := !slices.ContainsFunc(header, func(cell string) bool { return cell == "" || urlRank("", cell) > 0 })
	for i, cell := range rows[min(1, len(rows)-1)] {
		name := strconv.Itoa(i + 1)
		if named && i < len(header) {
			name = header[i]
		}
		f := textField{path: name, name: cmp.Or(headless[len(header)][name], name), value: cell}
		for _, row := range rows {
			if i < len(row) {
				f.see(row[i])
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// headless names the columns that hold URLs in tables that programs write without a header,
// by the number of columns and of the column.
var headless = map[int]map[string]string{
	// Events of Snowplow: "Enriched stream TSV file format",
	// https://docs.snowplow.io/docs/pipeline/enriched-tsv-format, as read on 2026-11-30.
	131: {"30": "page_url", "32": "page_referrer"},
}

// openCell matches a cell of a tsv that begins with a quote and has no other one.
var openCell = lazily(`(?m)(^|\t)"[^"\t\n]*(\t|$)`)

// see adds a value of the field.
func (f *textField) see(value string) {
	rank := urlRank(f.name, value)
	if rank == 0 {
		return
	}
	if f.rank == 0 {
		f.value = value
	}
	f.rank += 2*rank + bareURL(f.name)
}

// urlField returns the path of the field that most likely holds the URL, or "".
func urlField(fields []textField) string {
	best, bestRank := "", 0
	for _, f := range fields {
		if rank := cmp.Or(f.rank, urlRank(f.name, f.value)); rank > bestRank {
			best, bestRank = f.path, rank
		}
	}
	return best
}

// urlRank says how likely a field with this name and value holds the URL of
// its record; 0 means not at all.
func urlRank(name, value string) int {
	rank, named := 0, urlWord().MatchString(name)
	switch {
	case absoluteURL().MatchString(value), record.IsRequestLine(value):
		rank = 2
	case strings.HasPrefix(value, "/") && !strings.Contains(value, " ") && !fileWords().MatchString(name), named && !hostWords().MatchString(name) && hostPath().MatchString(value):
		rank = 1
	default:
		return 0
	}
	other := otherURL().MatchString(name)
	name = strings.ToLower(name)
	switch {
	case isReferer(name), other:
		return rank
	case named && rank == 2:
		rank += 8
	case slices.ContainsFunc([]string{"url", "uri", "request", "target", "path", "link", "href"}, func(s string) bool { return strings.Contains(name, s) }):
		rank += 4
	}
	return rank + 2
}

// bareURL returns 1 if a field with this name is called url or uri and nothing else, or 0.
func bareURL(name string) int {
	if strings.EqualFold(name, "url") || strings.EqualFold(name, "uri") {
		return 1
	}
	return 0
}

// inURL matches the paths of members of an object url or uri.
var inURL = lazily(`(?i)(^|\.)ur[li]\.[^.]+$`)

// urlWord matches names with the word url or uri: requestUrl, page_url, URI.
var urlWord = lazily(`(^|[^A-Za-z])(?i:ur[li])s?($|[^a-z])|[a-z0-9](Ur[li]|UR[LI])s?($|[^a-z])`)

// otherURL matches names of fields with URLs that are not the URL of the
// record.
var otherURL = lazily(`(?i)(^|[^a-z])(image|img|icon|avatar|logo|thumb|thumbnail|photo|picture|callback|schema|redirect|next|prev|previous|docs?|help|profile|api|origin|upstream)s?(_|-|$|\.)|(image|icon|avatar|logo|thumb|thumbnail|photo|callback|redirect|next|prev|profile|upstream)Ur[li]`)

// hostPath matches URLs without a scheme.
var hostPath = lazily(`(?i)^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.[a-z][a-z0-9-]+(:\d+)?([/?#]\S*)?$`)

// isReferer reports whether a field with this name holds the referer of a request.
func isReferer(name string) bool { return strings.Contains(strings.ToLower(name), "refer") }

// lazily returns a function that compiles an expression when it is called for
// the first time, because most runs do not need it.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// fileWords are parts of the names of fields whose paths are paths of files.
var fileWords = lazily(`(?i)file|folder|directory|process|image|command|script|device|mount|socket`)

var absoluteURL = lazily(`^[A-Za-z][A-Za-z0-9+.-]*://[^ ]+$`)

var (
	hostName  = lazily(`(?i)^[a-z0-9_-]+(\.[a-z0-9_-]+)+(:\d+)?$`)
	hostWords = lazily(`(?i)(^|[^a-z])(v?host|hostname|domain|authority)($|[^a-z])`)
	otherHost = lazily(`(?i)remote|client|forward|upstream|backend|refer`) // not the host of the URL
	queryWord = lazily(`(?i)(^|[^a-z])(query|args$)|[a-z]Query`)
	protoWord = lazily(`(?i)(scheme|proto|protocol)$`)
)

// urlParts returns the value of --url for records that hold a URL in several
// fields: a path, which is in the field path, and a host, a query or both, perhaps a
// scheme. It returns "" if they hold the URL in one field.
func urlParts(fields []textField, path string) string {
	if path == "" || strings.Contains(path, ",") {
		return ""
	}
	scheme, host, query := "", "", ""
	for _, f := range fields {
		switch {
		case f.path == path:
			if !record.IsRequestLine(f.value) && (!strings.HasPrefix(f.value, "/") || strings.HasPrefix(f.value, "//")) {
				return "" // the value is a URL, not a path
			}
		case strings.Contains(f.path, ",") || otherHost().MatchString(f.path) || !beside(f.path, path):
		case host == "" && hostWords().MatchString(f.name) && hostName().MatchString(f.value):
			host = f.path
		case query == "" && queryWord().MatchString(f.name) && (f.value == "" || f.value == "-" || strings.HasPrefix(f.value, "?") || strings.Contains(f.value, "=")):
			query = ",query=" + f.path
		case scheme == "" && protoWord().MatchString(f.name) && (strings.EqualFold(f.value, "http") || strings.EqualFold(f.value, "https")):
			scheme = "scheme=" + f.path + ","
		}
	}
	switch {
	case host != "":
		return scheme + "host=" + host + ",path=" + path + query
	case query != "":
		return "path=" + path + query
	}
	return ""
}

// beside reports whether the field part can belong to the same URL as the field
// path. It must not be in another element of an array. If it is a pair, such as
// headers[=Host].value, it must be in the same array as path, or be a header
// Host.
func beside(part, path string) bool {
	array, name, paired := strings.Cut(part, "[=")
	return strings.HasPrefix(path, element(array)) && (!paired || strings.HasPrefix(path, array+"[=") || strings.EqualFold(name, "host].value"))
}

// element returns the part of a path that names an element of an array, or "".
func element(path string) string { return path[:strings.LastIndexByte(path, ']')+1] }

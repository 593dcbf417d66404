package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// The cases that the lines of each format must have.
const (
	hasQuery    = "a GET with a query"
	hasNoQuery  = "no query"
	hasEmpty    = "an empty query"
	hasReferer  = "a referer"
	hasNonASCII = "bytes that are not ASCII"
	hasQuote    = "a quote or a space in a URL"
	hasIPv6     = "an IPv6 host"
	hasCut      = "a truncated line"
	hasVersions = "an older and a newer list of fields"
)

var vendorCases = []string{hasQuery, hasNoQuery, hasEmpty, hasReferer, hasNonASCII, hasQuote, hasIPv6, hasCut, hasVersions}

// cannotHave lists the cases that a format cannot have, with the reason.
var cannotHave = map[string]map[string]string{
	"lines":             {hasReferer: "a line is a URL", hasCut: "any beginning of a URL is a URL", hasVersions: "a line is a URL"},
	"clf":               {hasReferer: "it has no such field", hasVersions: "it never changed"},
	"combined":          {hasVersions: "it never changed"},
	"vhost_combined":    {hasVersions: "it never changed"},
	"vhost_common":      {hasReferer: "it has no such field", hasVersions: "it never changed"},
	"jsonl":             {hasReferer: "the URL is one field", hasVersions: "the fields are free"},
	"csv":               {hasReferer: "the URL is one column", hasVersions: "the columns are free"},
	"csv-semicolon":     {hasReferer: "the URL is one column", hasVersions: "the columns are free"},
	"csv-pipe":          {hasReferer: "the URL is one column", hasVersions: "the columns are free"},
	"tsv":               {hasReferer: "the URL is one column", hasVersions: "the columns are free"},
	"cdx":               {hasReferer: "it has no such column"},
	"cdxj":              {hasReferer: "it has no such member"},
	"log":               {hasReferer: "it does not say which URL is the referer"},
	"gcs":               {hasVersions: "it never changed"},
	"aws-alb":           {hasReferer: "it has no such field"},
	"aws-elb":           {hasReferer: "it has no such field", hasVersions: "it never changed"},
	"haproxy":           {hasReferer: "it has no such field"},
	"squid":             {hasReferer: "it has no such field"},
	"envoy":             {hasReferer: "it has no such field"},
	"istio":             {hasReferer: "it has no such field"},
	"uwsgi":             {hasReferer: "it has no such field"},
	"cloudflare":        {hasVersions: "the job selects the fields"},
	"nginx-json":        {hasVersions: "the fields are free"},
	"apache-json":       {hasIPv6: "it has no host"},
	"azure-app-gateway": {hasReferer: "it has no such field"},
	"aws-waf":           {hasEmpty: "the query is a field"},
	"cloudfront-json":   {hasEmpty: "the query is a field"},
	"aws-cloudtrail":    {hasReferer: "it has no such field"},
	"akamai-datastream": {hasReferer: "its referer is percent-encoded as a whole", hasEmpty: "the query is a field"},
	"akamai-siem":       {hasReferer: "it has no such field", hasEmpty: "the query is a field"},
	"azure-key-vault":   {hasReferer: "it has no such field"},
	"kubernetes-audit":  {hasReferer: "it has no such field", hasIPv6: "it has no host"},
	"zscaler":           {hasReferer: "its referer has no scheme"},
	"paloalto-url":      {hasReferer: "its referer has no scheme"},
}

// TestVendorCases: the lines of each text format have all the cases that the
// format can have.
func TestVendorCases(t *testing.T) {
	logs := map[string][]namedLog{}
	for _, l := range namedLogs(t) {
		format, _, _ := strings.Cut(l.config.Format, locate.PrefixSeparator)
		logs[format] = append(logs[format], l)
	}
	for format := range textCases {
		logs[format] = append(logs[format], namedLog{format, Config{Format: format, Target: TargetAll}, bytes.Join(textLines(format), locate.LineFeed)})
	}
	for _, format := range Formats() {
		if slices.Contains([]string{"text", "html", "sitemap", "feed", "mail", "warc", "arc", "wat", "msgpack", "protobuf", "avro", "json"}, format) {
			continue // no lines of fields
		}
		t.Run(format, func(t *testing.T) {
			has, lines := map[string]bool{}, 0
			for _, l := range logs[format] {
				l.cases(t, has)
				lines += bytes.Count(l.text, locate.LineFeed)
			}
			if lines < 8 {
				t.Errorf("%d lines, want at least 8", lines)
			}
			for _, c := range vendorCases {
				switch reason, not := cannotHave[format][c]; {
				case not && has[c] && c != hasVersions: // free fields can differ
					t.Errorf("a line has %s, but cannotHave says: %s", c, reason)
				case !not && !has[c]:
					t.Errorf("no line has %s", c)
				}
			}
		})
	}
}

// cases adds the cases that the log has.
func (l *namedLog) cases(t *testing.T, has map[string]bool) {
	c := l.config
	c.Render, c.Fields = RenderJSONL, []string{"url", "norm", "target", "flags", "error"}
	out, st := streamStats(t, c, l.text, 1<<20)
	for line := range bytes.Lines(out) {
		var u struct {
			URL, Norm, Target, Error string
			Flags                    []string
		}
		if err := json.Unmarshal(line, &u); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if u.Target == "referer" {
			has[hasReferer] = true
			continue
		}
		_, query, found := strings.Cut(u.URL, "?")
		has[hasQuery] = has[hasQuery] || query != ""
		has[hasNoQuery] = has[hasNoQuery] || !found
		has[hasEmpty] = has[hasEmpty] || found && query == ""
		has[hasNonASCII] = has[hasNonASCII] || strings.ContainsFunc(u.URL, func(r rune) bool { return r > 0x7F })
		has[hasQuote] = has[hasQuote] || strings.ContainsAny(u.URL, ` "`) || strings.Contains(u.URL, "%20") || strings.Contains(u.URL, "%22")
		has[hasIPv6] = has[hasIPv6] || strings.Contains(u.Norm, "://[")
		has[hasCut] = has[hasCut] || slices.Contains(u.Flags, "maybe-truncated")
	}
	has[hasCut] = has[hasCut] || st.Rejects[Unparsed]+st.Rejects[NoField] > 0
	l.versions(has)
}

// versions adds the cases about fields that are there or not.
func (l *namedLog) versions(has map[string]bool) {
	shapes := map[string]bool{}
	for line := range bytes.Lines(l.text) {
		line = bytes.TrimRight(line, "\r\n")
		for _, path := range []string{"/cut", "/trunc", "/short"} {
			has[hasCut] = has[hasCut] || bytes.Contains(line, []byte(path))
		}
		var members map[string]any
		switch {
		case len(line) == 0: // the end of an entry
		case line[0] != '{':
			has[hasVersions] = has[hasVersions] || bytes.HasPrefix(line, []byte("#Fields")) && shapes["#"]
			shapes[string(line[:1])] = true
			if line[0] != '#' {
				shapes[strings.Repeat("x", bytes.Count(line, []byte(" "))+bytes.Count(line, []byte("\t"))+bytes.Count(line, []byte(`"`)))] = true
			}
		case json.Unmarshal(line, &members) != nil:
			has[hasCut] = true
		default:
			var names []string
			for name, v := range members {
				names = append(names, name)
				inside, _ := v.(map[string]any)
				for name := range inside {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			shapes[strings.Join(names, ",")] = true
		}
	}
	has[hasVersions] = has[hasVersions] || len(shapes) > 3
}

// TestNoReferer: a format whose records have no referer refuses a job that wants only
// that.
func TestNoReferer(t *testing.T) {
	for _, format := range Formats() {
		c := Config{Format: format, Target: TargetReferer, Render: RenderURLs}
		_, err := New(withNormalizer(t, c))
		got := err != nil && strings.Contains(err.Error(), "referer")
		_, not := cannotHave[format][hasReferer]
		if want := not || slices.Contains([]string{"text", "html", "sitemap", "feed", "mail", "warc", "arc", "wat", "msgpack", "protobuf", "avro", "journal-export", "json"}, format); got != want {
			t.Errorf("%s: %v", format, err)
		}
		if c.Target = TargetAll; err != nil {
			if _, err := New(withNormalizer(t, c)); err != nil && strings.Contains(err.Error(), "referer") {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
	_, err := New(withNormalizer(t, Config{Format: "jsonl", URL: URLParts{Path: []string{"p"}}, Target: TargetReferer}))
	if err == nil || err.Error() != "the format jsonl has no referer" {
		t.Error(err)
	}
}

package locate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// This file says which members of JSON objects and columns of tables hold the attributes
// of a record.

// AttrNames are the names of the output fields that show attributes, by AttrID.
var AttrNames = [NumAttrs]string{"time", "status", "bytes", "duration", "client", "agent", "referer", "vhost", "request_id", "method"}

// AllAttrs is the set of all attributes, for formats whose records name their own fields.
const AllAttrs = 1<<NumAttrs - 1

// A NamedField is a member or column that may hold an attribute.
type NamedField struct {
	Attr  AttrID
	Unit  int8   // see Attr.Unit
	Name  string // in the syntax of Config.URLField
	Given bool   // Config.Map names it
}

// knownFields are the usual names of the attributes, best first. They come from the
// JSON logs in package jsonlines, logfmt, W3C logs, the Elastic Common Schema
// (https://www.elastic.co/docs/reference/ecs), and the semantic conventions of
// OpenTelemetry. Words are separated by underscores: see Spellings and Fold.
var knownFields = []struct {
	attr  AttrID
	unit  int8
	names string
}{
	{AttrTime, 0, "time @timestamp timestamp datetime date_time time_iso8601 time_local start_time event_time request_timestamp ts msec date"},
	{AttrStatus, 0, "status status_code http_status http_status_code response_status response_status_code response_code sc_status edge_response_status downstream_status elb_status_code " +
		"http.response.status_code http.status_code http.status http.response.status http_request.status response.status response.status_code res.status_code properties.http_status properties.http_status_code"},
	{AttrBytes, 0, "bytes body_bytes_sent bytes_sent sent_bytes response_bytes response_size response_length response_body_size sc_bytes resp_size bytes_out content_length edge_response_bytes size " +
		"http.response.bytes http.response.body.bytes http.response.body.size http_request.response_size response.size properties.response_bytes properties.sent_bytes"},
	{AttrDuration, 0, "duration request_time response_time duration_s duration_sec duration_seconds request_duration"},
	{AttrDuration, 3, "duration_ms time_ms elapsed_ms took_ms latency_ms response_time_ms request_time_ms"},
	{AttrDuration, MsUnlessDecimal, "time_taken"},
	{AttrDuration, 9, "event.duration duration_ns"},
	{AttrDuration, NoUnit, "elapsed latency took http_request.latency"},
	{AttrClient, 0, "client client_ip remote_addr remote_ip remote_address c_ip ip ip_address client_addr client_address src_ip source_ip remote_host client_host " +
		"client.ip client.address source.ip source.address http_request.remote_ip request.client_ip request.remote_ip properties.client_ip"},
	{AttrAgent, 0, "agent user_agent ua http_user_agent cs(user_agent) cs(User-Agent) request_user_agent client_request_user_agent user_agent.original http.user_agent http.useragent http_request.user_agent request.user_agent properties.user_agent"},
	{AttrReferer, 0, "referer referrer http_referer http_referrer cs(referer) cs(Referer) cs(referrer) request_referer client_request_referer http.request.referrer http.referer http_request.referer request.referer properties.referer"},
	{AttrVHost, 0, "vhost virtual_host http_host x_host_header cs_host cs(host) request_host server_name client_request_host"},
	{AttrRequestID, 0, "request_id req_id x_request_id http_x_request_id x_edge_request_id ray_id trace_id http.request.id"},
	{AttrMethod, 0, "method request_method http_method cs_method verb client_request_method http.request.method http.method http_request.request_method request.method req.method properties.http_method"},
}

// NamedFields returns the fields that may hold attributes: the fields that
// c.Map names, and the usual fields of the attributes that c.Map does not name.
func (c *Settings) NamedFields() (list []NamedField) {
	for id, name := range AttrNames {
		if field, ok := c.Map[name]; ok {
			list = append(list, NamedField{AttrID(id), unitOf(field), field, true})
		}
	}
	for _, k := range knownFields {
		if _, given := c.Map[AttrNames[k.attr]]; !given {
			for name := range strings.FieldsSeq(k.names) {
				list = append(list, NamedField{Attr: k.attr, Unit: k.unit, Name: name})
			}
		}
	}
	return list
}

// LogUse returns the use of a field of a log that Config.Map names. In a log,
// the method can be part of the request, and a URL can be the referer.
func (n *NamedField) LogUse() Use {
	switch n.Attr {
	case AttrMethod:
		return UseMethod
	case AttrReferer:
		return UseReferer
	default:
		return UseAttr + Use(n.Attr)
	}
}

// CheckMap returns an error for each name in c.Map that is not the name of an
// attribute, or that has no field.
func (c *Settings) CheckMap() (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(c.Map)) {
		field := c.Map[name]
		_, err := suggest.Index("field", AttrNames[:], name)
		switch {
		case err != nil && slices.Contains(AttrNames[:], field):
			err = fmt.Errorf("%w; write the field first: %s=%s", err, field, name)
		case err == nil && field == "":
			err = fmt.Errorf("missing name of the member or column for %s", name)
		}
		if err != nil {
			errs = append(errs, About("Map", err))
		}
	}
	return errs
}

// unitOf returns the unit of the duration in the field called name, as the negated
// exponent of a power of ten: 3 for milliseconds. It reads the unit from the end of the
// name, as in elapsed_ms or elapsedMs. Without a unit, it returns 0, for seconds.
func unitOf(name string) int8 {
	words := strings.Fields(snake(name))
	switch words = append([]string{""}, words...); words[len(words)-1] {
	case "ms", "msec", "millis", "milliseconds":
		return 3
	case "us", "usec", "micros", "microsec", "microseconds":
		return 6
	case "ns", "nsec", "nanos", "nanoseconds":
		return 9
	}
	return 0
}

// snake returns name in lower case, with spaces between its words.
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) || lower && unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			b.WriteRune(unicode.ToLower(c))
		}
		lower = unicode.IsLower(c)
	}
	return b.String()
}

// Fold returns name in lower case and without separators between words, so that
// all spellings of a column become equal.
func Fold(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
}

// Spellings returns the spellings of name, a known name, as members of JSON
// objects: first name itself, such as status_code, then status-code,
// statusCode, StatusCode and STATUS_CODE, and for client_ip also clientIP. Dots
// separate the members of nested objects.
func Spellings(name string) []string {
	camel := func(first bool) string {
		var b strings.Builder
		for parent := range strings.SplitSeq(name, ".") {
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			for i, word := range strings.Split(parent, "_") {
				c, n := utf8.DecodeRuneInString(word)
				if i > 0 || first {
					c = unicode.ToUpper(c)
				}
				b.WriteRune(c)
				b.WriteString(word[n:])
			}
		}
		return b.String()
	}
	all := []string{name, strings.ReplaceAll(name, "_", "-"), camel(false), camel(true), strings.ToUpper(name)}
	if end := len(name) - len("ip"); end > 0 && (name[end:] == "ip" || name[end:] == "id") { // clientIP
		for _, c := range all[2:4] {
			all = append(all, c[:end-strings.Count(name, "_")]+strings.ToUpper(name[end:]))
		}
	}
	slices.Sort(all[1:])
	rest := slices.DeleteFunc(slices.Compact(all[1:]), func(s string) bool { return s == name })
	return append(all[:1], rest...)
}

// Mapped is implemented by Readers that read attributes from fields that Config.Map names.
type Mapped interface{ Mapped() }

// HeadAttributed is implemented by Readers of streams with a header that names the fields.
// AttributesIn returns the attributes that records below head can have: see Attributed.
type HeadAttributed interface{ AttributesIn(head []byte) uint16 }

// Attach adds the attributes in values to f. It is the part of Compose for formats whose
// URL is not composed.
func (c *Composer) Attach(f *Found, rec []byte, values []FieldValue) {
	var clock Span
	for i := range c.Sources {
		s := &c.Sources[i]
		id, v := s.Use.Attr(), &values[s.Value]
		switch {
		case !f.Needs(id) || !v.isText(rec):
		case id == AttrTime && isClock(v.In(rec)):
			clock = v.Span
		default:
			c.addAttr(f, rec, s, v)
		}
	}
	if a := &f.Attrs.Values[AttrTime]; clock.End > 0 && f.Attrs.Set>>AttrTime&1 != 0 && a.End-a.Start == len("2006-01-02") {
		a.Clock = clock
	}
}

package cli

import (
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// This file accounts for records that fit their format and have no URL. A run
// that finds no URL has most likely read the wrong field.

// lackURL returns the number of records without a URL in an input whose records usually
// have one.
func lackURL(format string, st *record.Stats) int64 {
	if record.Sparse(format) && (st.URLs > 0 || !strings.HasSuffix(format, "log")) {
		return 0
	}
	return st.NoURL
}

// lackURL returns the sum of lackURL over all inputs.
func (o *outcome) lackURL() (n int64) {
	for i := range o.reports {
		st := recordsOf(&o.reports[i])
		n += lackURL(o.formats.format(o.reports[i].Path), &st)
	}
	return n
}

// whyNoURL returns the number of records of an input without a URL and the likely
// reason, if they are more than half of the records, otherwise "".
func whyNoURL(format, field string, st *record.Stats) string {
	n, all := lackURL(format, st), st.Records-st.Blank-st.Heads-st.Filtered
	if n*2 <= all {
		return ""
	}
	text := fmt.Sprintf("no URL in %s of %s: ", terminal.FormatCount(n), terminal.Plural(all, "record", "records"))
	lines := format[strings.LastIndexByte(format, '+')+1:] // without a prefix
	switch _, isJSON := record.WithoutPrefix(format, nil); {
	case field != "":
		return text + fmt.Sprintf("the field %q is empty or holds no URL; name another field with --url-field", field)
	case strings.HasSuffix(format, "log"):
		return text + "they contain no request such as GET /path HTTP/1.1 and no absolute URL of a page; if the log has the method, the host and the path in separate fields, pass the text of its log_format to --from"
	case isJSON || record.IsJSONLog(lines):
		return text + "the members for the URL are empty; name other members with --url-field or --url"
	case format == table.Parquet || format == table.Avro:
		return text + "the columns for the URL are empty; name other columns with --url-field"
	case format == "lines":
		return text + "these lines are not URLs; name another format with --from"
	}
	text += "the request is -, * or CONNECT, or is not HTTP"
	if lines == "clf" || strings.HasSuffix(lines, "combined") { // others name their fields
		text += "; if the URL is in another field, pass the text of the log_format to --from"
	}
	return text
}

// writeNoURL adds a line for each input in which most records have no URL.
func (o *outcome) writeNoURL(s *summary) {
	for i := range o.reports {
		r := &o.reports[i]
		st := recordsOf(r)
		if why := whyNoURL(o.formats.format(r.Path), o.set.URLField, &st); why != "" {
			s.text("  " + s.Paint(terminal.Yellow, shownPath(r.Path)+": "+why))
		}
	}
}

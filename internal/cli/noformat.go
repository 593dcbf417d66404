package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/terminal"
)

// noFormat says why the first record is of no format that can be detected, and
// what to do. It repeats nothing of the record, which may hold a URL.
func noFormat(head []byte, more []record.Format) error {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	var why []string
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		why = append(why, "it has NUL bytes")
	case !utf8.Valid(first):
		why = append(why, "it is not UTF-8")
	}
	if !bytes.HasPrefix(first, []byte("{")) {
		why = append(why, "it is not a JSON object")
	}
	if bytes.IndexByte(first, '"') < 0 {
		why = append(why, "it has no quoted request as an access log has")
	} else {
		why = append(why, "its quoted text is not a request")
	}
	why = append(why, "it is not a URL", "tabs or commas do not divide the records alike")
	return fmt.Errorf("cannot detect the record format: the first record (%s): %s; name the format with --format: %s, or the text of an nginx log_format or Apache LogFormat",
		terminal.Plural(int64(len(first)), "byte", "bytes"), strings.Join(why, ", "), strings.Join(formatNames(more), ", "))
}

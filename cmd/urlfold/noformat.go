package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/record"
)

// noFormat says what the first record lacks for the formats that can be found,
// and which formats there are. It repeats nothing of the record, which may hold
// a URL.
func noFormat(head []byte) error {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	var lacks []string
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		lacks = append(lacks, "it has NUL bytes")
	case !utf8.Valid(first):
		lacks = append(lacks, "it is not UTF-8")
	}
	if !bytes.HasPrefix(first, []byte("{")) {
		lacks = append(lacks, "it is no JSON object")
	}
	if bytes.IndexByte(first, '"') < 0 {
		lacks = append(lacks, "it has no quoted request as an access log has")
	} else {
		lacks = append(lacks, "what is quoted in it is no request")
	}
	lacks = append(lacks, "it is no URL", "tabs or commas do not divide the records alike")
	return fmt.Errorf("the format is none that can be found; the first record has %s: %s. Name it with --format: %s, or the text of an nginx log_format or Apache LogFormat",
		plural(int64(len(first)), "byte", "bytes"), strings.Join(lacks, ", "), strings.Join(record.Formats(), ", "))
}

package cli

import (
	"bytes"
	"fmt"
)

// This file says what to do with inputs that are no records of a known format: JSON over
// several lines, tables after comments, and text.

const byteOrderMark = "\xEF\xBB\xBF"

// jsonRemedy returns a command that writes the JSON values of head one a line,
// or "" if head does not begin with JSON.
func jsonRemedy(head []byte) string {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, blanks), []byte("\n"))
	var open []byte // the first bytes that are not blank
	for _, c := range head {
		if bytes.IndexByte([]byte(blanks), c) < 0 {
			open = append(open, c)
		}
		if len(open) == 3 {
			break
		}
	}
	switch {
	case bytes.HasPrefix(open, []byte(`["`)):
		return "jq -r '.[]' FILE"
	case bytes.HasPrefix(open, []byte(`[["`)):
		return "jq -r '.[] | @tsv' FILE"
	case bytes.HasPrefix(open, []byte("[{")):
		return "jq -c '.[]' FILE"
	case bytes.Equal(bytes.TrimSpace(first), []byte("{")), bytes.HasPrefix(open, []byte("{")) && bytes.Contains(first, []byte("}{")):
		return "jq -c . FILE"
	}
	return ""
}

// adviseHeader returns how to remove the lines before the header of a table, or
// "" if there are none that spreadsheets and exports are known to write.
func adviseHeader(head []byte) string {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(byteOrderMark)), []byte("\n"))
	switch first = bytes.TrimSpace(first); {
	case len(first) == 0:
		return "the first line is blank; remove the lines before the header first: sed '/./,$!d' FILE"
	case first[0] == '#':
		return "the first line begins with #; remove the lines before the header first: grep -v '^#' FILE"
	case len(first) == len("sep=;") && bytes.HasPrefix(first, []byte("sep=")):
		return "the first line names the separator and is not the header; remove it first: sed 1d FILE"
	}
	return ""
}

// explainHeader extends the error that the header of a table lacks a column.
func explainHeader(err error, head []byte) error {
	if advice := adviseHeader(head); err != nil && advice != "" {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

// adviseText returns how to list the URLs of text that is no table and has no
// other format, or "" if none is in its first records.
func adviseText(head []byte) string {
	first := bytes.TrimLeft(head, blanks)
	if bytes.IndexByte(head, 0) >= 0 || jsonRemedy(head) != "" || beginsTable(head) || !bytes.Contains(head, []byte("://")) {
		return ""
	}
	flags := "--format text --render urls"
	if bytes.HasPrefix(first, []byte("<")) {
		flags += " --repair html-entity"
	}
	return "to list the URLs in it, use " + flags
}

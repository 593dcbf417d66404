package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
)

// noFormat returns the error that no format matches the first record of the
// input at path, whose first bytes are head, and says what to do.
func noFormat(path string, head []byte) error {
	const byName = "with --from ('urlfold help formats' lists all)"
	remedy, advice := "name the format "+byName, adviseText(head)
	switch {
	case advice != "":
		remedy = advice + "; otherwise " + remedy
	case beginsTable(head):
		remedy = "if later rows hold URLs, name their column with --url-field; otherwise name the format " + byName
	}
	leave := ""
	if name := filepath.Base(path); path != stdinPath && !strings.ContainsAny(name, `*?[{\'`) {
		leave = fmt.Sprintf(", or leave the file out with --exclude '%s'", name)
	}
	return fmt.Errorf("%w: %s; %s%s", errNoFormat, whyNoFormat(head), remedy, leave)
}

// blanks are the bytes of blank records.
const blanks = " \t\r\n\v\f"

var errNoFormat = errors.New("cannot detect the record format")

// whyNoFormat says why no format matches the first record of head. It does not
// quote the record, which may contain a URL.
func whyNoFormat(head []byte) string {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, blanks), []byte("\n"))
	if len(bytes.TrimLeft(head, "\x00")) == 0 {
		return "its first " + terminal.FormatSize(int64(len(head))) + " are NUL bytes, as logrotate's copytruncate leaves them, so no record can be seen"
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "the file contains NUL bytes, so it is binary or text in UTF-16"
	}
	var why []string
	if !utf8.Valid(first) {
		why = append(why, "is not UTF-8")
	}
	if jq := jsonRemedy(head); jq != "" {
		return "the file looks like JSON that does not have one record on each line; convert it with " + jq
	}
	if first[0] == '#' {
		return "the first record begins with #; if it is a comment, remove such lines first: grep -v '^#' FILE"
	}
	lines := firstRecords(head)
	found := slices.ContainsFunc(lines, holdsURL)
	if !found && !beginsTable(head) {
		looked := "record"
		if len(lines) > 1 {
			looked = terminal.Plural(int64(len(lines)), "record", "records")
		}
		return "no URL with a scheme and no request such as GET /path in the first " + looked
	}
	if !bytes.HasPrefix(first, []byte("{")) {
		why = append(why, "is not a JSON object")
	}
	if bytes.IndexByte(first, '"') < 0 {
		why = append(why, "has no quoted request as in an access log")
	} else {
		why = append(why, "has quoted text that is not a request")
	}
	if why = append(why, "is not a URL"); beginsTable(head) {
		why = append(why, "and is the row of a table whose first rows hold no URL")
	} else {
		why = append(why, "and does not have as many columns, separated by tabs or commas, as the next records")
	}
	return fmt.Sprintf("the first record (%s) %s", terminal.Plural(int64(len(first)), "byte", "bytes"), strings.Join(why, ", "))
}

// holdsURL reports whether a record holds a URL.
func holdsURL(rec []byte) bool { return record.HoldsURL(rec) || bytes.Contains(rec, []byte("://")) }

// firstRecords returns the first records of head that are not blank.
func firstRecords(head []byte) (lines [][]byte) {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 && len(lines) < hintRecords {
			lines = append(lines, line)
		}
	}
	return lines
}

// beginsTable reports whether the first records have the same number of columns,
// and more than one. It looks only at the beginning of a long record.
func beginsTable(head []byte) bool {
	const enough, most = 20, 64 << 10
	head = head[:min(len(head), most)]
	return slices.ContainsFunc([]rune{',', '\t', ';', '|'}, func(separator rune) bool {
		c := csv.NewReader(bytes.NewReader(head))
		c.Comma, c.ReuseRecord = separator, true
		for n := range enough {
			row, err := c.Read()
			if err != nil {
				return errors.Is(err, io.EOF) && n > 1
			} else if len(row) < 2 || n == 0 && row[1] == "" { // as in statements that end in ';'
				return false
			}
		}
		return true
	})
}

// The rest of this file gives advice about inputs that are not in a known
// format: JSON over several lines, tables after comments, and text.

const byteOrderMark = "\xEF\xBB\xBF"

// jsonRemedy returns a command that writes each JSON value of head on one line,
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

// adviseText returns how to read the requests of a log, or list the URLs of text that is no
// table, in no other format, or "" if none is in its first records.
func adviseText(head []byte) string {
	first := bytes.TrimLeft(head, blanks)
	if jsonRemedy(head) == "" && slices.ContainsFunc(firstRecords(head), record.HoldsRequest) {
		return "read its requests with --from log"
	}
	if bytes.IndexByte(head, 0) >= 0 || jsonRemedy(head) != "" || beginsTable(head) || !bytes.Contains(head, []byte("://")) {
		return ""
	}
	flags := "--from text --to urls"
	if bytes.HasPrefix(first, []byte("<")) {
		flags += " --repair html-entity"
	}
	return "to list the URLs in it, use " + flags
}

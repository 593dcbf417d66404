package checkpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLine is the exclusive limit on the length of a line in bytes. A Store
// never writes a longer one.
const maxLine = 256 << 10

// A line is one entry, extent or removal. Exactly one field is non-nil.
type line struct {
	Entry  *Entry
	Extent *extent
	Gone   *goneLine
}

// An extent is the serialized form of an engine.Extent.
type extent struct {
	Sink   string `json:"sink"`
	Lane   string `json:"lane,omitempty"`
	Path   string `json:"path"`
	Length int64  `json:"length"`
	End    string `json:"end,omitempty"`
	Begin  int64  `json:"begin,omitempty"`
}

// A goneLine identifies a removed entry.
type goneLine struct {
	Source string `json:"source"`
	ID     string `json:"id"`
}

const inBase64 = "base64:"

var errNumbers = errors.New("entry or extent has an invalid value")

// value returns the non-nil field.
func (l *line) value() any {
	switch {
	case l.Entry != nil:
		return l.Entry
	case l.Extent != nil:
		return l.Extent
	}
	return l.Gone
}

// texts calls f for each string that may hold arbitrary bytes.
func (l *line) texts(f func(*string)) {
	if e := l.Entry; e != nil {
		for _, s := range []*string{&e.Source, &e.ID, &e.Path, &e.Rel, &e.Verdict, &e.Directive} {
			f(s)
		}
	}
	if m := l.Extent; m != nil {
		for _, s := range []*string{&m.Sink, &m.Lane, &m.Path} {
			f(s)
		}
	}
	if g := l.Gone; g != nil {
		f(&g.Source)
		f(&g.ID)
	}
}

// appendLine appends l with a line feed. It modifies the value that l points
// to.
func appendLine(dst []byte, l *line) ([]byte, error) {
	// The strings must be valid in JSON.
	l.texts(func(s *string) {
		if !utf8.ValidString(*s) || strings.HasPrefix(*s, inBase64) {
			*s = inBase64 + base64.StdEncoding.EncodeToString([]byte(*s))
		}
	})
	text, err := json.Marshal(l.value())
	if err == nil && len(text) >= maxLine {
		err = fmt.Errorf("entry of %d bytes exceeds the limit of %d", len(text), maxLine)
	}
	if err != nil {
		return dst, err
	}
	return append(append(dst, text...), '\n'), nil
}

// parseLine parses text into the value that l points to.
func parseLine(text string, l *line) error {
	if len(text) >= maxLine {
		return errors.New("line too long")
	}
	// An unknown key is errNewer, because dropping the key would lose what
	// a later version stored there.
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(l.value()); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			return fmt.Errorf("%w: %w", err, errNewer)
		}
		return errors.New("invalid JSON")
	}
	if d.More() {
		return errors.New("line has more than one JSON value")
	}
	bad := false
	l.texts(func(s *string) {
		if code, ok := strings.CutPrefix(*s, inBase64); ok {
			raw, err := base64.StdEncoding.DecodeString(code)
			bad = bad || err != nil
			*s = string(raw)
		}
	})
	if bad {
		return errors.New("invalid base64 text")
	}
	return nil
}

// lineOf returns the serialized form of an entry, without a line feed.
func lineOf(e Entry) (string, error) {
	text, err := appendLine(nil, &line{Entry: &e})
	return string(bytes.TrimSuffix(text, []byte("\n"))), err
}

// parseEntry parses the line of an entry.
func parseEntry(text string) (e Entry, err error) {
	if err = parseLine(text, &line{Entry: &e}); err == nil && !e.valid() {
		err = errNumbers
	}
	return e, err
}

package markup

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// maxMailRecord is the length in bytes at which a record ends at the next line
// even if its body continues. The line feed there then belongs to the next
// record.
const maxMailRecord = 256 << 10

// mailRecord returns the length of the first record of b, or 0 if b does not
// show where it ends. A record begins at each line that may separate
// messages or parts, and a line that may end a multipart is a record by
// itself.
func mailRecord(b []byte) int {
	for pos := 0; ; {
		i := bytes.IndexByte(b[pos:], '\n')
		if i < 0 {
			if len(b) > 2*maxMailRecord {
				return 2 * maxMailRecord
			}
			return 0
		}
		line := b[pos : pos+i]
		pos += i + 1
		rest := b[pos:]
		switch {
		case pos == i+1 && len(line) > len("----") && bytes.HasPrefix(line, []byte("--")) && bytes.HasSuffix(bytes.TrimRight(line, " \t\r"), []byte("--")):
			return pos // the end of a multipart
		case pos > 2*maxMailRecord, pos > maxMailRecord && !bytes.HasSuffix(bytes.TrimSuffix(line, []byte("\r")), []byte("=")):
			return pos - 1
		case len(rest) < len("--"):
			return 0
		case rest[0] == '-' && rest[1] == '-':
			return pos
		case rest[0] == 'F' && !bytes.HasPrefix(rest, fromStart) && len(rest) < len(fromStart):
			return 0
		case bytes.HasPrefix(rest, fromStart):
			from := locate.FirstLine(rest[:min(len(rest), maxFrom)])
			if isFrom(locate.TrimEnd(from)) {
				return pos
			}
			if len(from) == len(rest) && from[len(from)-1] != '\n' {
				return 0
			}
		}
	}
}

var fromStart = []byte("From ")

// maxFrom is the length of the part of a line that is searched for the time.
const maxFrom = 1 << 10

// isFrom reports whether a line begins a message of a mailbox: it has a sender,
// the time of day and then the year. Other lines of a body with the same first
// word lack this time.
func isFrom(line []byte) bool {
	if !bytes.HasPrefix(line, fromStart) {
		return false
	}
	timed := false
	for i := locate.WordEnd(line, len(fromStart)); i+len(" 2026") <= len(line); i++ {
		switch word := line[i : i+len(" 2026")]; {
		case word[2] == ':' && locate.AllDigits(word[:2]) && locate.AllDigits(word[3:]):
			timed = true
		case timed && word[0] == ' ' && locate.AllDigits(word[1:]):
			return true
		}
	}
	return false
}

// A mailState holds what the lines before a record say about the record. Its
// text has the lines that matter, so that it can be stored as a directive.
type mailState struct {
	text   []byte
	levels []mailLevel // the multiparts around the current part
	header bool        // the next line belongs to a header
	start  int         // offset in text of the header of the current part
	keeps  bool        // the last field of the header is in text
	part   mailPart
}

// A mailLevel is a multipart.
type mailLevel struct {
	boundary []byte
	end      int // offset in mailState.text after its header
	digest   bool
}

// A mailPart describes a part that contains no other parts.
type mailPart struct {
	kind              uint8
	joins             bool // lines are joined: format=flowed, delsp=yes
	encoding, charset []byte
}

// Kinds of parts.
const (
	partOther uint8 = iota // not text, or text before or after the parts of a multipart
	partText
	partHTML
)

// maxMailState is the maximum length of a directive, which is stored in the
// checkpoint, and maxParts the maximum depth of parts within one another.
const (
	maxMailState = 64 << 10
	maxParts     = 64
)

func newMailState() *mailState { return &mailState{header: true} }

// reset returns to the start of a message.
func (m *mailState) reset() {
	*m = mailState{text: m.text[:0], levels: m.levels[:0], header: true}
}

// feed reads whole records. It calls visit, if not nil, with the range of each line
// of a header and of each body.
func (m *mailState) feed(b []byte, visit func(from, to int)) {
	for pos := 0; pos < len(b); {
		line := locate.FirstLine(b[pos:])
		body := locate.TrimEnd(line)
		switch {
		case isFrom(body):
			m.reset()
			m.keep(line)
		case m.delimits(line, body):
		case m.header:
			if visit != nil {
				visit(pos, pos+len(body))
			}
			m.field(line, body)
		default:
			n := mailRecord(b[pos:])
			if n == 0 {
				n = len(b) - pos
			}
			if visit != nil {
				visit(pos, pos+n)
			}
			pos += n
			continue
		}
		pos += len(line)
	}
}

// keep adds a line to the text.
func (m *mailState) keep(line []byte) {
	if len(m.text)+len(line) <= maxMailState {
		m.text = append(m.text, line...)
	}
}

// delimits reads a line that separates parts. It returns false for other lines.
func (m *mailState) delimits(line, body []byte) bool {
	if !bytes.HasPrefix(body, []byte("--")) {
		return false
	}
	for i := len(m.levels) - 1; i >= 0; i-- {
		rest, ok := bytes.CutPrefix(body[len("--"):], m.levels[i].boundary)
		if rest = bytes.TrimRight(rest, " \t"); !ok || len(rest) > 0 && string(rest) != "--" {
			continue
		}
		m.text = m.text[:m.levels[i].end]
		m.keep(line)
		m.header, m.start, m.keeps, m.part = len(rest) == 0, len(m.text), false, mailPart{}
		if m.levels = m.levels[:i+1]; !m.header {
			m.levels = m.levels[:i]
		}
		return true
	}
	return false
}

// field reads a line of a header.
func (m *mailState) field(line, body []byte) {
	if len(body) > 0 {
		if body[0] != ' ' && body[0] != '\t' {
			name := body[:max(0, bytes.IndexByte(body, ':'))]
			m.keeps = locate.EqualLower(name, contentType) || locate.EqualLower(name, contentEncoding)
		}
		if m.keeps {
			m.keep(line)
		}
		return
	}
	header := m.text[m.start:]
	m.keep(line)
	m.header, m.keeps = false, false
	content := headerField(header, contentType)
	kind, _, _ := bytes.Cut(content, []byte(";"))
	kind = locate.Trim(kind).In(kind)
	m.part = mailPart{
		kind:     partOther,
		encoding: headerField(header, contentEncoding),
		charset:  parameter(content, "charset"),
		joins:    locate.EqualLower(parameter(content, "format"), "flowed") && locate.EqualLower(parameter(content, "delsp"), "yes"),
	}
	digest := len(kind) == 0 && len(m.levels) > 0 && m.levels[len(m.levels)-1].digest
	switch slash := max(0, bytes.IndexByte(kind, '/')); {
	case digest, locate.EqualLower(kind, "message/rfc822"), locate.EqualLower(kind, "message/global"):
		m.header, m.start = true, len(m.text)
	case locate.EqualLower(kind[:slash], "multipart"):
		if boundary := parameter(content, "boundary"); len(boundary) > 0 && len(m.levels) < maxParts {
			m.levels = append(m.levels, mailLevel{bytes.Clone(boundary), len(m.text), locate.EqualLower(kind, "multipart/digest")})
		}
	case locate.EqualLower(kind, "text/html"):
		m.part.kind = partHTML
	case len(kind) == 0, locate.EqualLower(kind[:slash], "text"):
		m.part.kind = partText
	}
}

// The fields of a header that say how to read a part.
const (
	contentType     = "content-type"
	contentEncoding = "content-transfer-encoding"
)

// headerField returns the value of the first field called name of a header, with its
// line ends, or nil.
func headerField(header []byte, name string) []byte {
	for at := 0; at < len(header); {
		end := at + len(locate.FirstLine(header[at:]))
		for end < len(header) && (header[end] == ' ' || header[end] == '\t') {
			end += len(locate.FirstLine(header[end:]))
		}
		field := header[at:end]
		if i := bytes.IndexByte(field, ':'); i > 0 && locate.EqualLower(field[:i], name) {
			value := field[i+1:]
			return locate.Trim(value).In(value)
		}
		at = end
	}
	return nil
}

package markup

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// MailFormat finds the URLs in mail: a message (RFC 5322), or a mailbox of many
// messages (RFC 4155). A record is the header of a message or part with its
// body, or a piece of a body. mailstate.go finds the parts (RFC 2046). This
// file decodes them, and reads HTML like HTMLFormat and other text as prose.
type MailFormat struct{}

// Name implements [locate.Format].
func (MailFormat) Name() string { return "mail" }

// Detect implements [locate.Format]. It detects mailboxes, and messages that begin with the
// field From and two others that most messages have, in any order.
func (MailFormat) Detect(s *locate.Sample) locate.Fit {
	known, from := 0, false
	for line := range bytes.Lines(s.Head) {
		if locate.IsBlank(line) {
			break
		}
		if name, _, _ := bytes.Cut(line, []byte(":")); has(headFields, name) {
			known++
			from = from || bytes.EqualFold(name, []byte("from"))
		}
	}
	if isFrom(locate.TrimEnd(locate.FirstLine(s.Head))) || from && known > 2 {
		return s.All(locate.LooksUnmistakable)
	}
	return locate.Fit{}
}

var headFields = names("return-path received delivered-to message-id mime-version content-type from to subject date")

// Unlined implements [locate.Unlined].
func (MailFormat) Unlined() locate.Reader { return &MailReader{documents: mailRecord} }

// Open implements [locate.Format].
func (MailFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return &MailReader{mailRecord, []byte(c.Base), c.Charset}, refuse(c)
}

// MailReader reads mail.
type MailReader struct {
	documents
	base    []byte
	charset func(label string) (locate.Charset, bool)
}

// Shown implements [locate.Abridger]. It returns the header.
func (*MailReader) Shown(rec []byte) []byte {
	rec = rec[:min(len(rec), MaxHTMLText)]
	for at := 0; at < len(rec); {
		line := locate.FirstLine(rec[at:])
		if at > 0 && locate.IsBlank(line) {
			return locate.TrimEnd(rec[:at])
		}
		at += len(line)
	}
	return locate.TrimEnd(rec)
}

// Directive implements [locate.Director].
func (*MailReader) Directive(head, block []byte) []byte {
	m := newMailState()
	m.feed(head, nil)
	m.feed(block, nil)
	if bytes.Equal(m.text, head) {
		return nil
	}
	return m.text
}

// Locator implements [locate.Reader].
func (r *MailReader) Locator() locate.Locator {
	page := newHTMLReader(r.base, nil) // the MIME part states the encoding
	return &mailLocator{MailReader: r, state: newMailState(), page: page.Locator().(*htmlLocator)}
}

// mailLocator finds the URLs in parts of mail.
type mailLocator struct {
	*MailReader
	state *mailState
	page  *htmlLocator
	inner locate.Found // URLs of a tag of page
	text  decoded
}

// Locate implements [locate.Locator].
func (l *mailLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	l.state.reset()
	l.state.feed(at.Head, nil)
	l.text.used = 0
	l.state.feed(rec, func(from, to int) { l.piece(f, rec, from, to) })
	return 0, 0
}

// piece adds the URLs of the line of a header or the body in rec[from:to].
func (l *mailLocator) piece(f *locate.Found, rec []byte, from, to int) {
	d, part, raw, cut := &l.text, &l.state.part, rec[from:to], false
	d.clear()
	d.end = to
	switch {
	case l.state.header:
		d.copy(raw, from)
		l.prose(f, false)
		return
	case part.kind == partOther:
		return
	case locate.EqualLower(part.encoding, "base64"):
		d.base64(raw, from)
		if i := bytes.IndexAny(d.text, " \t\n"); from == 0 && i > 0 && part.kind == partText {
			d.text, d.at = d.text[i:], d.at[i:] // a URL that began in the piece before
		}
		cut = len(rec) >= maxMailRecord && !bytes.HasSuffix(rec, locate.LineFeed)
	case locate.EqualLower(part.encoding, "quoted-printable"):
		d.quotedPrintable(raw, from)
	default:
		d.copy(raw, from)
	}
	if n := len(part.charset); n > 0 && n <= maxLabel && l.charset != nil {
		charset, _ := l.charset(string(part.charset))
		d.recode(0, charset)
	}
	if part.kind == partHTML {
		l.html(f)
		return
	}
	if part.joins {
		d.unflow()
	}
	l.prose(f, cut)
}

// prose adds the URLs of the text. If the text was cut, its last URL can be
// incomplete and does not count.
func (l *mailLocator) prose(f *locate.Found, cut bool) {
	d := &l.text
	for pos := 0; ; {
		s, ok := locate.FindURL(d.text, pos)
		if !ok || cut && s.End == len(d.text) {
			return
		}
		d.add(f, s, locate.JSONDialect)
		pos = s.End
	}
}

// html adds the URLs of the text, which is an HTML page.
func (l *mailLocator) html(f *locate.Found) {
	var at locate.Position
	text := l.text.text
	for pos := 0; pos < len(text); {
		tag := text[pos : pos+l.page.Next(text[pos:])]
		l.inner.Reset()
		if why, _ := l.page.Locate(&l.inner, tag, &at); why == 0 {
			for _, s := range l.inner.Sites[:l.inner.N] {
				l.text.add(f, locate.Between(pos+s.Start, pos+s.End), s.Dialect)
			}
		}
		f.Skipped += l.inner.Skipped
		if l.inner.HasContext {
			f.SetContext(l.inner.Context)
		}
		if head := l.page.Directive(at.Head, tag); head != nil {
			at.Head = head
		}
		pos += len(tag)
	}
}

// base64 appends text in base64 (RFC 2045, section 6.8), which begins at offset at
// of the record.
func (d *decoded) base64(text []byte, at int) {
	bits, n := 0, 0
	for i, c := range text {
		v := base64Value[c]
		switch {
		case c == '=':
			n = 0
			continue
		case v < 0:
			continue
		}
		bits, n = bits<<6|int(v), n+6
		if n >= 8 {
			n -= 8
			d.text = append(d.text, byte(bits>>n))
			d.mark(len(d.text)-1, at+i-1)
		}
	}
}

var base64Value = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = int8(i)
	}
	return t
}()

// quotedPrintable appends text in quoted-printable (RFC 2045, section 6.7), which
// begins at offset at of the record.
func (d *decoded) quotedPrintable(text []byte, at int) {
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '=')
		if n < 0 {
			n = len(text) - i
		}
		d.copy(text[i:i+n], at+i)
		if i += n; i == len(text) {
			return
		}
		line := locate.FirstLine(text[i:])
		switch {
		case locate.IsBlank(line[1:]): // a soft line break
			i += len(line)
		case len(line) > 2 && locate.Unhex[line[1]] < 16 && locate.Unhex[line[2]] < 16:
			d.put([]byte{locate.Unhex[line[1]]<<4 | locate.Unhex[line[2]]}, at+i)
			i += 3
		default:
			d.put(text[i:i+1], at+i)
			i++
		}
	}
}

// unflow joins the lines of text that is format=flowed with delsp=yes, where a
// space at the end of a line is not part of the text (RFC 3676, section 4.2).
// In other texts, the space stays and ends a URL.
func (d *decoded) unflow() {
	text, at := d.take()
	joins, quotes := false, 0
	for pos := 0; pos < len(text); {
		line := locate.FirstLine(text[pos:])
		next := pos + len(line)
		body := locate.TrimEnd(line)
		depth := len(body) - len(bytes.TrimLeft(body, ">"))
		if !joins || depth != quotes {
			d.text, d.at = append(d.text, '\n'), append(d.at, at[pos])
		}
		quotes = depth
		pos += depth
		if body = body[depth:]; len(body) > 0 && body[0] == ' ' {
			body, pos = body[1:], pos+1
		}
		if joins = bytes.HasSuffix(body, []byte(" ")) && string(body) != "-- "; joins {
			body = body[:len(body)-1]
		}
		d.text, d.at = append(d.text, body...), append(d.at, at[pos:pos+len(body)]...)
		pos = next
	}
}

var _ locate.Director = (*MailReader)(nil)

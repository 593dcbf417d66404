// Package markup finds the URLs in HTML documents.
package markup

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// HTMLFormat finds the URLs in the attributes of an HTML document. A file or
// message is one document. Its records are tags, comments and pieces of text,
// so that no document is too long: see htmlscan.go.
type HTMLFormat struct{}

// Name implements [locate.Format].
func (HTMLFormat) Name() string { return "html" }

// Detect implements [locate.Format].
func (HTMLFormat) Detect(s *locate.Sample) locate.Fit {
	if beginsHTML(s.Head) {
		return locate.Fit{Records: len(s.Records), Certainty: locate.LooksUnmistakable}
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (HTMLFormat) Unlined() locate.Reader { return &HTMLReader{} }

// beginsHTML reports whether b begins with an html tag or the document type of
// HTML or of the bookmarks that browsers export, after an optional byte order
// mark, comments and XML declaration.
func beginsHTML(b []byte) bool {
	b = bytes.TrimPrefix(b, byteOrderMark)
	for {
		b = b[locate.SkipSpace(b, 0):]
		switch {
		case bytes.HasPrefix(b, commentStart), bytes.HasPrefix(b, []byte("<?xml")):
			n := htmlRecord(b)
			if n == 0 {
				return false
			}
			b = b[n:]
			continue
		case len(b) > len("<html") && locate.EqualLower(b[:len("<html")], "<html"):
			return endsTagName[b[len("<html")]]
		case len(b) > len("<!doctype html") && locate.EqualLower(b[:len("<!doctype")], "<!doctype") && locate.IsHTMLSpace[b[len("<!doctype")]]:
			b = b[len("<!doctype"):]
			b = b[locate.SkipSpace(b, 0):]
			return beginsName(b, "html") || beginsName(b, "netscape-bookmark-file-1")
		}
		return false
	}
}

// beginsName reports whether b begins with the name of a document type, which is
// in lower case.
func beginsName(b []byte, name string) bool {
	return len(b) > len(name) && locate.EqualLower(b[:len(name)], name) && endsTagName[b[len(name)]]
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// Open implements [locate.Format].
func (HTMLFormat) Open(c *locate.Settings) (locate.Reader, error) {
	errs := append([]error{c.RefuseDialect(), c.RefuseReferer(), c.RefuseRewriting()}, c.RefuseFields()...)
	if _, _, ok := c.BaseHost(); ok {
		errs = append(errs, locate.Wrong("Base", "the base URL cannot contain a field with the format html, whose records have no fields"))
	}
	return &HTMLReader{base: []byte(c.Base), charset: c.Charset}, errors.Join(errs...)
}

// HTMLReader reads HTML documents.
type HTMLReader struct {
	base    []byte // Config.Base, the URL of the document
	charset func(label string) (locate.Charset, bool)
}

// Extracts implements [locate.Extractor].
func (*HTMLReader) Extracts() {}

// Multiline implements [locate.LineCounter].
func (*HTMLReader) Multiline() {}

// Shown implements [locate.Abridger]. It returns the tag without the content of
// scripts and the like.
func (*HTMLReader) Shown(rec []byte) []byte {
	if len(rec) > 1 && rec[0] == '<' && locate.IsLetter(rec[1]) {
		t := newTagScan(rec)
		if n := t.skip(); n > 0 {
			return rec[:n]
		}
	}
	return locate.TrimEnd(rec[:min(len(rec), MaxHTMLText)])
}

// Cut implements [locate.Framing].
func (*HTMLReader) Cut(block []byte) int {
	for at := 0; ; {
		n := htmlRecord(block[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// Head implements [locate.Framing]. Directives take the place of a header.
func (*HTMLReader) Head([]byte) int { return 0 }

// Next implements [locate.Reader].
func (*HTMLReader) Next(in []byte) int {
	if n := htmlRecord(in); n > 0 {
		return n
	}
	return len(in)
}

// Directive implements [locate.Director]. The directive consists of the records that
// determine how the document is read: the byte order mark, or else the first
// meta element with an encoding; and the first base element with an address.
// Only the first of each counts, as in browsers.
func (r *HTMLReader) Directive(head, block []byte) []byte {
	encoded, based := htmlState(head)
	if based && encoded || !mayDirect(block, encoded) {
		return nil
	}
	now := head
	for at := 0; at < len(block) && !(based && encoded); {
		n := r.Next(block[at:])
		rec := block[at : at+n]
		at += n
		switch {
		case !encoded && at == n && bytes.HasPrefix(rec, byteOrderMark) && len(head) == 0:
			now, encoded = append(now[:len(now):len(now)], byteOrderMark...), true
		case !encoded && isTag(rec, "meta") && r.hasCharset(rec), !based && isTag(rec, "base") && n <= maxBaseTag && hasAddress(rec):
			now = append(now[:len(now):len(now)], rec...)
			encoded, based = htmlState(now)
		}
	}
	if len(now) == len(head) {
		return nil
	}
	return now
}

// maxBaseTag is the maximum length of a base element. A directive is stored in
// the checkpoint.
const maxBaseTag = 64 << 10

// htmlState reports whether a directive has an encoding and a base.
func htmlState(head []byte) (encoded, based bool) {
	for len(head) > 0 {
		n := directiveLen(head)
		if isTag(head, "base") {
			based = true
		} else {
			encoded = true
		}
		head = head[n:]
	}
	return encoded, based
}

// directiveLen returns the length of the first part of a directive.
func directiveLen(head []byte) int {
	if bytes.HasPrefix(head, byteOrderMark) {
		return len(byteOrderMark)
	}
	if n := htmlRecord(head); n > 0 {
		return n
	}
	return len(head)
}

// mayDirect reports whether block may have a directive. It is a quick test for
// blocks that do not have one.
func mayDirect(block []byte, encoded bool) bool {
	if !encoded && bytes.HasPrefix(block, byteOrderMark) {
		return true
	}
	for {
		i := bytes.IndexByte(block, '<')
		if i < 0 {
			return false
		}
		if block = block[i:]; isTag(block, "base") || !encoded && isTag(block, "meta") {
			return true
		}
		block = block[1:]
	}
}

// isTag reports whether rec begins with the start tag of an element with a name
// of four letters.
func isTag(rec []byte, name string) bool {
	return len(rec) > 5 && rec[0] == '<' && endsTagName[rec[5]] && locate.EqualLower(rec[1:5], name)
}

// attributeOfTag returns the range of the value of the first attribute called
// name, in lower case, of a tag. It returns false if there is none, or if rec
// ends within the tag.
func attributeOfTag(rec []byte, name string) (value locate.Span, ok bool) {
	t := newTagScan(rec)
	for {
		n, v, more := t.next()
		if !more {
			return value, ok && t.end > 0
		}
		if !ok && locate.EqualLower(n.In(rec), name) {
			value, ok = v, true
		}
	}
}

// hasAddress reports whether a tag has the attribute href.
func hasAddress(rec []byte) bool {
	_, ok := attributeOfTag(rec, "href")
	return ok
}

// hasCharset reports whether a meta tag names a known encoding.
func (r *HTMLReader) hasCharset(rec []byte) bool {
	_, ok := r.charsetOf(rec)
	return ok
}

// charsetOf returns the encoding that a meta tag names. It is nil for UTF-8.
func (r *HTMLReader) charsetOf(rec []byte) (locate.Charset, bool) {
	if r.charset == nil {
		return nil, false
	}
	var label []byte
	if value, ok := attributeOfTag(rec, "charset"); ok {
		label = value.In(rec)
	} else if value, ok := attributeOfTag(rec, "http-equiv"); ok && locate.EqualLower(value.In(rec), "content-type") {
		content, _ := attributeOfTag(rec, "content")
		label = charsetLabel(content.In(rec))
	}
	if label = locate.Trim(label).In(label); len(label) == 0 || len(label) > maxLabel {
		return nil, false
	}
	return r.charset(string(label))
}

// maxLabel is more than the length of the longest label of an encoding.
const maxLabel = 64

// Locator implements [locate.Reader].
func (r *HTMLReader) Locator() locate.Locator {
	l := &htmlLocator{HTMLReader: r}
	l.legacy = &locate.Dialect{Text: l.decoder.decode}
	return l
}

// htmlLocator finds the URLs of tags in a document.
type htmlLocator struct {
	*HTMLReader
	head    []byte // directive that the fields below belong to
	hasBase bool
	docBase []byte
	dialect *locate.Dialect // of values: htmlDialect or legacy
	legacy  *locate.Dialect // uses decoder
	decoder charsetDecoder

	// Scratch.
	text []byte
	runs []locate.Run
	res  codec.Result
}

// follow sets the encoding and base from a directive.
func (l *htmlLocator) follow(head []byte) {
	if l.dialect != nil && bytes.Equal(head, l.head) {
		return
	}
	l.head = append(l.head[:0], head...)
	l.dialect, l.hasBase = htmlDialect, false
	var base []byte
	for len(head) > 0 {
		n := directiveLen(head)
		if isTag(head, "base") {
			base = head[:n]
		} else if isTag(head, "meta") {
			if c, _ := l.charsetOf(head[:n]); c != nil {
				l.decoder.charset, l.dialect = c, l.legacy
			}
		}
		head = head[n:]
	}
	if base != nil {
		l.setBase(base)
	}
}

// setBase sets the base of the document from its base element, whose address
// can be relative to that of the document. The document keeps its own address
// as its base if that of the element is invalid
// (https://html.spec.whatwg.org/#set-the-frozen-base-url).
func (l *htmlLocator) setBase(tag []byte) {
	value, _ := attributeOfTag(tag, "href")
	text, _, _ := l.dialect.Unescape(l.text, value.In(tag), l.runs)
	text = locate.Trim(text).In(text)
	if i := bytes.IndexByte(text, ':'); i > 0 && (locate.EqualLower(text[:i], "data") || locate.EqualLower(text[:i], "javascript")) {
		return
	}
	var err error
	l.docBase, err = locate.Browser.AppendRef(l.docBase[:0], l.base, text, &l.res)
	l.hasBase = err == nil && l.res.Out.Has(codec.Scheme)
}

// Locate implements [locate.Locator].
func (l *htmlLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if len(rec) < 2 || rec[0] != '<' || !locate.IsLetter(rec[1]) {
		return 0, 0
	}
	l.follow(at.Head)
	if l.hasBase {
		f.SetContext(l.docBase)
	}
	t := newTagScan(rec)
	if locate.EqualLower(t.name.In(rec), "meta") {
		l.meta(f, rec)
		t.skip()
		return cutTag(&t)
	}
	var seen Attribute
	for {
		name, value, ok := t.next()
		if !ok {
			return cutTag(&t)
		}
		a := AttributeOf(t.name.In(rec), name.In(rec))
		if a == 0 || seen&a != 0 { // the first of the same name counts
			continue
		}
		seen |= a
		text, runs := l.value(rec, value)
		if a != AttrSrcset {
			l.add(f, value.Start, text, runs, locate.Between(0, len(text)))
			continue
		}
		for pos := 0; ; {
			s, next, ok := SrcsetNext(text, pos)
			if !ok {
				break
			}
			l.add(f, value.Start, text, runs, s)
			pos = next
		}
	}
}

// cutTag returns the result for a tag that has been read: whether the document
// ends within it.
func cutTag(t *tagScan) (locate.Reason, int) {
	if t.end == 0 {
		return locate.Unparsed, len(t.b)
	}
	return 0, 0
}

// value returns the decoded value of an attribute in scratch.
func (l *htmlLocator) value(rec []byte, value locate.Span) ([]byte, []locate.Run) {
	text, runs, decoded := l.dialect.Unescape(l.text, value.In(rec), l.runs)
	if l.runs = runs; decoded {
		l.text = text
	}
	return text, runs
}

// add adds the URL at s in text, the decoded value of an attribute that starts
// at offset start of the record.
func (l *htmlLocator) add(f *locate.Found, start int, text []byte, runs []locate.Run, s locate.Span) {
	inner := locate.Trim(s.In(text))
	if IsSkipped(inner.In(s.In(text))) {
		f.Skipped++
		return
	}
	from, to := s.Start+inner.Start, s.Start+inner.End
	f.Add(locate.Between(start+locate.RawOffset(runs, from), start+locate.RawOffset(runs, to)), locate.RoleURL, l.dialect)
}

// meta adds the URL of a meta element with http-equiv="refresh".
func (l *htmlLocator) meta(f *locate.Found, rec []byte) {
	if pragma, ok := attributeOfTag(rec, "http-equiv"); !ok {
		return
	} else if text, _ := l.value(rec, pragma); !locate.EqualLower(text, "refresh") {
		return
	}
	content, _ := attributeOfTag(rec, "content")
	text, runs := l.value(rec, content)
	if s, ok := RefreshURL(text); ok {
		l.add(f, content.Start, text, runs, s)
	}
}

// Attribute identifies an attribute with URLs.
type Attribute uint16

// Attributes with URLs.
const (
	attrHref Attribute = 1 << iota
	attrSrc
	AttrSrcset
	attrAction
	attrFormaction
	attrPoster
	attrData
	attrCite
	attrBackground
)

// AttributeOf returns the attribute called name of an element, or 0 if it holds
// no URLs. The names action and data hold URLs only in forms and objects; other
// elements use them for data of their own.
func AttributeOf(element, name []byte) Attribute {
	switch len(name) {
	case len("src"):
		return is(name, "src", attrSrc)
	case len("href"):
		switch name[0] | 0x20 {
		case 'h':
			if isBase := locate.EqualLower(element, "base"); !isBase {
				return is(name, "href", attrHref)
			}
		case 'c':
			return is(name, "cite", attrCite)
		case 'd':
			if locate.EqualLower(element, "object") {
				return is(name, "data", attrData)
			}
		}
	case len("srcset"):
		switch name[0] | 0x20 {
		case 's':
			return is(name, "srcset", AttrSrcset)
		case 'p':
			return is(name, "poster", attrPoster)
		case 'a':
			if locate.EqualLower(element, "form") {
				return is(name, "action", attrAction)
			}
		}
	case len("formaction"):
		return is(name, "formaction", attrFormaction) | is(name, "background", attrBackground)
	}
	return 0
}

// is returns a if name, ignoring case, is want.
func is(name []byte, want string, a Attribute) Attribute {
	if locate.EqualLower(name, want) {
		return a
	}
	return 0
}

// Attributes implements [locate.Attributed].
func (*HTMLReader) Attributes() uint16 { return 0 }

var _ locate.Director = (*HTMLReader)(nil)

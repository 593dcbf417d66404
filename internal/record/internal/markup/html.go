// Package markup finds the URLs in documents: HTML, sitemaps, feeds and mail.
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
		return s.All(locate.LooksUnmistakable)
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (HTMLFormat) Unlined() locate.Reader { return newHTMLReader(nil, nil) }

// beginsHTML reports whether b starts with an html tag or the document type of
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
		case isTag(b, "html"):
			return true
		case len(b) > len("<!doctype html") && locate.EqualLower(b[:len("<!doctype")], "<!doctype") && locate.IsHTMLSpace[b[len("<!doctype")]]:
			b = b[len("<!doctype"):]
			b = b[locate.SkipSpace(b, 0):]
			return beginsName(b, "html") || beginsName(b, "netscape-bookmark-file-1")
		}
		return false
	}
}

// beginsName reports whether b starts with the name of a document type, which
// is in lower case.
func beginsName(b []byte, name string) bool {
	return len(b) > len(name) && locate.EqualLower(b[:len(name)], name) && endsTagName[b[len(name)]]
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// Open implements [locate.Format].
func (HTMLFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return newHTMLReader([]byte(c.Base), c.Charset), refuse(c)
}

// refuse returns the errors in c for a document.
func refuse(c *locate.Settings) error {
	return errors.Join(c.RefuseDialect(), c.RefuseReferer(), c.RefuseRewriting(), c.RefuseFields(), c.RefuseBaseHost(", whose records have no fields"))
}

func newHTMLReader(base []byte, charset func(string) (locate.Charset, bool)) *HTMLReader {
	return &HTMLReader{htmlRecord, base, charset}
}

// HTMLReader reads HTML documents.
type HTMLReader struct {
	documents
	base    []byte // Config.Base, the URL of the document
	charset func(label string) (locate.Charset, bool)
}

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

// maxBaseTag is the maximum length of a base element in bytes, because a
// directive is stored in the checkpoint.
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

// isTag reports whether rec starts with the start tag of the element name, which is in
// lower case.
func isTag(rec []byte, name string) bool {
	n := 1 + len(name)
	return len(rec) > n && rec[0] == '<' && endsTagName[rec[n]] && locate.EqualLower(rec[1:n], name)
}

// attributeOfTag returns the range of the value of the first attribute called
// name, in lower case, of a tag. It returns false without such an attribute, or
// if rec ends within the tag.
func attributeOfTag(rec []byte, name string) (value locate.Span, ok bool) {
	return firstAttribute(rec, func(n []byte) bool { return locate.EqualLower(n, name) })
}

// firstAttribute returns the value of the first attribute whose name satisfies is. It
// returns false without such an attribute, or if rec ends within the tag.
func firstAttribute(rec []byte, is func(name []byte) bool) (value locate.Span, ok bool) {
	t := newTagScan(rec)
	for {
		n, v, more := t.next()
		if !more {
			return value, ok && t.end > 0
		}
		if !ok && is(n.In(rec)) {
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
		label = parameter(content.In(rec), "charset")
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
	dialect *locate.Dialect // dialect of values: htmlDialect or legacy
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
// can be relative to the document's. If the address of the element is invalid,
// the address of the document is the base
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
func (l *htmlLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (why locate.Reason, pos int) {
	if !isStartTag(rec) {
		return 0, 0
	}
	l.follow(at.Head)
	if l.hasBase {
		f.SetContext(l.docBase)
	}
	t := newTagScan(rec)
	if why, pos = l.tag(f, &t, 0); isForeign(t.name.In(rec)) && why == 0 && !isClosed(rec[:t.end]) {
		foreignContent(rec[t.end:], t.name.In(rec), func(at int) {
			if inner := rec[t.end+at:]; isStartTag(inner) {
				t := newTagScan(inner)
				why, pos = l.tag(f, &t, len(rec)-len(inner))
			}
		})
	}
	return why, pos
}

// tag adds the URLs of a tag, which begins at offset from of the record.
func (l *htmlLocator) tag(f *locate.Found, t *tagScan, from int) (locate.Reason, int) {
	if locate.EqualLower(t.name.In(t.b), "meta") {
		l.meta(f, t.b, from)
		t.skip()
		return cutTag(t)
	}
	var seen uint32
	for {
		name, value, ok := t.next()
		if !ok {
			return cutTag(t)
		}
		a := AttributeOf(t.name.In(t.b), name.In(t.b))
		if a == nil || seen&a.Bit != 0 { // only the first attribute with a name counts
			continue
		}
		seen |= a.Bit
		text, runs := l.value(t.b, value)
		for pos := 0; ; {
			s, next, ok := a.Next(text, pos)
			if !ok {
				break
			}
			l.add(f, from+value.Start, text, runs, s)
			pos = next
		}
	}
}

// cutTag returns Unparsed and an offset if the document ends within the tag, which
// has been read, and zeros otherwise.
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

// meta adds the URL of a meta element with http-equiv="refresh", which begins at
// offset from of the record.
func (l *htmlLocator) meta(f *locate.Found, rec []byte, from int) {
	if pragma, ok := attributeOfTag(rec, "http-equiv"); !ok {
		return
	} else if text, _ := l.value(rec, pragma); !locate.EqualLower(text, "refresh") {
		return
	}
	content, _ := attributeOfTag(rec, "content")
	text, runs := l.value(rec, content)
	if s, ok := RefreshURL(text); ok {
		l.add(f, from+content.Start, text, runs, s)
	}
}

// An Attribute is an HTML attribute whose value is a URL, or several URLs that
// the function list finds.
type Attribute struct {
	Bit       uint32 // identifies the attribute
	name      string
	only, not string // the only element with the attribute; an element that uses its name otherwise
	list      func(text []byte, pos int) (url locate.Span, next int, ok bool)
}

// attributes are the attributes with URLs, by the length of their names. The names
// action and data hold URLs only in forms and objects; other elements use them for
// separate data. Pages that load images late have the URL in data-src and the like.
var attributes = func() (t [16][]Attribute) {
	for i, a := range []Attribute{
		{name: "href", not: "base"}, {name: "src"}, {name: "srcset", list: SrcsetNext}, {name: "action", only: "form"},
		{name: "formaction"}, {name: "poster"}, {name: "data", only: "object"}, {name: "cite"}, {name: "background"},
		{name: "imagesrcset", list: SrcsetNext}, {name: "ping", list: wordNext}, {name: "xlink:href"},
		{name: "data-src"}, {name: "data-srcset", list: SrcsetNext}, {name: "data-original"}, {name: "data-lazy-src"}, {name: "data-bg", list: cssNext},
	} {
		a.Bit = 1 << i
		t[len(a.name)] = append(t[len(a.name)], a)
	}
	return t
}()

// AttributeOf returns the attribute called name of an element, or nil if it holds
// no URLs.
func AttributeOf(element, name []byte) *Attribute {
	if len(name) >= len(attributes) {
		return nil
	}
	for i := range attributes[len(name)] {
		a := &attributes[len(name)][i]
		if locate.EqualLower(name, a.name) && (a.only == "" || locate.EqualLower(element, a.only)) && (a.not == "" || !locate.EqualLower(element, a.not)) {
			return a
		}
	}
	return nil
}

// Next returns the range of the first URL at or after pos, and the offset at which
// to continue. text is the value of the attribute.
func (a *Attribute) Next(text []byte, pos int) (url locate.Span, next int, ok bool) {
	if a.list != nil {
		return a.list(text, pos)
	}
	return locate.Between(0, len(text)), len(text) + 1, pos == 0
}

var _ locate.Director = (*HTMLReader)(nil)

package markup

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// XMLFormat finds the URLs in XML documents of one kind. A record is a tag with
// the text that follows, a comment or another declaration. XMLFormat builds no
// tree. It ignores document types, so it does not replace the entities that
// they declare. It compares names of elements without their prefix.
type XMLFormat struct {
	ID    string
	Roots map[string]bool // root elements of such documents
	Texts map[string]bool // elements whose text is a URL
	Attrs map[string]bool // attributes with a URL: "element@attribute"
}

// Sitemap is the format of sitemaps, with their indexes, and the extensions for
// alternates, images and videos (https://www.sitemaps.org/protocol.html).
var Sitemap = XMLFormat{
	ID:    "sitemap",
	Roots: names("urlset sitemapindex"),
	Texts: names("loc content_loc player_loc thumbnail_loc gallery_loc license"),
	Attrs: names("link@href"),
}

// Feed is the format of feeds: RSS 0.9 to 2.0 (https://www.rssboard.org/rss-specification)
// and Atom (RFC 4287), with Media RSS. It leaves the elements guid and id out, which
// identify an entry and mostly repeat its link.
var Feed = XMLFormat{
	ID:    "feed",
	Roots: names("rss feed RDF"),
	Texts: names("link url icon logo"),
	Attrs: names("link@href image@href enclosure@url content@url content@src thumbnail@url player@url source@url"),
}

// Name implements [locate.Format].
func (x XMLFormat) Name() string { return x.ID }

// Unlined implements [locate.Unlined].
func (XMLFormat) Unlined() locate.Reader { return &XMLReader{documents: xmlRecord} }

// Detect implements [locate.Format].
func (x XMLFormat) Detect(s *locate.Sample) locate.Fit {
	b := bytes.TrimPrefix(s.Head, byteOrderMark)
	for b = b[locate.SkipSpace(b, 0):]; len(b) > 1 && b[0] == '<'; b = b[locate.SkipSpace(b, 0):] {
		if isStartTag(b) {
			if !x.Roots[string(localName(tagName(b)))] {
				break
			}
			return s.All(locate.LooksUnmistakable)
		}
		n := xmlRecord(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	return locate.Fit{}
}

// localName returns the name of an element without its prefix.
func localName(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

// Open implements [locate.Format].
func (x XMLFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return &XMLReader{xmlRecord, x, []byte(c.Base), c.Charset}, refuse(c)
}

// XMLReader reads XML documents.
type XMLReader struct {
	documents
	format  XMLFormat
	base    []byte // Config.Base, the URL of the document
	charset func(label string) (locate.Charset, bool)
}

// Shown implements [locate.Abridger].
func (*XMLReader) Shown(rec []byte) []byte { return locate.TrimEnd(rec[:min(len(rec), MaxHTMLText)]) }

var (
	commentEnd = []byte("-->")
	piStart    = []byte("<?")
	piEnd      = []byte("?>")
	xmlDecl    = []byte("<?xml")
	xmlBase    = []byte("xml:base")
)

// xmlRecord returns the length of the first record of b, or 0 if b does not show
// where it ends.
func xmlRecord(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[0] != '<' || !isMarkup[b[1]]:
		return max(0, xmlText(b, 1))
	case b[1] == '!' || b[1] == '?':
		return max(0, xmlDeclaration(b))
	}
	t := newTagScan(b)
	n := t.skip()
	if n == 0 || b[1] == '/' || isClosed(b[:n]) {
		return n
	}
	return max(0, xmlText(b, n))
}

// maxXMLText is the length in bytes at which a record ends even if no tag
// follows its text. URLs are shorter, and no record ends within a CDATA
// section.
const maxXMLText = 64 << 10

// xmlText returns the offset of the tag after the text that begins at pos, or -1 if
// b does not show it.
func xmlText(b []byte, pos int) int {
	for start := pos; ; {
		i := bytes.IndexByte(b[pos:min(len(b), max(pos, start+maxXMLText))], '<')
		if i < 0 {
			if len(b) >= start+maxXMLText {
				return max(pos, start+maxXMLText)
			}
			return -1
		}
		if pos += i; pos+1 == len(b) {
			return -1
		}
		if b[pos+1] != '!' && b[pos+1] != '?' {
			if isMarkup[b[pos+1]] {
				return pos
			}
			pos++
			continue
		}
		n := xmlDeclaration(b[pos:])
		if n < 0 {
			return -1
		}
		pos += n
	}
}

// xmlDeclaration returns the length of the comment, CDATA section, processing
// instruction or document type at the start of b, or -1.
func xmlDeclaration(b []byte) int {
	end := []byte(">")
	switch {
	case len(b) < len(cdataStart):
		return -1
	case bytes.HasPrefix(b, commentStart):
		end = commentEnd
	case bytes.HasPrefix(b, cdataStart):
		end = cdataEnd
	case bytes.HasPrefix(b, piStart):
		end = piEnd
	default:
		if i := bytes.IndexAny(b, "[>"); i >= 0 && b[i] == '[' {
			end = []byte("]>") // the end of declarations, which are not read
		}
	}
	if i := bytes.Index(b, end); i >= 0 {
		return i + len(end)
	}
	return -1
}

// maxBases is the maximum length of a directive in bytes. The directive
// accompanies each record.
const maxBases = 4 << 10

// Directive implements [locate.Director]. The directive consists of the XML
// declaration and the start tags of the open elements that have xml:base. To
// find the end tag of the last such element, it also has the start tags of open
// elements of the same name within that element.
func (r *XMLReader) Directive(head, block []byte) []byte {
	now := head
	top := lastTag(now)
	if len(top) == 0 && !bytes.Contains(block, xmlBase) && (len(head) > 0 || !bytes.Contains(block, xmlDecl)) {
		return nil
	}
	for at := 0; at < len(block); {
		rec := block[at : at+r.Next(block[at:])]
		at += len(rec)
		size := len(now)
		switch {
		case len(now) == 0 && bytes.HasPrefix(rec, xmlDecl) && xmlDeclaration(rec) == len(rec) && len(rec) <= maxBases:
			now = rec
		case len(rec) > 2 && rec[0] == '<' && rec[1] == '/' && len(top) > 0 && bytes.Equal(tagName(rec), tagName(top)):
			if now = now[:len(now)-len(top)]; len(now) == 0 {
				now = []byte("<?xml none?>") // no base
			}
		case isStartTag(rec):
			t := newTagScan(rec)
			end := t.skip()
			_, based := baseOfTag(rec)
			if end > 0 && !isClosed(rec[:end]) && (based || len(top) > 0 && bytes.Equal(tagName(rec), tagName(top))) && len(now)+end <= maxBases {
				now = append(now[:len(now):len(now)], rec[:end]...)
			}
		}
		if len(now) != size {
			top = lastTag(now)
		}
	}
	if bytes.Equal(now, head) {
		return nil
	}
	return now
}

// lastTag returns the last tag of a directive, or nil.
func lastTag(head []byte) (tag []byte) {
	for len(head) > 0 {
		n := xmlPart(head)
		if tag = head[:n]; !isStartTag(tag) {
			tag = nil
		}
		head = head[n:]
	}
	return tag
}

// xmlPart returns the length of the first part of a directive.
func xmlPart(head []byte) int {
	if isStartTag(head) {
		t := newTagScan(head)
		return t.skip()
	}
	return xmlDeclaration(head)
}

// Locator implements [locate.Reader].
func (r *XMLReader) Locator() locate.Locator { return &xmlLocator{XMLReader: r} }

// xmlLocator finds the URLs of tags and texts in a document.
type xmlLocator struct {
	*XMLReader
	head    []byte // directive that the fields below belong to
	follows bool
	encoded locate.Charset
	base    []byte // base of the open elements
	based   bool   // the open elements have a base
	own     []byte // scratch: the base of the record
	text    decoded
	key     []byte
	res     codec.Result
}

// follow sets the encoding and the base from a directive.
func (l *xmlLocator) follow(head []byte) {
	if l.follows && bytes.Equal(head, l.head) {
		return
	}
	l.head, l.follows = append(l.head[:0], head...), true
	l.base, l.encoded, l.based = append(l.base[:0], l.XMLReader.base...), nil, false
	for len(head) > 0 {
		part := head[:xmlPart(head)]
		if head = head[len(part):]; isStartTag(part) {
			if l.resolve(part) {
				l.base, l.own, l.based = l.own, l.base, true
			}
		} else if label := parameter(part, "encoding"); len(label) > 0 && len(label) <= maxLabel && l.charset != nil {
			l.encoded, _ = l.charset(string(label))
		}
	}
}

// resolve sets l.own to the base in a tag, resolved against the current base
// (XML Base, section 4). It returns false if the tag contains no valid base.
func (l *xmlLocator) resolve(tag []byte) bool {
	value, ok := baseOfTag(tag)
	if !ok {
		return false
	}
	l.read(value.In(tag), value.Start)
	var err error
	l.own, err = locate.Browser.AppendRef(l.own[:0], l.base, l.text.text, &l.res)
	return err == nil && l.res.Out.Has(codec.Scheme)
}

// baseOfTag returns the value of xml:base in a tag. Names in XML are
// case-sensitive.
func baseOfTag(tag []byte) (value locate.Span, ok bool) {
	return firstAttribute(tag, func(name []byte) bool { return bytes.Equal(name, xmlBase) })
}

// Locate implements [locate.Locator].
func (l *xmlLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if !isStartTag(rec) {
		return 0, 0
	}
	l.follow(at.Head)
	l.text.used = 0
	if l.resolve(rec) {
		f.SetContext(l.own)
	} else if l.based {
		f.SetContext(l.base)
	}
	t := newTagScan(rec)
	element := localName(t.name.In(rec))
	for {
		name, value, ok := t.next()
		if !ok {
			break
		}
		l.key = append(append(append(l.key[:0], element...), '@'), name.In(rec)...)
		if l.format.Attrs[string(l.key)] {
			l.add(f, value.In(rec), value.Start)
		}
	}
	if t.end > 0 && l.format.Texts[string(element)] && !locate.IsBlank(rec[t.end:]) && !isClosed(rec[:t.end]) {
		l.add(f, rec[t.end:], t.end)
	}
	return cutTag(&t)
}

// add adds the URL in raw, which begins at offset from of the record.
func (l *xmlLocator) add(f *locate.Found, raw []byte, from int) {
	l.read(raw, from)
	s := locate.Trim(l.text.text)
	if IsSkipped(s.In(l.text.text)) {
		f.Skipped++
		return
	}
	l.text.add(f, s, nil)
}

// read sets l.text to the text of raw, which begins at offset from of the record.
func (l *xmlLocator) read(raw []byte, from int) {
	d := &l.text
	d.clear()
	d.end = from + len(raw)
	for i := 0; i < len(raw); {
		switch n := len(d.text); {
		case raw[i] == '&':
			var size int
			d.text, size = locate.DecodeClosed(d.text, raw[i:])
			d.mark(n, from+i)
			i += size
		case raw[i] == '<' && i+1 < len(raw) && (raw[i+1] == '!' || raw[i+1] == '?'):
			size := xmlDeclaration(raw[i:])
			if size < 0 {
				return
			}
			if bytes.HasPrefix(raw[i:], cdataStart) {
				d.copy(raw[i+len(cdataStart):i+size-len(cdataEnd)], from+i+len(cdataStart))
				d.recode(n, l.encoded)
			}
			i += size
		default:
			size := bytes.IndexAny(raw[i+1:], "&<") + 1
			if size == 0 {
				size = len(raw) - i
			}
			d.copy(raw[i:i+size], from+i)
			d.recode(n, l.encoded)
			i += size
		}
	}
}

var _ locate.Director = (*XMLReader)(nil)

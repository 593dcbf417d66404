package record

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/codec"
)

// watFormat is a WARC file with metadata about the records of another archive,
// as archives and Common Crawl publish it: the block of each record is a JSON
// object, whose member Envelope lists the links of the page.
// https://github.com/commoncrawl/ia-web-commons has the program that writes it.
type watFormat struct{}

// Name implements [Format].
func (watFormat) Name() string { return "wat" }

// Detect implements [Format]. A file begins with a record about itself, which
// any WARC file can have.
func (watFormat) Detect(s *Sample) Fit {
	for head := s.Head; ; {
		h, state := readWARCHeader(head)
		if state != headerSound {
			return Fit{}
		}
		block := head[h.end:]
		if len(block) > 0 && block[0] == '{' {
			if !bytes.Contains(block[:min(int64(len(block)), h.length)], watEnvelope) {
				return Fit{}
			}
			return Fit{len(s.Records), looksUnmistakable}
		}
		if warcEnd(h) >= int64(len(head)) {
			return Fit{}
		}
		head = head[warcEnd(h):]
	}
}

// unlined implements [unlined].
func (watFormat) unlined() Reader { return watReader{} }

var watEnvelope = []byte(`"Envelope":{`)

// Open implements [Format].
func (watFormat) Open(c *Config) (Reader, error) {
	return watReader{lists: !c.Render.keepsRecords()}, errors.Join(c.refuseArchiveSettings()...)
}

// watReader reads WAT files. Only WARC-Target-URI can be rewritten, because
// links are part of a block with a digest.
type watReader struct {
	warcReader
	lists bool // links are read
}

// Locator implements [Reader].
func (r watReader) Locator() Locator {
	if !r.lists {
		return r.warcReader
	}
	return &watLocator{}
}

// watLocator finds the URL of a page and the links in its metadata.
type watLocator struct {
	warcReader
	scan  scanner
	found *Found

	base    span // the address of the base element
	content span // of the current meta element
	refresh bool // it is a refresh

	// Scratch.
	text    []byte
	runs    []run
	docBase []byte
	res     codec.Result
}

// Locate implements [Locator].
func (l *watLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	if why, pos := l.warcReader.Locate(f, rec, at); why != 0 {
		return why, pos
	}
	h, _ := readWARCHeader(rec)
	end := h.end + int(h.length)
	if h.length == 0 || rec[h.end] != '{' {
		return 0, 0 // warcinfo
	}
	l.found, l.base = f, span{}
	s := &l.scan
	s.b, s.pos, s.broken = rec[:end:end], h.end, false
	l.walk(&watTree)
	if s.space(); s.broken || s.pos < end {
		return Unparsed, s.pos
	}
	l.setBase(rec, h.uri)
	return 0, 0
}

// setBase sets the base of the links: the base element of the page, which can
// be relative to the URL of the page, or that URL.
func (l *watLocator) setBase(rec []byte, page span) {
	base := page.in(rec)
	if l.base.end > 0 {
		text, _, _ := jsonDialect.unescape(l.text, l.base.in(rec), l.runs)
		var err error
		l.docBase, err = browser.AppendRef(l.docBase[:0], base, text, &l.res)
		if err == nil && l.res.Out.Has(codec.Scheme) {
			base = l.docBase
		}
	}
	if len(base) > 0 {
		l.found.setContext(base)
	}
}

// watUse says what a member of the metadata holds.
type watUse uint8

const (
	watNothing watUse = iota
	watLink           // a link
	watBase           // the address of the base element
	watPragma         // http-equiv of a meta element
	watContent        // content of a meta element
	watMeta           // a list of meta elements
)

// watNode is a member of the metadata, or the elements of an array.
type watNode struct {
	name string
	use  watUse
	in   []watNode
}

// watTree has the members with links.
var watTree = watNode{in: []watNode{{name: "Envelope", in: []watNode{{name: "Payload-Metadata", in: []watNode{{name: "HTTP-Response-Metadata", in: []watNode{
	{name: "Headers", in: []watNode{{name: "Location", use: watLink}}},
	{name: "HTML-Metadata", in: []watNode{
		{name: "Head", in: []watNode{
			{name: "Base", use: watBase},
			{name: "Link", in: watElement},
			{name: "Scripts", in: watElement},
			{name: "Metas", use: watMeta, in: []watNode{{name: "http-equiv", use: watPragma}, {name: "content", use: watContent}}},
		}},
		{name: "Links", in: watElement},
	}},
}}}}}}}}

// watElement has the members of a link. Style sheets have it in href.
var watElement = []watNode{{name: "url", use: watLink}, {name: "href", use: watLink}}

// walk reads a value that n describes, or each element of it if it is an array.
func (l *watLocator) walk(n *watNode) {
	s := &l.scan
	switch {
	case s.broken:
	case s.peek() == '[' && n.in != nil:
		if s.enterEmpty(']') {
			return
		}
		for {
			if s.peek() == '[' {
				s.skip()
			} else {
				l.walk(n)
			}
			if !s.more(']') {
				return
			}
		}
	case s.peek() == '{' && n.in != nil:
		l.object(n)
	case s.peek() == '"' && n.use != watNothing:
		start := s.pos + 1
		if s.str(); !s.broken {
			l.use(n.use, span{start, s.pos - 1})
		}
	default:
		s.skip()
	}
}

// object reads an object whose members n.in describes.
func (l *watLocator) object(n *watNode) {
	s := &l.scan
	if s.enterEmpty('}') {
		return
	}
	l.content, l.refresh = span{}, false
	for {
		name, _ := s.rawName()
		if s.broken {
			return
		}
		if m := n.member(name); m != nil {
			l.walk(m)
		} else {
			s.skip()
		}
		if !s.more('}') {
			break
		}
	}
	if n.use == watMeta && l.refresh {
		text, runs := l.plain(l.content)
		if u, ok := refreshURL(text); ok {
			l.add(span{l.content.start + rawOffset(runs, u.start), l.content.start + rawOffset(runs, u.end)})
		}
	}
}

// member returns the description of a member, or nil. Names of header fields
// have any case.
func (n *watNode) member(name []byte) *watNode {
	for i := range n.in {
		if len(n.in[i].name) == len(name) && bytes.EqualFold(name, []byte(n.in[i].name)) {
			return &n.in[i]
		}
	}
	return nil
}

// use stores the string at v.
func (l *watLocator) use(u watUse, v span) {
	switch u {
	case watLink:
		l.add(v)
	case watBase:
		l.base = v
	case watContent:
		l.content = v
	case watPragma:
		text, _ := l.plain(v)
		l.refresh = equalLower(text, "refresh")
	}
}

// plain returns the text at v without its escapes, in scratch, and its offset
// map.
func (l *watLocator) plain(v span) ([]byte, []run) {
	text, runs, escaped := jsonDialect.unescape(l.text, v.in(l.scan.b), l.runs)
	if l.runs = runs; escaped {
		l.text = text
	}
	return text, runs
}

// add adds the link at v, unless it leads to no resource.
func (l *watLocator) add(v span) {
	inner := trim(v.in(l.scan.b))
	v = span{v.start + inner.start, v.start + inner.end}
	if text, _ := l.plain(v); isSkipped(text) {
		l.found.skipped++
		return
	}
	l.found.add(v, roleLink, jsonDialect)
}

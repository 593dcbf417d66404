package archive

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/markup"
)

// WATFormat is a WARC file with metadata about the records of another archive,
// as archives and Common Crawl publish it: the block of each record is a JSON
// object, whose member Envelope lists the links of the page.
// https://github.com/commoncrawl/ia-web-commons has the program that writes it.
type WATFormat struct{}

// Name implements [locate.Format].
func (WATFormat) Name() string { return "wat" }

// Detect implements [locate.Format]. The first record of a file is about the
// file itself, as in any WARC file.
func (WATFormat) Detect(s *locate.Sample) locate.Fit {
	for head := s.Head; ; {
		h, state := ReadWARCHeader(head)
		if state != locate.HeaderSound {
			return locate.Fit{}
		}
		block := head[h.End:]
		if len(block) > 0 && block[0] == '{' {
			if !bytes.Contains(block[:min(int64(len(block)), h.length)], watEnvelope) {
				return locate.Fit{}
			}
			return s.All(locate.LooksUnmistakable)
		}
		if warcEnd(h) >= int64(len(head)) {
			return locate.Fit{}
		}
		head = head[warcEnd(h):]
	}
}

// Unlined implements [locate.Unlined].
func (WATFormat) Unlined() locate.Reader { return watReader{} }

var watEnvelope = []byte(`"Envelope":{`)

// Open implements [locate.Format].
func (WATFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return watReader{lists: !c.Render.KeepsRecords()}, refuseArchiveSettings(c)
}

// watReader reads WAT files. Only WARC-Target-URI can be rewritten, because
// links are part of a block with a digest.
type watReader struct {
	WARCReader
	lists bool // links are read
}

// Locator implements [locate.Reader].
func (r watReader) Locator() locate.Locator {
	if !r.lists {
		return r.WARCReader
	}
	return &watLocator{}
}

// watLocator finds the URL of a page and the links in its metadata.
type watLocator struct {
	WARCReader
	scan  jsonlines.Scanner
	found *locate.Found

	base    locate.Span // the address of the base element
	content locate.Span // content of the current meta element
	refresh bool        // the meta element is a refresh

	// Scratch.
	text    []byte
	runs    []locate.Run
	docBase []byte
	res     codec.Result
}

// Locate implements [locate.Locator].
func (l *watLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if why, pos := l.WARCReader.Locate(f, rec, at); why != 0 {
		return why, pos
	}
	h, _ := ReadWARCHeader(rec)
	end := h.End + int(h.length)
	if h.length == 0 || rec[h.End] != '{' {
		return 0, 0 // a warcinfo record has no URLs
	}
	l.found, l.base = f, locate.Span{}
	s := &l.scan
	s.B, s.Pos, s.Broken = rec[:end:end], h.End, false
	l.walk(&watTree)
	if s.Space(); s.Broken || s.Pos < end {
		return locate.Unparsed, s.Pos
	}
	l.setBase(rec, h.uri)
	return 0, 0
}

// setBase sets the base of the links: the address in the base element of the
// page, resolved against the URL of the page, or without such an element the
// URL of the page.
func (l *watLocator) setBase(rec []byte, page locate.Span) {
	base := page.In(rec)
	if l.base.End > 0 {
		text, _, _ := locate.JSONDialect.Unescape(l.text, l.base.In(rec), l.runs)
		var err error
		l.docBase, err = locate.Browser.AppendRef(l.docBase[:0], base, text, &l.res)
		if err == nil && l.res.Out.Has(codec.Scheme) {
			base = l.docBase
		}
	}
	if len(base) > 0 {
		l.found.SetContext(base)
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

// watElement has the members of a link. Style sheets have the address in href.
var watElement = []watNode{{name: "url", use: watLink}, {name: "href", use: watLink}}

// walk reads a value that n describes. If the value is an array, n describes
// each of its elements.
func (l *watLocator) walk(n *watNode) {
	s := &l.scan
	switch {
	case s.Broken:
	case s.Peek() == '[' && n.in != nil:
		if s.EnterEmpty(']') {
			return
		}
		for {
			if s.Peek() == '[' {
				s.Skip()
			} else {
				l.walk(n)
			}
			if !s.More(']') {
				return
			}
		}
	case s.Peek() == '{' && n.in != nil:
		l.object(n)
	case s.Peek() == '"' && n.use != watNothing:
		start := s.Pos + 1
		if s.Str(); !s.Broken {
			l.use(n.use, locate.Between(start, s.Pos-1))
		}
	default:
		s.Skip()
	}
}

// object reads an object whose members n.in describes.
func (l *watLocator) object(n *watNode) {
	s := &l.scan
	if s.EnterEmpty('}') {
		return
	}
	l.content, l.refresh = locate.Span{}, false
	for {
		name, _ := s.RawName()
		if s.Broken {
			return
		}
		if m := n.member(name); m != nil {
			l.walk(m)
		} else {
			s.Skip()
		}
		if !s.More('}') {
			break
		}
	}
	if n.use == watMeta && l.refresh {
		text, runs := l.plain(l.content)
		if u, ok := markup.RefreshURL(text); ok {
			l.add(locate.Between(l.content.Start+locate.RawOffset(runs, u.Start), l.content.Start+locate.RawOffset(runs, u.End)))
		}
	}
}

// member returns the description of a member, or nil. It ignores the case of
// name, because the names of header fields are case-insensitive.
func (n *watNode) member(name []byte) *watNode {
	for i := range n.in {
		if len(n.in[i].name) == len(name) && bytes.EqualFold(name, []byte(n.in[i].name)) {
			return &n.in[i]
		}
	}
	return nil
}

// use stores the string at v.
func (l *watLocator) use(u watUse, v locate.Span) {
	switch u {
	case watLink:
		l.add(v)
	case watBase:
		l.base = v
	case watContent:
		l.content = v
	case watPragma:
		text, _ := l.plain(v)
		l.refresh = locate.EqualLower(text, "refresh")
	}
}

// plain returns the text at v without its escapes, in scratch, and its offset
// map.
func (l *watLocator) plain(v locate.Span) ([]byte, []locate.Run) {
	text, runs, escaped := locate.JSONDialect.Unescape(l.text, v.In(l.scan.B), l.runs)
	if l.runs = runs; escaped {
		l.text = text
	}
	return text, runs
}

// add adds the link at v, unless it leads to no resource.
func (l *watLocator) add(v locate.Span) {
	inner := locate.Trim(v.In(l.scan.B))
	v = locate.Between(v.Start+inner.Start, v.Start+inner.End)
	if text, _ := l.plain(v); markup.IsSkipped(text) {
		l.found.Skipped++
		return
	}
	l.found.Add(v, locate.RoleLink, locate.JSONDialect)
}

package record

import (
	"bytes"
	"errors"
	"github.com/urlfold/urlfold/codec/internal/scan"
	"slices"
)

// linesFormat is the format with one URL on each line.
type linesFormat struct{}

// Name implements [Format].
func (linesFormat) Name() string { return "lines" }

// Detect implements [Format].
func (linesFormat) Detect(s *Sample) Fit {
	if looksHeaded(s.Records) {
		return Fit{}
	}
	return s.count(looksLikeLines, func(body []byte) bool { return looksURL(body) && !hasCellInHost(trim(body).in(body)) })
}

// cellSeparators are those of the tables that are detected.
const cellSeparators = ",;|\t"

// looksHeaded reports whether records look like a table with a header, even if their
// numbers of cells differ: the first one is no URL, and one separator is in all of them.
func looksHeaded(records [][]byte) bool {
	if len(records) < 2 || looksURL(records[0]) {
		return false
	}
	for _, sep := range []byte(cellSeparators) {
		if !slices.ContainsFunc(records, func(r []byte) bool { return bytes.IndexByte(r, sep) < 0 }) {
			return true
		}
	}
	return false
}

// hasCellInHost reports whether the host of a URL contains a separator of cells, which no
// host does: the URL is the first cell of a table.
func hasCellInHost(url []byte) bool {
	_, rest, found := bytes.Cut(url, []byte("://"))
	if !found {
		return false
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	host := rest[bytes.LastIndexByte(rest, '@')+1:]
	return bytes.ContainsAny(host, cellSeparators)
}

// looksURL reports whether body is a URL or a path without white space inside.
func looksURL(body []byte) bool {
	s := trim(body)
	text := s.in(body)
	if bytes.ContainsAny(text, " \t") {
		return false
	}
	i := bytes.Index(text, []byte("://"))
	return text[0] == '/' || i > 0 && isScheme(text[:i])
}

// Open implements [Format].
func (linesFormat) Open(c *Config) (Reader, error) {
	errs := append([]error{c.refuseDialect(), c.refuseReferer()}, c.refuseFields()...)
	if _, _, ok := c.baseHost(); ok {
		errs = append(errs, wrong("Base", "the base URL cannot contain a field with the format lines, whose records have no fields"))
	}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return linesReader{}, errors.Join(errs...)
}

// linesReader reads lines.
type linesReader struct{ LineFraming }

// Locator implements [Reader].
func (l linesReader) Locator() Locator { return l }

// Locate implements [Locator].
func (linesReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	f.add(trim(rec), roleURL, nil)
	return 0, 0
}

// canKeep implements [keeper]. A base does not change absolute URLs.
func (linesReader) canKeep(*Job) bool { return true }

// marks implements [keeper].
func (linesReader) marks() *scan.Block { return nil }

// keep implements [keeper].
func (linesReader) keep(n *normalizer, pos, limit int, _ []byte) int {
	size := n.walk.line(pos, limit)
	if size == 0 || !n.keeps(trimEnd(n.walk.block[pos:pos+size])) {
		return 0
	}
	return size
}

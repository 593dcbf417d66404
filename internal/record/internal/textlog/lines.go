package textlog

import (
	"bytes"
	"errors"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LinesFormat is the format with one URL on each line.
type LinesFormat struct{}

// Name implements [locate.Format].
func (LinesFormat) Name() string { return "lines" }

// Detect implements [locate.Format].
func (LinesFormat) Detect(s *locate.Sample) locate.Fit {
	if looksHeaded(s.Records) {
		return locate.Fit{}
	}
	return s.Count(locate.LooksLikeLines, func(body []byte) bool { return locate.LooksURL(body) && !hasCellInHost(locate.Trim(body).In(body)) })
}

// cellSeparators separate the cells of the tables that are detected.
const cellSeparators = ",;|\t"

// looksHeaded reports whether records look like a table with a header, even if their
// numbers of cells differ: the first record is not a URL, and all records contain the same
// separator.
func looksHeaded(records [][]byte) bool {
	if len(records) < 2 || locate.LooksURL(records[0]) {
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

// Open implements [locate.Format].
func (LinesFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return LinesReader{}, errors.Join(c.RefuseDialect(), c.RefuseReferer(), c.RefuseFields(), c.RefuseBaseHost(", whose records have no fields"), c.RefuseExtend())
}

// LinesReader reads lines.
type LinesReader struct{ locate.LineFraming }

// Locator implements [locate.Reader].
func (l LinesReader) Locator() locate.Locator { return l }

// Locate implements [locate.Locator].
func (LinesReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	f.Add(locate.Trim(rec), locate.RoleURL, nil)
	return 0, 0
}

// Attributes implements [locate.Attributed].
func (LinesReader) Attributes() uint16 { return 0 }

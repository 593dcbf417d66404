package textlog

import (
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ProseFormat finds the absolute URLs in prose: mail, Markdown, chat logs, source
// code, dumps of any kind. A record is a line, which can have any number of
// URLs. locate/prose.go decides where a URL begins and ends.
type ProseFormat struct{}

// Name implements [locate.Format].
func (ProseFormat) Name() string { return "text" }

// Detect implements [locate.Format]. Nearly every file would fit, so the user
// must name this format.
func (ProseFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// Open implements [locate.Format].
func (ProseFormat) Open(c *locate.Settings) (locate.Reader, error) {
	errBase := locate.WrongIf(c.Base != "", "Base", "the format text has no use for a base URL, because it only finds absolute URLs")
	return ProseReader{}, errors.Join(c.RefuseDialect(), c.RefuseReferer(), c.RefuseRewriting(), c.RefuseFields(), errBase)
}

// ProseReader reads lines of prose.
type ProseReader struct{ locate.LineFraming }

// Extracts implements [locate.Extractor].
func (ProseReader) Extracts() {}

// Locator implements [locate.Reader].
func (r ProseReader) Locator() locate.Locator { return r }

// Locate implements [locate.Locator].
func (ProseReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	for pos := 0; ; {
		s, ok := locate.FindURL(rec, pos)
		if !ok {
			return 0, 0
		}
		f.Add(s, locate.RoleURL, locate.JSONDialect) // every backslash in a URL begins a JSON escape
		pos = s.End
	}
}

// Attributes implements [locate.Attributed].
func (ProseReader) Attributes() uint16 { return 0 }

package record

import (
	"errors"
	"fmt"
)

// proseFormat finds the absolute URLs in prose: mail, Markdown, chat logs, source
// code, dumps of any kind. A record is a line, which can have any number of
// URLs. textscan.go decides where a URL begins and ends.
type proseFormat struct{}

// Name implements [Format].
func (proseFormat) Name() string { return "text" }

// Detect implements [Format]. Every file is text, so the format must be asked
// for.
func (proseFormat) Detect(*Sample) Fit { return Fit{} }

// Open implements [Format].
func (proseFormat) Open(c *Config) (Reader, error) {
	errs := append([]error{c.refuseDialect(), c.refuseReferer(), c.refuseRewriting()}, c.refuseFields()...)
	if c.Base != "" {
		errs = append(errs, wrong("Base", "the format text has no use for a base URL, because it only finds absolute URLs"))
	}
	return proseReader{}, errors.Join(errs...)
}

// proseReader reads lines of prose.
type proseReader struct{ LineFraming }

// extracts implements [extractor].
func (proseReader) extracts() {}

// Locator implements [Reader].
func (r proseReader) Locator() Locator { return r }

// Locate implements [Locator].
func (proseReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	for pos := 0; ; {
		s, ok := findURL(rec, pos)
		if !ok {
			return 0, 0
		}
		f.add(s, roleURL, jsonDialect) // every backslash in a URL is an escape of JSON
		pos = s.end
	}
}

// extractor is implemented by Readers of documents, whose records have any
// number of URLs among other text. The fields line and offset of a URL are its
// own, and records cannot be rewritten.
type extractor interface{ extracts() }

// refuseRewriting returns an error if c asks to write records. Formats that
// only find URLs call it.
func (c *Config) refuseRewriting() error {
	if !c.Render.keepsRecords() {
		return nil
	}
	return wrong("Render", fmt.Sprintf("records of the format %s cannot be written back, because it only finds their URLs; use the rendering urls, keys, jsonl, tsv or csv", c.Format))
}

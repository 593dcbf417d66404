package main

import (
	"bytes"
	"cmp"

	"github.com/urlfold/urlfold/codec/record"
)

// A namedFormat reads lines that consist of a name, a bar and a URL:
// "home|https://example.com/".
type namedFormat struct{}

func (namedFormat) Name() string { return "named" }

func (namedFormat) Detect(s *record.Sample) (fit record.Fit) {
	for _, rec := range s.Records {
		if _, url, ok := bytes.Cut(rec, []byte("|")); ok && bytes.Contains(url, []byte("://")) {
			fit.Records++
		}
	}
	fit.Certainty = 45 // more than a list of URLs, less than a table with a header
	return fit
}

func (f namedFormat) Open(*record.Config) (record.Reader, error) { return f, nil }
func (f namedFormat) Locator() record.Locator                    { return f }

func (namedFormat) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (namedFormat) Head([]byte) int      { return 0 } // no header
func (namedFormat) Next(in []byte) int   { return cmp.Or(bytes.IndexByte(in, '\n')+1, len(in)) }

func (namedFormat) Locate(f *record.Found, rec []byte, _ *record.Position) (record.Reason, int) {
	bar := bytes.IndexByte(rec, '|')
	if bar < 0 {
		return record.Unparsed, len(rec)
	}
	f.AddURL(bar+1, len(rec), nil)
	return 0, 0
}

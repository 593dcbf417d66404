package main

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/record"
)

// namedFormat reads lines that consist of a name, a bar and a URL:
// "home|https://example.com/".
var namedFormat = record.Format{
	Name:      "named",
	Detect:    countNamed,
	Certainty: 45, // more than a list of URLs, less than a table with a header
	Open: func(*record.Config) (*record.Framing, func() record.Locator, error) {
		return nil, func() record.Locator { return named{} }, nil // lines
	},
}

// countNamed returns how many records of a sample have the form name|URL.
func countNamed(s *record.Sample) (n int) {
	for _, rec := range s.Records {
		if _, url, ok := bytes.Cut(rec, []byte("|")); ok && bytes.Contains(url, []byte("://")) {
			n++
		}
	}
	return n
}

// named is stateless. For a locator with scratch memory, the function that Open
// returns must return a new locator each time, because each goroutine uses one.
type named struct{}

func (named) Locate(f *record.Found, rec []byte) (record.Reason, int) {
	bar := bytes.IndexByte(rec, '|')
	if bar < 0 {
		return record.Unparsed, len(rec)
	}
	f.AddURL(bar+1, len(rec), nil)
	return "", 0
}

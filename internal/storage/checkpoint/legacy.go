package checkpoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/pipeline"
)

// This file reads version 1, which replaced the whole state with every commit.
// A state of version 1 is lines of JSON: first the version, then one entry or
// extent per line, and last a checksum of all preceding lines:
//
//	{"urlfold":"checkpoint","version":1,"lines":2}
//	{"entry":{"source":"logs","id":"5f…","path":"/var/log/a.log",…}}
//	{"mark":{"sink":"out","path":"/data/a.log.zst","length":4096}}
//	{"xxh3":"0c4d…"}

// maxLegacyLines is the maximum number of lines of a state of version 1.
const maxLegacyLines = 2 << 20

// A legacyHead is the first line of a state of version 1.
type legacyHead struct {
	Urlfold string `json:"urlfold"`
	Version int    `json:"version"`
	Lines   int    `json:"lines"`
	Cuts    bool   `json:"cuts,omitempty"`
}

// A legacyLine is any line after the first.
type legacyLine struct {
	Entry  *Entry  `json:"entry,omitempty"`
	Extent *extent `json:"mark,omitempty"`
	Sum    string  `json:"xxh3,omitempty"`
}

// legacyPrefix is the beginning of every state of version 1.
const legacyPrefix = `{"urlfold":"checkpoint","version":1,`

// parseLegacy parses a state of version 1. It returns no state if any part is
// damaged or missing.
func parseLegacy(data []byte) (*state, error) {
	p := legacyParser{br: bufio.NewReaderSize(bytes.NewReader(data), maxLine), st: newState()}
	if err := p.parse(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.n, err)
	}
	return p.st, nil
}

type legacyParser struct {
	br  *bufio.Reader
	sum xxh3.Hasher
	n   int // lines read
	st  *state
}

// next returns the next line. It is valid until the next call.
func (p *legacyParser) next() ([]byte, error) {
	p.n++
	text, err := p.br.ReadSlice('\n')
	switch {
	case err == io.EOF:
		return nil, errors.New("unexpected end of file")
	case err != nil:
		return nil, fmt.Errorf("line too long: %w", err)
	}
	return text, nil
}

func (p *legacyParser) parse() error {
	var h legacyHead
	text, err := p.next()
	if err == nil {
		err = strictly(text, &h)
	}
	switch {
	case err != nil:
		return err
	case h.Urlfold != "checkpoint" || h.Version != 1:
		return errors.New("not a checkpoint of version 1")
	case h.Lines < 0 || h.Lines > maxLegacyLines:
		return errors.New("number of lines out of range")
	}
	_, _ = p.sum.Write(text) // never fails
	c := &change{cuts: &h.Cuts}
	for range h.Lines {
		if err := p.line(c); err != nil {
			return err
		}
	}
	p.st.apply(c)
	return p.end()
}

// line reads one entry or extent.
func (p *legacyParser) line(c *change) error {
	text, err := p.next()
	if err != nil {
		return err
	}
	_, _ = p.sum.Write(text) // never fails
	var l legacyLine
	if err := strictly(text, &l); err != nil {
		return err
	}
	one := line{Entry: l.Entry, Extent: l.Extent}
	switch {
	case l.Sum != "", (l.Entry == nil) == (l.Extent == nil):
		return errors.New("line is neither an entry nor an extent")
	case one.decodeTexts() != nil:
		return errors.New("invalid base64 text")
	case l.Extent != nil && l.Extent.Length >= 0:
		c.extents = append(c.extents, pipeline.Extent(*l.Extent))
	case l.Entry != nil && l.Entry.valid():
		e := *l.Entry
		text, err := lineOf(e)
		if err != nil {
			return err
		}
		c.put = append(c.put, item{e.Source, e.ID, text})
	default:
		return errNumbers
	}
	return nil
}

// end reads the checksum, which must be the last line.
func (p *legacyParser) end() error {
	want := fmt.Sprintf("{\"xxh3\":\"%016x\"}\n", p.sum.Sum64())
	text, err := p.next()
	switch {
	case err != nil:
		return err
	case string(text) != want:
		return errors.New("checksum mismatch")
	}
	if _, err := p.br.ReadByte(); err != io.EOF {
		return errors.New("unexpected data after the end")
	}
	return nil
}

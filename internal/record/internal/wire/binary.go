// Package wire reads binary records, which state the lengths of their parts: messages in
// Avro, MessagePack and Protocol Buffers, and entries of the systemd journal.
package wire

import (
	"errors"

	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// checkBinary returns the errors in c for a format of binary records.
func checkBinary(c *locate.Settings) error {
	return errors.Join(c.RefuseDialect(), c.RefuseReferer(), c.RefuseBaseField(), c.RefuseBaseHost(""), c.RefuseExtend(), c.RefuseResizing("fields"))
}

// parsePath parses c.URLField for a format whose arrays have no named elements.
func parsePath(c *locate.Settings, format string) ([]jsonlines.Step, error) {
	if c.URLField == "" {
		return nil, locate.Wrong("URLField", "missing: "+format+" needs the path of the field with the URL, such as url or request.uri")
	}
	path, err := jsonlines.ParsePath(c.URLField)
	if slices.ContainsFunc(path, func(s jsonlines.Step) bool { return s.Pair != "" }) {
		err = errors.New("brackets must hold the index of an element in the format " + format + ", such as [0]")
	}
	return path, locate.About("URLField", err)
}

// binaryFraming implements [locate.LengthFraming], and Next of [locate.Reader], for files of
// binary records that follow each other without a separator. After damage no
// later record can be found: the rest of the file is one damaged record. Embed
// it in a Reader.
type binaryFraming struct {
	// span returns the length of the first record of block: 0 if block ends
	// within the record, and -1 if block cannot begin with a record.
	span func(block []byte) int
	// length is Length of [locate.LengthFraming].
	length func(block []byte) int64
}

// Cut implements [locate.Framing].
func (f binaryFraming) Cut(block []byte) int {
	for at := 0; ; {
		n := 0
		if at < len(block) {
			n = f.span(block[at:])
		}
		if n <= 0 {
			return at
		}
		at += n
	}
}

// Head implements [locate.Framing].
func (binaryFraming) Head([]byte) int { return 0 }

// Next implements [locate.Reader].
func (f binaryFraming) Next(in []byte) int {
	if len(in) > 0 {
		if n := f.span(in); n > 0 {
			return n
		}
	}
	return len(in)
}

// Span implements [locate.LengthFraming].
func (f binaryFraming) Span(block []byte, last bool) (n int, sound bool) {
	if len(block) == 0 {
		return 0, true
	}
	n = f.span(block)
	switch {
	case n > 0:
		return n, true
	case last:
		return len(block), false
	}
	return 0, n == 0
}

// Length implements [locate.LengthFraming].
func (f binaryFraming) Length(block []byte) int64 { return f.length(block) }

// Ends implements [locate.LengthFraming]. The last byte of a record can be
// anything.
func (binaryFraming) Ends([]byte) bool { return true }

// Resync implements [locate.LengthFraming]. There is nothing to look for.
func (binaryFraming) Resync(block []byte) (n int, found bool) { return len(block), false }

// Incomplete implements [locate.LengthFraming].
func (f binaryFraming) Incomplete(block []byte) bool { return len(block) > 0 && f.span(block) == 0 }

// Multiline implements [locate.LineCounter]: records have no lines.
func (binaryFraming) Multiline() {}

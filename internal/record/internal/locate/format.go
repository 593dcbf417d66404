package locate

import (
	"bytes"
)

// Format describes one record format, such as CSV. A Format must be immutable
// and safe for concurrent use.
//
// To add a built-in format, add a file to the package of its family and a line to the table
// formats.Builtin. record.Config.Formats holds formats of other modules.
type Format interface {
	// Name returns the value of Config.Format that selects the format: "jsonl".
	Name() string
	// Detect reports how well the format fits the records of a sample.
	Detect(s *Sample) Fit
	// Open returns a Reader for the target, fields and dialect in c. The error
	// joins a *ConfigError for each invalid setting. Open must reject fields of
	// c that are set but have no meaning for the format.
	Open(c *Settings) (Reader, error)
}

// Reader splits a stream into records and creates Locators, which find the URLs
// in them. It retains none of the bytes that it reads and is safe for
// concurrent use.
type Reader interface {
	Framing
	// Next returns the length of the first record of in, including its line
	// end. in must hold whole records, except that the last record may lack its
	// line end; for that record Next returns len(in).
	Next(in []byte) int
	// Locator returns a new Locator, for use by one goroutine.
	Locator() Locator
}

// Locator finds the URLs in records. It owns its scratch memory and is not safe
// for concurrent use.
type Locator interface {
	// Locate adds the URLs and other parts of rec to f. The caller passes an
	// empty f, and a rec without its line end that is not blank. If rec does
	// not match the format, Locate returns the reason and the offset in rec at
	// which the match failed. It does not retain rec or at.
	Locate(f *Found, rec []byte, at *Position) (Reason, int)
}

// Adder is implemented by Locators whose records have room for more fields,
// which RenderExtend adds. The format reads the names of these fields from
// Config.Extend.
type Adder interface {
	// AddFields appends rec with a value for each extension.
	AddFields(out, rec []byte, more Addition) []byte
	// AddNames appends a record that is passed through, such as a header, with
	// the names of the extensions.
	AddNames(out, rec []byte) []byte
}

// Addition holds what is added to a record. Its methods return values that are valid until
// the next call.
type Addition interface {
	// AppendMember appends the value of extension number i as a member of a
	// JSON object, and a comma. The name of the member is "", or "_b64" if the
	// value is in base64. The caller writes the name of the extension instead.
	// AppendMember appends nothing for an absent value.
	AppendMember(dst []byte, i int) []byte
	// Text returns the value of extension number i; nil if it is absent.
	Text(i int) []byte
	// Note returns the value of Config.Note, and its member, or nil.
	Note() (value, member []byte)
	// AppendPart appends rec[from:to], with the values that the job hides
	// replaced by stars.
	AppendPart(dst, rec []byte, from, to int) []byte
}

// Director is implemented by Readers of streams with directives, which change
// how the records after them are read. Position.Head gives each record the
// directive in force: the last directive in earlier records or, without such a
// directive, the head of the stream.
type Director interface {
	// Directive returns the directive in force after block, which holds whole
	// records, if head was in force at its start; head is nil at the start of a
	// stream or message. Directive returns nil if block contains no directive.
	// The result may point into block. It is itself a block from which
	// Directive returns the same bytes, given a nil head.
	Directive(head, block []byte) []byte
}

// HeadChecker is implemented by Readers of streams with a header record, which
// must have the columns that the job names. See Job.CheckHead.
type HeadChecker interface{ CheckHead(head []byte) error }

// Validator is implemented by Readers that can detect more damage than their
// Locators, which stop reading a record as soon as they have what they need.
// See Job.NewFit.
type Validator interface{ Valid(rec []byte) bool }

// Abridger is implemented by Readers of records that are too long to show in
// full. Shown returns the part of rec to show, without a line end.
type Abridger interface{ Shown(rec []byte) []byte }

// Keyed is implemented by Readers of indexes that are sorted by a key made from
// the URL, which rewriting does not change. See Job.Notice.
type Keyed interface{ IndexKeys() }

// LineCounter is implemented by Readers whose records can take more or less
// than one line.
type LineCounter interface{ Multiline() }

// Rowed is implemented by Readers whose records are rows of a table, so that a blank one
// is a record without a URL.
type Rowed interface{ Rows() }

// LineFraming implements the methods of [Framing], and Next of [Reader], for
// records that are lines. A hole before a line (see [HoleLen]) is a record of
// its own for Cut and Next. Embed it in a Reader of such records.
type LineFraming struct{}

// Cut implements [Framing].
func (LineFraming) Cut(block []byte) int {
	n := bytes.LastIndexByte(block, '\n') + 1
	return n + CutHole(block[n:])
}

// Head implements [Framing].
func (LineFraming) Head([]byte) int { return 0 }

// Next implements [Reader].
func (LineFraming) Next(in []byte) int {
	if n := HoleLen(in); n > 0 {
		return n
	}
	if n := bytes.IndexByte(in, '\n') + 1; n > 0 {
		return n
	}
	return len(in)
}

// BinaryReader is implemented by Readers of binary records. Such records have
// no line ends, and a message holds exactly one record. A field with the length
// of a URL precedes each URL. If a URL becomes longer or shorter, this field
// changes, and so do the length fields of all values that contain the URL.
type BinaryReader interface {
	// AppendLength appends the length n in the encoding of field, a length field
	// of a record.
	AppendLength(dst, field []byte, n int) []byte
}

// MessageReader is implemented by Readers of records that occur only in
// messages.
type MessageReader interface{ MessagesOnly() }

// Extractor is implemented by Readers of documents, whose records have any
// number of URLs among other text. The fields line and offset give the
// position of the URL itself, and records cannot be rewritten.
type Extractor interface{ Extracts() }

// PrefixSeparator is between the names of a prefix and of a format.
const PrefixSeparator = "+"

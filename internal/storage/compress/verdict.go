package compress

import "fmt"

// A Kind is the kind of a [Verdict]. The zero value is OK.
type Kind uint8

// The kinds of verdicts. All except OK and TrailingGarbage are damage.
const (
	OK                  Kind = iota
	TrailingGarbage          // a warning: zero padding after the last member
	Truncated                // the file ends inside a member
	BadCRC                   // the data was decoded, but a checksum or length does not match
	Corrupt                  // the compressed data is invalid
	Limit                    // a limit was exceeded: Detail names the limit and its option
	UnsupportedEncoding      // the text is UTF-16 or UTF-32
	UnsupportedFormat        // the format is not supported
	OpenQuote                // a quoted cell of a table does not end; Offset is in the text
	Unreadable               // the file could not be opened or read: Detail is the system's error
)

var kindNames = [...]string{
	OK: "ok", TrailingGarbage: "trailing-garbage", Truncated: "truncated", BadCRC: "bad-crc", Corrupt: "corrupt", Limit: "limit",
	UnsupportedEncoding: "unsupported-encoding", UnsupportedFormat: "unsupported-format", OpenQuote: "open-quote", Unreadable: "unreadable",
}

// String returns the name of the kind in reports, such as "bad-crc".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Verdict is the result of reading a whole stream. The zero Verdict describes
// an intact plain file.
type Verdict struct {
	Kind   Kind
	Format Format

	// Offset is a byte offset in the compressed file: the end of a truncated
	// file, the trailer with the wrong CRC, the first byte after the last
	// complete member if foreign bytes or padding follow it, the invalid symbol
	// of a gzip member, and otherwise the position of the decoder. A decoder
	// that reads ahead (zstd with Concurrency above 1) may be some blocks
	// beyond the damaged one.
	Offset int64

	// Cut reports whether the stream ended early: its last record may be
	// incomplete.
	Cut bool

	// Detail is an explanation for people. It may be empty.
	Detail string
}

// Damage reports whether some of the data is missing or may be wrong.
func (v Verdict) Damage() bool { return v.Kind > TrailingGarbage }

// Unknown reports whether the format or encoding of the stream is not supported, so that
// nothing is known about its integrity.
func (v Verdict) Unknown() bool { return v.Kind == UnsupportedFormat || v.Kind == UnsupportedEncoding }

// Refused reports whether none of the stream is read: its format is not known, or the
// magic number that its name promises is not there.
func (v Verdict) Refused() bool { return v.Unknown() || v.Kind == Corrupt && v.Format == Plain }

// String returns a line such as "truncated at byte 1234: …".
func (v Verdict) String() string {
	if v.Kind == OK {
		return v.Kind.String()
	}
	s := fmt.Sprintf("%v at byte %d", v.Kind, v.Offset)
	if v.Detail != "" {
		s += ": " + v.Detail
	}
	return s
}

// merge returns the verdict on a stream with the earlier verdict v and the
// later verdict w. The first finding has priority, with two exceptions: damage
// outranks a warning, and the end of the stream outranks an earlier wrong
// checksum, which Detail then mentions.
func (v Verdict) merge(w Verdict) Verdict {
	switch {
	case v.Kind == OK:
		return w
	case w.Damage() && !v.Damage():
		return w
	case w.Damage() && w.Cut && !v.Cut:
		w.Detail = join(w.Detail, "preceded by "+v.String())
		return w
	}
	return v
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// A finding is a Verdict in the form of an error, as decoders return it.
type finding struct{ Verdict }

func (f *finding) Error() string { return f.String() }

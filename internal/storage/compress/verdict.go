package compress

import "fmt"

// A Kind is what a [Verdict] says. The zero value is OK.
type Kind uint8

// The kinds of verdicts. All but OK and TrailingGarbage are damage.
const (
	OK                  Kind = iota
	TrailingGarbage          // a warning: zero padding or foreign bytes after a complete member
	Truncated                // the file ends inside a member
	BadCRC                   // all was decoded, and a checksum or length that goes with it is wrong
	Corrupt                  // the compressed data make no sense
	Limit                    // a limit was met: Detail names it and its flag
	UnsupportedEncoding      // the text is UTF-16 or UTF-32
	UnsupportedFormat        // a format that is not read, or a name that promises one
	Unreadable               // the file could not be opened or read: Detail is the system's reason
)

var kindNames = [...]string{
	OK: "ok", TrailingGarbage: "trailing-garbage", Truncated: "truncated", BadCRC: "bad-crc", Corrupt: "corrupt", Limit: "limit",
	UnsupportedEncoding: "unsupported-encoding", UnsupportedFormat: "unsupported-format", Unreadable: "unreadable",
}

// String returns the kind as it appears in reports, such as "bad-crc".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Verdict is what was found out about a stream by reading it to its end. The
// zero Verdict is that of a sound plain file.
type Verdict struct {
	Kind   Kind
	Format Format

	// Offset says where in the compressed file, in bytes: the end of the file if
	// it is truncated, the trailer that holds a wrong CRC, the first byte after
	// the last complete member if garbage follows, the symbol of a gzip member that
	// makes no sense, else how far the decoder had read. A decoder that works ahead (zstd with Concurrency above 1) may have
	// read some blocks more than the damaged one.
	Offset int64

	// Cut says that the stream ended before its end: the last record may be
	// incomplete.
	Cut bool

	// Detail is for people. It is empty if there is nothing to add.
	Detail string
}

// Damage reports whether something is missing, or may be wrong, in what was read.
func (v Verdict) Damage() bool { return v.Kind > TrailingGarbage }

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

// merge returns the verdict on a stream that was judged v before and w now. The
// first finding stays, but damage outranks a warning, and where the stream ended
// outranks a wrong checksum before that place, which is then told in Detail.
func (v Verdict) merge(w Verdict) Verdict {
	switch {
	case v.Kind == OK:
		return w
	case w.Damage() && !v.Damage():
		return w
	case w.Damage() && w.Cut && !v.Cut:
		w.Detail = join(w.Detail, "before that "+v.String())
		return w
	case v.Kind == BadCRC && w.Kind == TrailingGarbage:
		// What looks like garbage may be data: a changed byte can end a member early.
		v.Cut = true
		v.Detail = join(v.Detail, "then "+w.String())
	}
	return v
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// A finding is a Verdict on its way up through Read.
type finding struct{ Verdict }

func (f *finding) Error() string { return f.String() }

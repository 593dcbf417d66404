package locate

import "github.com/urlfold/urlfold/codec"

// Reason says why a record was rejected. The zero Reason means that it was not.
// The values below firstReason are the values of codec.Error: the record has a
// URL that the codec cannot parse. Values without a name are never used.
type Reason uint8

// firstReason is the first Reason that is not an error of the codec. The
// numbers below it leave room for more errors of the codec.
const firstReason = 32

// Reasons that are not errors of the codec.
const (
	Unparsed     Reason = firstReason + iota // the record does not match the format
	NoField                                  // the record lacks the configured field
	TooLong                                  // the record exceeds the length limit
	Panic                                    // the codec panicked on the record
	Refused                                  // a sink permanently refused the output
	Flagged                                  // a URL has a flag that the job rejects
	NotHTTP                                  // a URL has a scheme other than http and https, and the job rejects that
	NoSchema                                 // there is no schema with the id of the record
	FirstRefused                             // the record is a duplicate, and a sink refused the first record of its key
	ColumnCount                              // the record has more fields than columns, so that some are in the wrong column
	Unreadable                               // the record names an input that cannot be read
	NumReasons
)

// String returns the reason as it appears in output, such as "unparsed" or
// "host-invalid".
func (r Reason) String() string {
	switch r {
	case Unparsed:
		return "unparsed"
	case NoField:
		return "field-missing"
	case TooLong:
		return "record-too-long"
	case Panic:
		return "panic"
	case Refused:
		return "refused"
	case Flagged:
		return "flagged"
	case NotHTTP:
		return "scheme-not-http"
	case NoSchema:
		return "schema-unknown"
	case FirstRefused:
		return "first-refused"
	case ColumnCount:
		return "column-count"
	case Unreadable:
		return "input-unreadable"
	}
	return codec.Error(r).Name()
}

// IsMisfit reports whether the reason means that the record does not match the format.
// The offset that comes with the reason is then the offset of the mismatch.
func (r Reason) IsMisfit() bool { return r == Unparsed || r == ColumnCount }

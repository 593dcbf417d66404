package record

import "github.com/urlfold/urlfold/codec"

// A Reason says why a record was rejected. The zero Reason means that it was
// not. Up to the last codec.Error, a Reason is that error: the URL was found but
// has no reading.
type Reason uint8

// The reasons that are not errors of the codec.
const (
	Unparsed Reason = Reason(codec.ErrKey) + 1 + iota // the record is not of the format
	NoField                                           // it has no field of the name given
	TooLong                                           // longer than the record limit
	Panic                                             // the codec failed on it
	Refused                                           // a sink refused for good what was made of it
	Flagged                                           // a URL has a flag that the job rejects
	NotHTTP                                           // a URL has another scheme than http and https, and the job rejects it
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
	}
	return codec.Error(r).Name()
}

package record

import "github.com/urlfold/urlfold/internal/record"

// Reason says why a record or a URL cannot be read. It is the value of the
// output field error, such as "unparsed" or "host-invalid". The empty Reason
// means that it can be read.
type Reason string

// Reasons that concern a record. codec.Error defines the others, which concern
// a URL.
const (
	Unparsed Reason = "unparsed"        // the record does not match the format; with more fields than columns, it has the Reason "column-count" instead
	NoField  Reason = "field-missing"   // the record lacks the configured field
	TooLong  Reason = "record-too-long" // the record exceeds the limit
	NoSchema Reason = "schema-unknown"  // no Avro schema has the id of the record
)

// Target selects the URLs of a request.
type Target uint8

// Targets. Formats without referers refuse TargetReferer. In formats without
// requests, TargetRequest and TargetAll select the URLs of the record.
const (
	TargetRequest Target = iota // the target of the request line
	TargetReferer               // the referer
	TargetAll                   // the request, then the referer
)

// ParseTarget returns the target with the given name: request, referer or all.
func ParseTarget(name string) (Target, error) {
	t, err := record.ParseTarget(name)
	return Target(t), err
}

// String returns the name of the target.
func (t Target) String() string { return record.Target(t).String() }

// MarshalText implements encoding.TextMarshaler: the name.
func (t Target) MarshalText() ([]byte, error) {
	_, err := ParseTarget(t.String())
	return []byte(t.String()), err
}

// UnmarshalText implements encoding.TextUnmarshaler. It accepts the names that
// ParseTarget accepts.
func (t *Target) UnmarshalText(text []byte) error {
	parsed, err := ParseTarget(string(text))
	if err == nil {
		*t = parsed
	}
	return err
}

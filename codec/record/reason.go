package record

// Reason says why a record or a URL cannot be read. It is the value of the
// output field error, such as "unparsed" or "host-invalid". The empty Reason
// means that the record or URL can be read.
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

var targetNames = []string{"request", "referer", "all"}

// String returns the name of the target.
func (t Target) String() string { return nameOf(targetNames, t) }

// MarshalText implements encoding.TextMarshaler: the name.
func (t Target) MarshalText() ([]byte, error) {
	_, err := parse("target", targetNames, t.String())
	return []byte(t.String()), err
}

// UnmarshalText implements encoding.TextUnmarshaler. The error for an unknown
// name is a *codec.NameError.
func (t *Target) UnmarshalText(text []byte) error {
	i, err := parse("target", targetNames, string(text))
	if err == nil {
		*t = Target(i)
	}
	return err
}

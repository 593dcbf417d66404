package connect

import (
	"slices"

	"github.com/urlfold/urlfold/config/field"
)

// Headers selects the headers of messages. The sinks for brokers embed it.
type Headers struct {
	// Which headers to set on messages. input: the headers of the message that
	// contained the record. flags: urlfold-flags, the flags of the record's
	// URLs, if there are any. source: urlfold-source, the origin of the record
	// as LANE/POSITION, which is topic/partition/offset or file:offset.
	Headers []string `yaml:"headers" enum:"input,flags,source"`
	// Additional headers, the same for all messages, such as {team: web}.
	AddHeaders map[string]string `yaml:"add_headers"`
}

// DefaultHeaders returns the default headers.
func DefaultHeaders() Headers { return Headers{Headers: []string{"input"}} }

// Has reports whether a kind of header is set.
func (h *Headers) Has(kind string) bool { return slices.Contains(h.Headers, kind) }

// Validate checks that each added header has a name that brokers accept.
func (h *Headers) Validate() error {
	if _, nameless := h.AddHeaders[""]; nameless {
		return field.Wrong("add_headers.", "header name must not be empty")
	}
	return nil
}

package codec

import "github.com/urlfold/urlfold/codec/internal/idna"

// A Standard selects the standard by which a URL is parsed. The zero Standard
// is WHATWG.
type Standard uint8

// The standards.
const (
	WHATWG  Standard = iota // the WHATWG URL Standard, which browsers implement
	RFC3986                 // RFC 3986, applied to the raw bytes
)

var standardNames = []string{"whatwg", "rfc3986"}

// String returns the name used in output, "rfc3986" or "whatwg", or "unknown".
func (std Standard) String() string { return nameOf(std, standardNames) }

// The editions of standards that this package implements.
const (
	SpecDate       = "2026-07-02"        // of the WHATWG URL Standard. Not covered by the stability page.
	UnicodeVersion = idna.UnicodeVersion // of the data of hosts (UTS 46) and of normalization form C. Not covered by the stability page.
)

package field

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a text that must not be printed, logged or marshaled. Every way
// of formatting it yields "***", or "" if it is empty. Only Reveal returns the
// text.
type Secret string

const mask = "***"

// Reveal returns the text. The caller must not log it or put it in an error.
func (s Secret) Reveal() string { return string(s) }

// String returns "***", or "" for the empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString returns what String returns.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns what String returns, quoted.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

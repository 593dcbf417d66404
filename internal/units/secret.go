package units

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a text that is never printed, logged or marshaled: every way to
// show it gives "***", or "" if there is none. Reveal alone gives the text.
type Secret string

const mask = "***"

// Reveal returns the text. The caller hands it to whom it is for, and to nobody
// else.
func (s Secret) Reveal() string { return string(s) }

// String returns "***", or "" for the empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns what String does, quoted.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

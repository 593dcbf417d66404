package connect

import (
	"errors"
	"strings"
	"time"
)

// A Start says where the source of a broker starts if it has no stored
// position. The zero Start is earliest.
type Start struct {
	Latest bool
	At     time.Time // if not zero
}

const timestampPrefix = "timestamp:"

// UnmarshalText parses earliest, latest and timestamp:<RFC 3339>.
func (s *Start) UnmarshalText(text []byte) error {
	switch t := string(text); {
	case t == "earliest":
		*s = Start{}
	case t == "latest":
		*s = Start{Latest: true}
	case strings.HasPrefix(t, timestampPrefix):
		at, err := time.Parse(time.RFC3339, t[len(timestampPrefix):])
		if err != nil {
			return errors.New(`invalid timestamp: must have the form "timestamp:2026-11-01T00:00:00Z"`)
		}
		*s = Start{At: at}
	default:
		return errors.New(`must be "earliest", "latest" or "timestamp:2026-11-01T00:00:00Z"`)
	}
	return nil
}

// MarshalText returns the text that UnmarshalText parses.
func (s Start) MarshalText() ([]byte, error) {
	switch {
	case s.Latest:
		return []byte("latest"), nil
	case s.At.IsZero():
		return []byte("earliest"), nil
	}
	return []byte(timestampPrefix + s.At.UTC().Format(time.RFC3339Nano)), nil
}

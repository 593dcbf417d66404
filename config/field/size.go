package field

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes. As text it is a number and a unit: "128KiB".
type Size int64

// The binary units.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

// String returns the size in the largest binary unit that divides it: "128KiB",
// "1000" for 1000 bytes. UnmarshalText accepts the result.
func (s Size) String() string {
	n, unit := s, ""
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return strconv.FormatInt(int64(n), 10) + unit
}

// MarshalText returns what String returns.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what ParseSize accepts. On error, s keeps its value.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := ParseSize(string(text))
	if err == nil {
		*s = n
	}
	return err
}

// multiples maps units to bytes. The names with an i stand for powers of 1024, SI
// names for powers of 1000. A single letter could mean either, so it is an error.
var multiples = map[string]float64{
	"": 1, "b": 1,
	"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// SizePattern is a regular expression that a JSON Schema can use for sizes. It
// matches most of what ParseSize accepts.
const SizePattern = `^[0-9]+(\.[0-9]+)? *([kKmMgGtT]([iI][bB]?|[bB])|[bB])?$` // Not covered by the stability page.

var errSize = errors.New("must be a size: a number and a unit, such as 64KiB, 1.5Mi or 10GB")

// ParseSize parses a size in bytes, such as "64Ki", "1.5 MiB" or "10GB". It
// drops fractions of a byte. The error does not repeat the text.
func ParseSize(s string) (Size, error) {
	digits := strings.TrimRight(s, "bBiIkKmMgGtT ")
	unit, ok := multiples[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, errSize
	}
	if n *= unit; n > 1<<60 {
		return 0, errors.New("must be at most 1024 PiB")
	}
	return Size(n), nil
}

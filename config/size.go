package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes. A single letter counts in powers of 1024, as
// the names with an i do; those of the SI count in powers of 1000.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

var errSize = errors.New("a size is a number and a unit, such as 64k, 1.5MiB or 10GB")

// ParseSize reads a size in bytes, such as "64k", "1.5 MiB" or "10GB". Fractions
// of a byte are cut off. The error does not repeat the text.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "bBiIkKmMgGtT ")
	unit, ok := sizeUnits[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, errSize
	}
	if n *= unit; n > 1<<60 {
		return 0, errors.New("the size is above 1024 PiB")
	}
	return int64(n), nil
}

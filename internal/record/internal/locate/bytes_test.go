package locate

import (
	"bytes"
	"testing"
)

// TestAllDigits compares AllDigits with a loop, for texts with and without room after
// them.
func TestAllDigits(t *testing.T) {
	for n := range 30 {
		digits := bytes.Repeat([]byte("09123456789"), 3)[:n]
		for bad := -1; bad < n; bad++ {
			for _, c := range []byte{'/', ':', 0, 0x80, 0xB0, '0'} {
				s := bytes.Clone(digits)
				if bad >= 0 {
					s[bad] = c
				}
				want := n > 0 && (bad < 0 || c == '0')
				tight, roomy := s[:n:n], append(bytes.Clone(s), "xxxxxxxx"...)[:n]
				if AllDigits(tight) != want || AllDigits(roomy) != want {
					t.Fatalf("allDigits(%q) = %v, %v, want %v", s, AllDigits(tight), AllDigits(roomy), want)
				}
			}
		}
	}
}

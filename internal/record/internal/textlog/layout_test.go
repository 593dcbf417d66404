package textlog

import "testing"

func TestAddressEnd(t *testing.T) {
	f := func(s string, want int) {
		t.Helper()
		if got := addressEnd([]byte(s), 0); got != want {
			t.Errorf("addressEnd(%q) is %d, want %d", s, got, want)
		}
	}
	f("[2001:db8::1]:443", len("[2001:db8::1]"))
	f("2001:db8::1:443 -", len("2001:db8::1"))
	f("2001:db8::1: -", len("2001:db8::1"))
	for _, s := range []string{"", "[", "[::1", "[::1]", "[::1] :", "[x]:", "192.0.2.1:443", "h:443", "fe:443", "::1", "[22/Nov/2026:10"} {
		f(s, 0)
	}
}

package config

import "testing"

func TestParseSize(t *testing.T) {
	f := func(text string, want int64) {
		t.Helper()
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	f("0", 0)
	f("17", 17)
	f("64k", 64<<10)
	f("64K", 64<<10)
	f("64KiB", 64<<10)
	f("64kB", 64000)
	f("1.5 MiB", 3<<19)
	f("2g", 2<<30)
	f("10GB", 10e9)
	f("1t", 1<<40)
	f("5b", 5)
	for _, text := range []string{"", "k", "1q", "-1", "1e400", "NaN", "inf", "1kk", "0x10", "9999999999t"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, n)
		}
	}
}

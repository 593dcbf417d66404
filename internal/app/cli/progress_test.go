package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/urlfold/urlfold/sources/file"
)

func TestFormatRate(t *testing.T) {
	for n, want := range map[int64]string{999: "999", 48_500: "48k", 1_250_000: "1.2M", 12_500_000: "12M"} {
		if got := formatRate(n); got != want {
			t.Errorf("formatRate(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestProgressLine checks that a text replaces the last one, longer or shorter, and that
// nothing is left of it.
func TestProgressLine(t *testing.T) {
	var out bytes.Buffer
	line := progressLine{w: &out, width: 10}
	line.clear() // nothing to clear
	for _, text := range []string{"ab", "0123456789x", "c"} {
		line.show(text)
	}
	line.clear()
	if want := "\rab\r0123456789\rc         \r \r"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestProgressText(t *testing.T) {
	f := func(want string, p file.Progress) {
		t.Helper()
		if got := progressText(p, 100_000, 2*time.Second); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("1/3 files, 25% of 4.0 MiB, 512 KiB/s, 50k records/s, 2s elapsed, 6s left",
		file.Progress{Files: 3, FilesDone: 1, Bytes: 4 << 20, BytesDone: 1 << 20, Known: true})
	f("2.0 MiB, 1.0 MiB/s, 50k records/s, 2s elapsed", file.Progress{Files: 1, BytesDone: 2 << 20})
	f("0% of 0 B, 0 B/s, 50k records/s, 2s elapsed", file.Progress{Files: 1, Known: true})
}

package cli

import (
	"bytes"
	"strings"
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

// The bar says how many files, bytes and records, and goes away.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := newBar(&out, file.Progress{Bytes: 4 << 20, Known: true})
	b.start = b.start.Add(-2 * time.Second)
	b.clear() // before it is drawn there is nothing to clear
	if out.Len() > 0 {
		t.Errorf("cleared %q", out.String())
	}
	b.draw(file.Progress{Files: 3, FilesDone: 1, Bytes: 4 << 20, BytesDone: 1 << 20, Known: true}, 100_000)
	text := out.String()
	for _, want := range []string{"1/3 files", "k records/s", "2s elapsed", "6s left", "25%", "MiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the bar lacks %q: %q", want, text)
		}
	}
	b.draw(file.Progress{Files: 1, BytesDone: 2 << 20}, 100_000)
	if text := out.String()[len(text):]; strings.Contains(text, "left") || strings.Contains(text, "%") || !strings.Contains(text, "MiB") {
		t.Errorf("nobody knows how much is to come: %q", text)
	}
	b.clear()
	if !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("the line is not cleared: %q", out.String())
	}
}

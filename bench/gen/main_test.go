package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"net/url"
	"regexp"
	"testing"
)

// The sets are part of the figures in docs/performance.md: whoever changes
// one must measure all of them again.
func TestSetsAreStable(t *testing.T) {
	want := map[string]string{
		"day":   "4753002c14a4b2ce",
		"clean": "808746e43cb0f264",
		"dirty": "6448e9a4b16ac896",
		"crawl": "4cf08b9442f22246",
	}
	for _, name := range setNames {
		h := sha256.New()
		if err := write(h, name, 1, false, size{lines: 10_000}); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil))[:16]; got != want[name] {
			t.Errorf("set %s: hash %s, want %s", name, got, want[name])
		}
	}
}

func TestSeedChangesSet(t *testing.T) {
	one, two := sha256.New(), sha256.New()
	for seed, w := range []io.Writer{one, two} {
		if err := write(w, "day", uint64(seed), false, size{lines: 100}); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(one.Sum(nil), two.Sum(nil)) {
		t.Error("seeds 0 and 1 give the same set")
	}
}

func TestSizes(t *testing.T) {
	var out bytes.Buffer
	if err := write(&out, "day", 1, true, size{bytes: 100_000}); err != nil {
		t.Fatal(err)
	}
	if n := out.Len(); n < 100_000 || n > 102_000 || out.Bytes()[n-1] != '\n' {
		t.Errorf("%d bytes, want 100,000 and the rest of a line", n)
	}
	if regexp.MustCompile(`"[A-Z]+ https?://`).Match(out.Bytes()) {
		t.Error("a target of -origin is in absolute form")
	}
	for _, bad := range []size{{}} {
		if err := write(io.Discard, "day", 1, false, bad); err == nil {
			t.Errorf("size %v: no error", bad)
		}
	}
	if err := write(io.Discard, "night", 1, false, size{lines: 1}); err == nil {
		t.Error("unknown set: no error")
	}
}

// TestShares compares the URLs of the day set with the shares that it promises.
func TestShares(t *testing.T) {
	shares := []struct {
		name string
		want float64 // in percent
		re   *regexp.Regexp
	}{
		{"capital in the host", 10, regexp.MustCompile(`^https?://[^/]*[A-Z]`)},
		{"default port", 4, regexp.MustCompile(`^http://[^/]*:80/|^https://[^/]*:443/`)},
		{"dot segment", 5, regexp.MustCompile(`/\.\.?/`)},
		{"double slash", 1.5, regexp.MustCompile(`[^:]//`)},
		{"escape", 36, regexp.MustCompile(`%`)},
		{"lower-case hex digits", 12, regexp.MustCompile(`%(?:[a-f][0-9a-f]|[0-9][a-f])`)},
		{"escape of an unreserved character", 7, regexp.MustCompile(`%(?:7E|2D|5F)`)},
		{"malformed percent-encoding", 1.4, regexp.MustCompile(`%(?:[^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)`)},
		{"raw non-ASCII character", 5, regexp.MustCompile(`[^\x00-\x7f]`)},
		{"query", 53, regexp.MustCompile(`\?`)},
		{"query over 150 bytes", 2, regexp.MustCompile(`\?[^#]{151}`)},
		{"campaign parameter", 15, regexp.MustCompile(`[?&]utm_`)},
		{"click id", 3, regexp.MustCompile(`[?&](?:gclid|fbclid|msclkid)=`)},
		{"fragment", 6, regexp.MustCompile(`#`)},
		{"internationalized host", 0.5, regexp.MustCompile(`(?i)://(?:[^/]*\.)?xn--`)},
		{"IPv6 host", 0.3, regexp.MustCompile(`://\[`)},
	}
	const lines = 100_000
	w := newWeb(1)
	found := make([]int, len(shares))
	for range lines {
		a := w.visit().appendTo(nil)
		for i, s := range shares {
			if s.re.Match(a) {
				found[i]++
			}
		}
	}
	for i, s := range shares {
		if got := 100 * float64(found[i]) / lines; math.Abs(got-s.want) > max(0.2, 0.12*s.want) {
			t.Errorf("%s: %.2f %% of the URLs, want %.1f %%", s.name, got, s.want)
		}
	}
}

// TestClean checks that the URLs of the clean set parse, and that nothing in
// them has a shorter spelling for net/url.
func TestClean(t *testing.T) {
	w := newWeb(1)
	for range 10_000 {
		text := string(w.visitClean().appendTo(nil))
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if u.JoinPath().String() != text && u.String() != text {
			t.Errorf("%s: net/url writes %s", text, u)
		}
	}
}

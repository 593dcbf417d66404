package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestFit(t *testing.T) {
	p, _ := codec.Lookup("logclean")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format, rec string
		want        bool
	}{
		{"lines", "http://h/a\n", true},
		{"lines", "http://h/a", true},
		{"lines", "\n", true},
		{"lines", "http://h/\x01\n", false},
		{"lines", "http://h/\x00", false},
		{"combined", `1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326 "-" "-"` + "\n", true},
		{"combined", `1.2.3.4 - - [10/Oct/2000:13 -0700] 200 2326 GET` + "\n", false},
		{"jsonl", `{"url":"http://h/"}`, true},
		{"jsonl", `{"url":"http://h/"`, false},
	} {
		cfg := Config{Format: c.format, Normalizer: n}
		if c.format == "jsonl" {
			cfg.URLField = "url"
		}
		j, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		fits := j.NewFit(nil)
		for range 2 { // it keeps no state
			if got := fits([]byte(c.rec)); got != c.want {
				t.Errorf("%s, %q: %v, want %v", c.format, c.rec, got, c.want)
			}
		}
	}
}

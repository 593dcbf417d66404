package record

import (
	"strings"
	"testing"
)

// TestByteOrderMark: a mark at the start of a stream does not belong to the
// first record. Rewriting keeps it.
func TestByteOrderMark(t *testing.T) {
	const mark = "\uFEFF"
	for _, c := range []struct{ format, field, in, out string }{
		{"lines", "", "http://H/a/../b\n", "http://h/b\n"},
		{"text", "", "see http://H/a/../b.\n", ""},
		{"jsonl", "url", `{"url":"http://H/a/../b"}` + "\n", `{"url":"http://h/b"}` + "\n"},
		{"csv", "2", "1,http://H/a/../b\n", "1,http://h/b\n"},
		{"logfmt", "url", "url=http://H/a/../b x=1\n", "url=http://h/b x=1\n"},
		{"clf", "", `1.2.3.4 - - [21/Nov/2026:06:25:00 +0100] "GET /a/../b HTTP/1.1" 200 5` + "\n", `1.2.3.4 - - [21/Nov/2026:06:25:00 +0100] "GET /b HTTP/1.1" 200 5` + "\n"},
	} {
		config := Config{Format: c.format, URLField: c.field, Normalizer: newNormalizer(t, "equiv")}
		if c.out == "" {
			config.Render, c.out = RenderURLs, "http://h/b\n"
		} else {
			c.out = mark + c.out
		}
		j, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		w, st := j.NewWorker(), Stats{}
		if out, _ := w.Append(nil, nil, []byte(mark+c.in), Position{Line: 1}, &st); string(out) != c.out {
			t.Errorf("%s: %q, want %q", c.format, out, c.out)
		}
		if g, ok := Detect([]byte(mark + strings.Repeat(c.in, 3))); c.format != "text" && (!ok || !strings.HasPrefix(g.Format, c.format)) && c.field == "" {
			t.Errorf("%s: detected %q", c.format, g.Format)
		}
		if config.Render == RenderRewrite && (c.format == "jsonl" || c.format == "csv") {
			checkMarkExtended(t, config, mark+c.in)
		}
		// Elsewhere it is part of a record.
		if out, _ := w.Append(nil, nil, []byte(mark+"\n"), Position{Line: 2, Off: 100}, &st); config.Render == RenderRewrite && string(out) != mark+"\n" {
			t.Errorf("%s: %q", c.format, out)
		}
	}
}

// checkMarkExtended checks that a record with a byte order mark gets the same fields
// as one without.
func checkMarkExtended(t *testing.T, c Config, rec string) {
	t.Helper()
	c.Render, c.Extend = RenderExtend, []Extension{{Name: "n", Field: "norm"}}
	j, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var st Stats
	with, _ := j.NewWorker().Append(nil, nil, []byte(rec), Position{Line: 1}, &st)
	without, _ := j.NewWorker().Append(nil, nil, []byte(rec[3:]), Position{Line: 1}, &st)
	if string(with) != rec[:3]+string(without) {
		t.Errorf("%s: %q, without a byte order mark %q", c.Format, with, without)
	}
}

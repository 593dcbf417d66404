package record

import (
	"strings"
	"testing"
)

// TestHole checks that NULs in front of a line are no part of its record, that they
// are copied, and that nothing depends on how many bytes are read at a time.
func TestHole(t *testing.T) {
	const line = "192.0.2.1 - - [02/Nov/2026:06:25:00 +0100] \"GET /%7e HTTP/1.1\" 200 5 \"-\" \"curl/7\"\n"
	hole := strings.Repeat("\x00", 300)
	short := "\x00\x00" + line // part of the record
	for _, c := range []struct {
		in            string
		records, urls int64
		clients       string
	}{
		{hole + line + line, 2, 2, "192.0.2.1 192.0.2.1"},
		{line + hole + line, 2, 2, "192.0.2.1 192.0.2.1"},
		{line + hole + hole, 1, 1, "192.0.2.1"},
		{hole, 0, 0, ""},
		{short + hole + line + hole + "\n", 3, 2, "\x00\x00192.0.2.1 192.0.2.1"},
	} {
		holes := int64(strings.Count(c.in, hole) * len(hole))
		for _, size := range []int{1, 7, 100, 1 << 20} {
			got, st := readLines(t, Config{Format: "combined", Render: RenderRewrite, Normalizer: normalizers["equiv"]}, c.in, size)
			if want := strings.ReplaceAll(c.in, "%7e", "~"); got != want {
				t.Errorf("read %d bytes at a time:\n got %.400q\nwant %.400q", size, got, want)
			}
			if st.Records != c.records || st.URLs != c.urls || st.Hole != holes || !st.Balanced() {
				t.Errorf("%.400q, read %d bytes at a time: %d records, %d URLs, %d bytes of holes; want %d, %d, %d", c.in, size, st.Records, st.URLs, st.Hole, c.records, c.urls, holes)
			}
			got, _ = readLines(t, Config{Format: "combined", Render: RenderTSV, Fields: []string{"client"}, Normalizer: normalizers["equiv"]}, c.in, size)
			if got = strings.ReplaceAll(got, `\0`, "\x00"); strings.Join(strings.Fields(got), " ") != c.clients {
				t.Errorf("%.400q: clients %q, want %q", c.in, got, c.clients)
			}
		}
	}
	got, _ := readLines(t, Config{Format: "combined", Render: RenderTSV, Fields: []string{"line", "offset"}, Normalizer: normalizers["equiv"]}, hole+line+hole+line, 50)
	if want := "1\t300\n2\t682\n"; got != want {
		t.Errorf("positions %q, want %q", got, want)
	}
	const rows = "url,n\n\"http://h/%7ea\",1\n"
	for _, in := range []string{rows + hole + "\"http://h/%7eb\",2\n" + hole, rows + hole + "\"http://h/%7eb\",\"2\n3\"\n" + hole, rows + hole + "http://h/%7eb,2\n" + hole} {
		for _, size := range []int{1, 7, 100, 1 << 20} {
			got, st := readLines(t, Config{Format: "csv", URLField: "1", Render: RenderRewrite, Normalizer: normalizers["equiv"]}, in, size)
			if want := strings.ReplaceAll(in, "%7e", "~"); got != want || st.Hole != 600 || st.Changed != 2 || !st.Balanced() {
				t.Errorf("csv, read %d bytes at a time: %d bytes of holes, %d URLs changed, got %.500q", size, st.Hole, st.Changed, got)
			}
		}
	}
	for _, format := range []string{"lines", "jsonl", "logfmt"} {
		if got, st := readLines(t, Config{Format: format, URLField: fieldOf(format), Render: RenderRewrite, Normalizer: normalizers["equiv"]}, hole, 9); got != hole || st.Hole != 300 {
			t.Errorf("%s: %d bytes of %d, %d of holes", format, len(got), len(hole), st.Hole)
		}
	}
}

// fieldOf returns the configured field of a format that needs one.
func fieldOf(format string) string {
	if format == "jsonl" {
		return "url"
	}
	return ""
}

// readLines returns the output for in, of which size bytes more are read until they
// hold a whole record.
func readLines(t testing.TB, c Config, in string, size int) (string, Stats) {
	t.Helper()
	j := newJob(t, c)
	var out []byte
	var st Stats
	at := Position{Line: 1}
	for pos, end := 0, 0; pos < len(in); {
		end = min(end+size, len(in))
		n := j.Framing().Cut([]byte(in[pos:end]))
		if end == len(in) {
			n = end - pos
		}
		w := j.NewWorker()
		for block := []byte(in[pos : pos+n]); len(block) > 0; {
			rec := block[:w.Next(block)]
			out, _ = w.Append(out, nil, rec, at, &st)
			at.Off += int64(len(rec))
			at.Line += w.Lines(rec)
			block = block[len(rec):]
		}
		pos += n
	}
	return string(out), st
}

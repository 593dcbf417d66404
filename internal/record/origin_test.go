package record

import (
	"slices"
	"testing"
)

// TestOriginOfLastRecord reads each pair of records with one worker. The second
// must not get anything from the first.
func TestOriginOfLastRecord(t *testing.T) {
	const format = `$scheme $http_host $server_name $server_port "$request"`
	var lines []string
	for _, scheme := range []string{"-", "http", "https", "1"} {
		for _, hosts := range []string{"a.example -", "a.example:443 b.example", "a.example:80 -", "a/b b.example", "- b.example", "- -", "[::1]:8443 -", "[::1] -"} {
			for _, port := range []string{"-", "80", "443", "8443"} {
				lines = append(lines, scheme+" "+hosts+" "+port+` "GET /x/../%7e HTTP/1.1"`+"\n")
			}
		}
	}
	for _, base := range []string{"", "https://base.example/"} {
		job := newJob(t, Config{Format: format, Base: base, Render: RenderJSONL})
		read := func(w *Worker, line string) string {
			var st Stats
			out, _ := w.Append(nil, nil, []byte(line), Position{}, &st)
			return string(out)
		}
		want := make([]string, len(lines))
		for i, line := range lines {
			want[i] = read(job.NewWorker(), line)
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(want))); len(distinct) < 12 {
			t.Fatalf("base %q: only %d results differ", base, len(distinct))
		}
		w := job.NewWorker()
		for i, first := range lines {
			for j, second := range lines {
				if got := read(w, first); got != want[i] {
					t.Fatalf("base %q: %q\ngot  %s\nwant %s", base, first, got, want[i])
				}
				if got := read(w, second); got != want[j] {
					t.Fatalf("base %q: %q after %q\ngot  %s\nwant %s", base, second, first, got, want[j])
				}
			}
		}
	}
}

package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// manyURLs returns a record of the format text or protobuf with n URLs.
func manyURLs(format string, n int) []byte {
	var rec []byte
	for i := range n {
		url := fmt.Sprintf("http://h/%%7e%d", i)
		if format == "text" {
			rec = append(append(rec, url...), ' ')
		} else {
			rec = append(append(rec, 1<<3|2, byte(len(url))), url...)
		}
	}
	if format == "text" {
		return append(rec, '\n')
	}
	return append(binary.AppendUvarint(nil, uint64(len(rec))), rec...)
}

// TestExpansion checks that all URLs of a record are written, with the record as long as
// the output of the record stays below its limit.
func TestExpansion(t *testing.T) {
	const n, limit = 300, 200_000
	for _, format := range []string{"text", "protobuf"} {
		for _, render := range []Render{RenderJSONL, RenderTSV, RenderCSV, RenderParquet} {
			rec := manyURLs(format, n)
			c := Config{Format: format, URLField: map[string]string{"protobuf": "1"}[format], Render: render, Fields: []string{"url", "record", "flags"}, MaxExpansion: limit}
			out, _, st := runJob(t, newJob(t, c), rec)
			if st.URLs != n || st.Emitted != 1 {
				t.Fatalf("%s, %v: %+v", format, render, st)
			}
			omitted := st.Flags[codec.FlagRecordOmitted]
			if omitted == 0 || omitted > n-10 || len(out) > limit+n*200 || len(out) < limit/2 {
				t.Errorf("%s, %v: %d of %d URLs without the record, %d bytes", format, render, omitted, n, len(out))
			}
			if got := int64(bytes.Count(out, []byte("record-omitted"))); got != omitted {
				t.Errorf("%s, %v: %d URLs have the flag, want %d", format, render, got, omitted)
			}
			if !strings.Contains(string(out), fmt.Sprintf("http://h/%%7e%d", n-1)) {
				t.Errorf("%s, %v: the last URL is missing", format, render)
			}
			c.MaxExpansion = 0
			whole, _, st := runJob(t, newJob(t, c), append(rec, rec...))
			if st.Flags[codec.FlagRecordOmitted] != 0 || len(whole) < 2*n*len(rec)*9/10 {
				t.Errorf("%s, %v: %d bytes by default", format, render, len(whole))
			}
		}
	}
}

// TestExpansionMemory checks that the memory for a record with many URLs has a limit:
// with the default one, a line of 1 MB with 60,000 URLs became 60 GB.
func TestExpansionMemory(t *testing.T) {
	rec := manyURLs("text", 20_000)
	w := newJob(t, Config{Format: "text", Render: RenderJSONL, Fields: []string{"url", "record"}}).NewWorker()
	var st Stats
	out, _ := w.Append(nil, nil, rec, Position{}, &st)
	if most := 64<<20 + 20_000*urlOutput; cap(out) > most+most/4 || st.URLs != 20_000 {
		t.Errorf("%d bytes of memory for %d URLs", cap(out), st.URLs)
	}
}

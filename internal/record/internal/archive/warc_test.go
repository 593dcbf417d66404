package archive

import (
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestWARCIncomplete checks whether a stream ends inside its last record.
func TestWARCIncomplete(t *testing.T) {
	var f locate.LengthFraming = WARCReader{}
	const rec = "WARC/1.0\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
	for n := minWARCVersion; n <= len(rec); n++ {
		if got := f.Incomplete([]byte(rec[:n])); got != (n < len(rec)) {
			t.Errorf("%q: %t", rec[:n], got)
		}
	}
	if f.Incomplete([]byte("garbage")) || f.Length([]byte(rec[:20])) != 0 || f.Length([]byte(rec[:32])) != int64(len(rec)) {
		t.Error("garbage counts as a record, or a length is wrong")
	}
}

package escapechart

import (
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

// TestReserved compares the chart with the table of the document.
func TestReserved(t *testing.T) {
	if got, want := reserved(), "!#$&'()*+,/:;=?@[]"; got != want { // RFC 3986 §2.2
		t.Errorf("reserved bytes %q, want %q", got, want)
	}
	for _, standard := range percent.Standards() {
		ch, err := NewReserved(standard)
		if err != nil || len(ch.Rows) != len(reserved()) {
			t.Fatalf("%s: %d rows, %v", standard, len(ch.Rows), err)
		}
		for _, row := range ch.Rows {
			for i, cell := range row.Cells {
				if escape := string(percent.AppendEscape(nil, row.Char)); cell != escape && cell != string(row.Char) || cell != escape && percent.Delimiters(ch.Columns[i]) == "" {
					t.Errorf("%s, %s, %c: %s", standard, ch.Columns[i], row.Char, cell)
				}
			}
		}
	}
	if _, err := NewReserved("rfc2396"); err == nil {
		t.Error("NewReserved accepted rfc2396")
	}
}

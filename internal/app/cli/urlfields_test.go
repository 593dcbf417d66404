package cli

import "testing"

// TestColumnsMark checks that a byte order mark, which spreadsheets write, is
// not part of the name of the first column: the command line of check would
// name a column that the reader does not find.
func TestColumnsMark(t *testing.T) {
	for _, head := range []string{"\xEF\xBB\xBFAddress,Status\nhttp://h/,200\n", "\xEF\xBB\xBF\"Address\",\"Status\"\n\"http://h/\",\"200\"\n"} {
		fields := columns([]byte(head), ',')
		if got := urlField(fields); got != "Address" {
			t.Errorf("%q: column %q", head, got)
		}
	}
}

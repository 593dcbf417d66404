package table

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// FuzzTable checks that records and cells are those of encoding/csv, if that
// accepts the text.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n\"c\"\"\n,\",d\n")
	f.Add("\"\",\n1,\"2\"\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text, "\r", "") // encoding/csv changes it inside quotes
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		want, err := r.ReadAll()
		if err != nil {
			return
		}
		var got [][]string
		for b := []byte(text); len(b) > 0; {
			n, _ := rfc4180.recordEnd(b, true)
			body := locate.TrimEnd(b[:n])
			b = b[n:]
			if len(body) == 0 {
				continue // like encoding/csv
			}
			var cells []string
			for pos := 0; pos <= len(body); {
				s, enc, next, ok := rfc4180.cell(body, pos)
				if !ok {
					t.Fatalf("%q: rejected the cell at %d of %q", text, pos, body)
				}
				cellText, _, _ := enc.Unescape(nil, s.In(body), nil)
				cells = append(cells, string(cellText))
				pos = next
			}
			got = append(got, cells)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\n got %q\nwant %q", text, got, want)
		}
	})
}

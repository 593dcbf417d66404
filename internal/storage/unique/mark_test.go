package unique

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestNotes compares notes.write with rows that are rendered with the new notes,
// for values that are shorter and longer than the old one.
func TestNotes(t *testing.T) {
	forms := map[record.Render]string{
		record.RenderTSV: "x%dfalse\t%s\n", record.RenderJSONL: `{"url":"false%d","duplicate":%s}` + "\n",
		record.RenderCSV: "\"a\nb\"\"%d\",%s\r\n", record.RenderExtend: `{"n": %d, "duplicate": %s }` + " \n",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for render, form := range forms {
		n := &notes{render: render, old: "false"}
		for round := range 200 {
			var s engine.Stream
			var want strings.Builder
			records := r.IntN(9)
			n.begin(records)
			for i := range records {
				value := []string{"false", "true", "1", "longer"}[r.IntN(3+round%2)]
				if value != "false" {
					n.value(i, value)
				}
				rows := r.IntN(4)
				if render == record.RenderExtend {
					rows = 1
				}
				start := len(s.Bytes)
				for row := range rows {
					s.Bytes = fmt.Appendf(s.Bytes, form, row, "false")
					fmt.Fprintf(&want, form, row, value)
				}
				s.Recs = append(s.Recs, engine.OutRec{Span: engine.Span{Off: uint32(start), Len: uint32(len(s.Bytes) - start)}})
				want.WriteByte(0)
			}
			if err := n.write(&s); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, rec := range s.Recs {
				got.Write(append(s.Bytes[rec.Off:rec.Off+rec.Len:rec.Off+rec.Len], 0))
			}
			if got.String() != want.String() {
				t.Fatalf("%v: got %q, want %q", render, got.String(), want.String())
			}
			if got := strings.ReplaceAll(want.String(), "\x00", ""); got != string(s.Bytes) {
				t.Fatalf("%v: the stream is %q, want %q", render, s.Bytes, got)
			}
		}
	}
}

// TestNotesBug: a record that does not end in its note is an error.
func TestNotesBug(t *testing.T) {
	n := &notes{render: record.RenderTSV, old: "false"}
	for _, rec := range []string{"a\ttrue\n", "e\n", "\n"} {
		n.begin(1)
		n.value(0, "true")
		s := engine.Stream{Bytes: []byte(rec), Recs: []engine.OutRec{{Span: engine.Span{Len: uint32(len(rec))}}}}
		if err := n.write(&s); err == nil {
			t.Errorf("%q: no error", rec)
		}
	}
}

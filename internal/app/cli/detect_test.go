package cli

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// TestRowless checks that rows which follow a header that was alone when the format was
// detected are not lost without a word.
func TestRowless(t *testing.T) {
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: rowless{}.Name(), Formats: []record.Format{rowless{}}, Normalizer: n})
	if err != nil {
		t.Fatal(err)
	}
	w := job.NewWorker()
	var st record.Stats
	out, _ := w.Append(nil, nil, []byte("id,url\n"), record.Position{}, &st)
	if st.Rejected != 0 || string(out) != "id,url\n" {
		t.Errorf("the header: %q, %d rejects", out, st.Rejected)
	}
	if w.Append(out, nil, []byte("1,http://h/\n"), record.Position{Off: 7}, &st); st.Rejects[record.Unparsed] != 1 {
		t.Errorf("a row: %v", st.Rejects)
	}
}

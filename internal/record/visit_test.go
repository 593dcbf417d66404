package record

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/formats"
)

// TestVisit compares what a Visit shows of each URL, in every format, with the rows that a
// Worker writes.
func TestVisit(t *testing.T) {
	jsonLogSubjects(t)
	rows := 0
	for _, f := range formats.Builtin {
		sub := formatSubjects[f.Name()]
		c := sub.config
		c.Format, c.Normalizer = f.Name(), newNormalizer(t, "equiv")
		t.Run(f.Name(), func(t *testing.T) {
			_, v, err := c.NewVisit()
			if err != nil {
				t.Fatal(err)
			}
			c.Render, c.Fields = RenderTSV, FieldNames()
			job, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			text := []byte(strings.ReplaceAll(sub.text, "http://example.com/a", "http://example.com/%"))
			if job.lengths != nil || strings.Contains(f.Name(), "arc") {
				text = []byte(sub.text) // lengths are stated
			}
			head := text[:job.Framing().Head(text)]
			w := job.NewWorker()
			var st Stats
			at := Position{Name: "x", Head: head, Line: 1}
			director, _ := job.Framing().(Director)
			for rest := text; len(rest) > 0; {
				rec := rest[:w.Next(rest)]
				rest = rest[len(rec):]
				out, _ := w.Append(nil, nil, rec, at, &st)
				if err := v.Read(rec, &at); err != nil {
					t.Fatal(err)
				}
				got := visitRows(v)
				if why, _ := v.Why(); why == 0 && got != string(out) {
					t.Errorf("record %q\n got %q\nwant %q", rec, got, out)
				}
				rows += strings.Count(got, "\n")
				at.Off += int64(len(rec))
				at.Line += v.Lines(rec)
				if director != nil {
					if d := director.Directive(at.Head, rec); d != nil {
						at.Head = bytes.Clone(d)
					}
				}
			}
		})
	}
	if rows < 100 {
		t.Errorf("only %d URLs were compared", rows)
	}
}

// visitRows returns the fields of all URLs as rows, and reads the last URL first.
func visitRows(v *Visit) string {
	var rows []string
	for i := v.Sites() - 1; i >= 0; i-- {
		if !v.URL(i) {
			continue
		}
		var row []byte
		for f := range fieldNames {
			v.Field(0, true) // makes the first URL the current one
			v.URL(i)
			if f > 0 {
				row = append(row, '\t')
			}
			if value, ok := v.Field(f, false); ok {
				row = appendTSV(row, value)
			}
		}
		rows = append(rows, string(row)+"\n")
	}
	slices.Reverse(rows)
	return strings.Join(rows, "")
}

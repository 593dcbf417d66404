package lockstep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/arrow"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// batchJob is the configuration of the tests of RunBatches.
func batchJob(t testing.TB, fields ...string) Config {
	c := record.Config{Format: table.Arrow, Formats: []record.Format{table.Format(table.Arrow)}, Render: record.RenderArrow, Fields: fields, MaxRecord: 200}
	return Config{Job: newJob(t, c), MaxAhead: 1 << 20}
}

// A caller writes batches of URLs as a program beside urlfold does.
type caller struct {
	w *arrow.Writer
	c []record.Column
}

func newCaller(w io.Writer) *caller {
	columns := []record.Column{{Name: "url"}}
	return &caller{arrow.NewWriter(w, columns, false), columns}
}

// write writes a batch; "null" stands for null.
func (c *caller) write(t testing.TB, urls ...string) {
	t.Helper()
	for _, u := range urls {
		if u == "null" {
			c.w.AddNull()
			continue
		}
		row := append([]byte{byte(len(u) + 1)}, u...)
		if len(u) > 126 {
			row = append([]byte{byte(len(u)+1)&0x7f | 0x80, byte((len(u) + 1) >> 7)}, u...)
		}
		if _, err := c.w.Add(append(row, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.w.Start(), c.w.Batch()); err != nil {
		t.Fatal(err)
	}
}

// column returns the values of a column, a slice for each batch.
func column(in io.Reader, name string) (list [][]string, err error) {
	r := arrow.NewReader(in, name)
	for {
		rows, err := r.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return list, err
		}
		batch := []string{}
		for row := range rows {
			v, ok, err := r.Value(row)
			if err != nil {
				return list, err
			}
			if !ok {
				v = []byte("null")
			}
			batch = append(batch, string(v))
		}
		list = append(list, batch)
	}
}

// TestRunBatches: every row has one answer, whatever it is.
func TestRunBatches(t *testing.T) {
	var in bytes.Buffer
	c := newCaller(&in)
	c.write(t, "http://H/%7e", "null", "", " ", "http://H/a\nb", `http://H/a\tb`, "no url")
	c.write(t)
	c.write(t, "http://[", "http://H/"+strings.Repeat("x", 300), "http://H")
	if err := c.w.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"norm":  `[["http://h/~" "null" "null" "null" "http://h/ab" "http://h/a/tb" "null"] [] ["null" "null" "http://h/"]]`,
		"error": `[["null" "null" "null" "null" "null" "null" "relative-without-base"] [] ["host-invalid" "record-too-long" "null"]]`,
	}
	for name := range want {
		var out bytes.Buffer
		st, err := RunBatches(bytes.NewReader(in.Bytes()), &out, "", batchJob(t, "norm", "error", "flags"))
		if err != nil || st.Lines != 10 || !st.Balanced() {
			t.Errorf("%v, %+v", err, st)
		}
		if got, err := column(&out, name); err != nil || fmt.Sprintf("%q", got) != want[name] {
			t.Errorf("%s: %q, %v, want\n%s", name, got, err, want[name])
		}
	}
}

// TestBatchConversation: the schema of the answers comes before any input, and a
// caller that waits for each batch gets it.
func TestBatchConversation(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := RunBatches(inR, outW, "", batchJob(t, "norm"))
		done <- errors.Join(err, outW.Close())
	}()
	head := make([]byte, 8)
	if _, err := io.ReadFull(outR, head); err != nil {
		t.Fatal(err)
	}
	c := newCaller(inW)
	answers := arrow.NewReader(io.MultiReader(bytes.NewReader(head), outR), "")
	for i := range 100 {
		c.write(t, fmt.Sprintf("http://H/%d", i))
		rows, err := answers.Next()
		if err != nil || rows != 1 {
			t.Fatal(rows, err)
		}
		if v, _, err := answers.Value(0); err != nil || string(v) != fmt.Sprintf("http://h/%d", i) {
			t.Fatalf("%q, %v", v, err)
		}
	}
	inW.Close()
	if _, err := answers.Next(); err != io.EOF {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBatchErrors: a damaged stream ends the run after the batches before it were
// answered, and the error shows no value.
func TestBatchErrors(t *testing.T) {
	var in bytes.Buffer
	c := newCaller(&in)
	c.write(t, "http://H")
	c.write(t, "http://user:secret@H")
	var out bytes.Buffer
	_, err := RunBatches(bytes.NewReader(in.Bytes()[:in.Len()-1]), &out, "", batchJob(t, "norm"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if got, _ := column(&out, ""); fmt.Sprint(got) != "[[http://h/]]" {
		t.Errorf("%q", got)
	}
	if _, err := RunBatches(bytes.NewReader(in.Bytes()), io.Discard, "other", batchJob(t, "norm")); err == nil || !strings.Contains(err.Error(), "other") {
		t.Error(err)
	}
}

package compress

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// A fakeTable is a Table with the given text that ends with err.
type fakeTable struct {
	io.Reader
	err    error
	closed *bool
}

func (t fakeTable) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == io.EOF && t.err != nil {
		err = t.err
	}
	return n, err
}

func (fakeTable) Consumed() int64 { return 77 }
func (t fakeTable) Close()        { *t.closed = true }

func TestTable(t *testing.T) {
	place := errors.New("row group 2")
	for _, c := range []struct {
		open, read error
		kind       Kind
		text       string
		offset     int64
	}{
		{nil, nil, OK, "a\nb\n", 0},
		{place, nil, Corrupt, "", 0},
		{nil, place, Corrupt, "a\nb\n", 77},
		{nil, fmt.Errorf("no index: %w", io.ErrUnexpectedEOF), Truncated, "a\nb\n", 77},
		{&fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist}, nil, Unreadable, "", 0},
	} {
		closed := false
		r := NewReader(strings.NewReader("PAR1…PAR1"), Options{Table: func(Format) (Table, error) {
			return fakeTable{strings.NewReader("a\nb\n"), c.read, &closed}, c.open
		}})
		text, err := io.ReadAll(r)
		v := r.Verdict()
		if err != nil || string(text) != c.text || v.Kind != c.kind || v.Offset != c.offset || v.Cut != (c.kind != OK) {
			t.Errorf("%v, %v: %q, %v, %+v", c.open, c.read, text, err, v)
		}
		if r.Format() != Parquet || closed != (c.open == nil) {
			t.Errorf("%v, %v: format %v, closed %v", c.open, c.read, r.Format(), closed)
		}
		if _, summed := r.Verified(); summed {
			t.Error("checksums are said to cover a Parquet file")
		}
	}
}

// TestTableUnsupported checks that a Parquet file is never read as text.
func TestTableUnsupported(t *testing.T) {
	r := NewReader(strings.NewReader("PAR1"), Options{})
	text, err := io.ReadAll(r)
	if v := r.Verdict(); err != nil || len(text) > 0 || v.Kind != UnsupportedFormat || !strings.Contains(v.Detail, "not from stdin") {
		t.Errorf("%q, %v, %v", text, err, v)
	}
}

// TestEncryptedParquet checks that an encrypted file is opened as a Table,
// which reports that it is encrypted, and that a text that begins alike
// stays a text.
func TestEncryptedParquet(t *testing.T) {
	for text, want := range map[string]Format{
		"PARE\x15\x04\x15\x20\x15\x24": Parquet, // a page that is not encrypted
		"PARE\x2a\x00\x00\x00\xf3\x91": Parquet, // the length of one that is
		"PARENT,URL\n":                 Plain,
		"PARE":                         Plain,
		"PARE\n":                       Plain,
	} {
		r := NewReader(strings.NewReader(text), Options{Table: func(Format) (Table, error) {
			return nil, &UnsupportedError{"encrypted"}
		}})
		_, _ = io.ReadAll(r)
		if r.Format() != want || want == Parquet && r.Verdict().Kind != UnsupportedFormat {
			t.Errorf("%q: %v, %v", text, r.Format(), r.Verdict())
		}
	}
}

package table

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
)

func TestFormat(t *testing.T) {
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = record.New(record.Config{
		Format: Avro, Formats: []record.Format{Format(Avro)}, Normalizer: n,
		Dialect: "nginx", BaseField: "b", Target: record.TargetReferer, Render: record.RenderExtend, Extend: []record.Extension{{Name: "n", Field: "norm"}},
	})
	for _, want := range []string{"dialects apply only", "have no referer", "use a fixed base", "fields cannot be added to the rows"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestEscapes checks that a cell gives its value back, whatever that is.
func TestEscapes(t *testing.T) {
	for _, v := range []string{"", "http://h/", "a\tb\nc\rd\\e", "\\", "\\n", "\xff\x00"} {
		cell := tsv.AppendEscaped([]byte("x"), []byte(v))
		if got := tsv.AppendUnescaped(nil, cell[1:]); string(got) != v || strings.ContainsAny(string(cell), "\t\n\r") {
			t.Errorf("%q: cell %q, value %q", v, cell, got)
		}
	}
	if got := tsv.AppendUnescaped(nil, []byte(`a\qb\`)); string(got) != `a\qb\` {
		t.Errorf("%q", got)
	}
}

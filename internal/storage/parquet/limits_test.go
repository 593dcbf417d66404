package parquet

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

type onlyURL struct {
	URL string `parquet:"url"`
}

// TestLimits checks that each limit ends the reading of a file, with the place,
// and that a smaller file passes.
func TestLimits(t *testing.T) {
	plain := func(size, n int) []byte {
		return encode(t, slicesOf(strings.Repeat("a", size), n), parquet.Compression(&parquet.Zstd))
	}
	type dictURL struct {
		URL string `parquet:"url,dict"`
	}
	var dict []dictURL
	for range 30_000 {
		dict = append(dict, dictURL{strings.Repeat("a", 4000)})
	}
	bomb := encode(t, dict, parquet.Compression(&parquet.Zstd))
	for _, c := range []struct {
		name   string
		file   []byte
		limits Limits
		want   string // "": no error
	}{
		{"page", plain(600_000, 3), Limits{MaxPage: 1 << 20}, "row group 1 of 1, column url, row 1: a page of"},
		{"page within", plain(400_000, 1), Limits{MaxPage: 1 << 20}, ""},
		{"ratio", plain(600_000, 150), Limits{}, "compression ratio of the pages exceeds 1000 (--max-ratio)"},
		{"no ratio", plain(600_000, 150), Limits{MaxRatio: -1}, ""},
		{"little text", plain(600_000, 90), Limits{}, ""},
		{"expansion", bomb, Limits{MaxExpansion: 10, Expands: true}, "the values of its dictionaries are more than 10 times as long as the file"},
		{"to Parquet", bomb, Limits{MaxExpansion: 10}, ""},
		{"no expansion", bomb, Limits{Expands: true}, ""},
	} {
		text, err := OpenText(bytes.NewReader(c.file), int64(len(c.file)), nil, c.limits)
		if err == nil {
			_, err = io.Copy(io.Discard, text)
		}
		var limit *compress.LimitError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &limit) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func slicesOf(value string, n int) (list []onlyURL) {
	for range n {
		list = append(list, onlyURL{value})
	}
	return list
}

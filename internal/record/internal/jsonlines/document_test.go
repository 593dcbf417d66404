package jsonlines

import (
	"slices"
	"strings"
	"testing"
)

// TestDocumentRecords checks where the records of a document end, which a bar shows, and
// that each is found from its own bytes and those after it.
func TestDocumentRecords(t *testing.T) {
	for _, marked := range []string{
		"[{\"a\":1}, |{\"a\":[{},{}]},|{\"a\":\"},{\"}]\n|",
		"[\n  {\n    \"a\": 1\n  },\n|  {\"b\": 2}\n|]\n|",
		"[\n{\"a\":1}\n|,{\"b\":2}\n|,\n{\"c\":3} ]\n|",
		"{\n\"a\": 1\n}\n|{\"b\":2}\n|{\"c\":3}\n|",
		"{\"a\":1}|{\"b\":2}\n|",
		"{\"Records\":[{\"a\":1},|{\"b\":2}],\"x\":1}\n|",
		"{\"v\":{\"records\":[{}]},\"records\":[{\"a\":1},|{\"b\":2}]}\n|",
		"{\"log\":{\"pages\":[{}],\"entries\":[{\"a\":1},|{\"b\":2}]}}\n|",
		"{\"entries\":[{\"a\":1},{\"b\":2}]}\n|", // entries count only in log
		"{\"a\":1,\n|{\"b\":2}\n|",               // damaged
		"{\"a\":x}\n|{\"b\":2}\n|",
	} {
		want := strings.SplitAfter(marked, "|")
		want = want[:len(want)-1]
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "|")
		}
		text := []byte(strings.Join(want, ""))
		w := &wrapper{document: true}
		var got []string
		for at := 0; at < len(text); {
			n := w.Next(text[at:])
			got = append(got, string(text[at:at+n]))
			at += n
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: records %q, want %q", text, got, want)
		}
		for end := range text {
			cut, whole := w.Cut(text[:end]), 0
			for _, r := range want {
				if whole += len(r); whole > cut {
					whole -= len(r)
					break
				}
			}
			if cut != whole {
				t.Errorf("%q: cut at %d", text[:end], cut)
			}
		}
	}
}

package purell

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// maxFields is the largest number of parameters that url.ParseQuery of Go 1.26
// accepts. With more, ParseQuery returns an error and no parameters.
const maxFields = 10000

// A field is a parameter, as ranges of normalizer.text.
type field struct{ name, value, end int }

// sortQuery sorts the parameters by their decoded names and values. Parameters
// that url.ParseQuery rejects are lost; if it rejects all of them, the query
// stays.
func (n *normalizer) sortQuery() {
	u := &n.url
	n.fields, n.text = n.fields[:0], n.text[:0]
	if bytes.Count(u.query, []byte("&")) < maxFields {
		for raw := range bytes.SplitSeq(u.query, []byte("&")) {
			n.addField(raw)
		}
	}
	if len(n.fields) == 0 {
		return
	}
	text := n.text
	slices.SortFunc(n.fields, func(a, b field) int {
		return cmp.Or(bytes.Compare(text[a.name:a.value], text[b.name:b.value]),
			bytes.Compare(text[a.value:a.end], text[b.value:b.end]))
	})
	start := len(n.text)
	for _, f := range n.fields {
		if len(n.text) > start {
			n.text = append(n.text, '&')
		}
		n.text = append(append(n.text, n.text[f.name:f.value]...), '=')
		n.text = ascii.AppendForm(n.text, n.text[f.value:f.end])
	}
	u.query = n.text[start:]
}

// addField decodes a parameter and adds it, if url.ParseQuery accepts it.
func (n *normalizer) addField(raw []byte) {
	if len(raw) == 0 || bytes.IndexByte(raw, ';') >= 0 {
		return
	}
	name, value, _ := bytes.Cut(raw, []byte("="))
	f, ok := field{name: len(n.text)}, false
	if n.text, ok = appendUnescaped(n.text, name, true); !ok {
		n.text = n.text[:f.name]
		return
	}
	f.value = len(n.text)
	if n.text, ok = appendUnescaped(n.text, value, true); !ok {
		n.text = n.text[:f.name]
		return
	}
	f.end = len(n.text)
	n.fields = append(n.fields, f)
}

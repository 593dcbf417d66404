package compress

import (
	"bytes"
	"slices"
	"strings"
)

// This file recognizes compressed data within compressed data, such as a file
// that gzip compressed twice. It is not decompressed again: the name of a file
// promises one format, and offsets and limits refer to one layer of
// compression.

// maxLayers is the maximum number of layers that are named, because a file can
// decompress to itself.
const maxLayers = 4

// unpackers are the programs that decompress a format to stdout.
var unpackers = map[Format]string{Gzip: "gzip -dc", Zstd: "zstd -dc", Bzip2: "bzip2 -dc", XZ: "xz -dc", LZ4: "lz4 -dc"}

// mayNest reports whether text, the beginning of what r decompresses, is compressed
// or a table, or could be with more bytes.
func (r *Reader) mayNest(text []byte) (nests, partial bool) {
	if r.format == Plain || r.format.isTable() {
		return false, false
	}
	_, nests, partial = find(text)
	return nests, partial
}

// nested returns a finding if text, the beginning of the data that r
// decompresses, is compressed again or is a table. It returns nil for other
// text that begins in the same way.
func (r *Reader) nested(text []byte) error {
	layers := r.layersOf(text)
	if len(layers) == 0 {
		return nil
	}
	r.layers = append(layers, r.format.String())
	detail := strings.Join(r.layers, " within ") + " is not supported; decompress the file once first"
	if unpack := unpackers[r.format]; unpack != "" {
		detail += ": " + unpack + " FILE | urlfold -"
		if m, _, _ := find(text); m.format.isTable() {
			detail = strings.Replace(detail, "| urlfold -", "> TABLE", 1)
		}
	}
	return &finding{Verdict{Kind: UnsupportedFormat, Cut: true, Detail: detail}}
}

// layersOf returns the names of the formats of text, the innermost first. The list is
// empty if text is plain.
func (r *Reader) layersOf(text []byte) []string {
	m, found, _ := find(text)
	switch {
	case !found || r.depth+1 >= maxLayers:
		return nil
	case m.format == Unsupported:
		return []string{m.name}
	case m.format.isTable():
		if !slices.ContainsFunc(text[:min(len(text), tarHeader)], isControl) {
			return nil // a text that starts with PAR1
		}
		return []string{m.format.title()}
	}
	inner := NewReader(bytes.NewReader(text), Options{Limits: r.opt.Limits})
	defer inner.Close()
	inner.depth = r.depth + 1
	n, _ := inner.Read(make([]byte, tarHeader))
	switch v := inner.Verdict(); {
	case len(inner.layers) > 0:
		return inner.layers
	case n == 0 && v.Kind == Corrupt:
		return nil
	}
	return []string{m.format.String()}
}

// isControl reports whether c is a control character that is not in text.
func isControl(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' }

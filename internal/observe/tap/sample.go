package tap

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
)

// A Sample is one URL of a record. Secrets in its texts are masked.
type Sample struct {
	File   string   `json:"file"`   // name of the lane
	Offset int64    `json:"offset"` // offset of the record in the lane
	URL    string   `json:"url,omitempty"`
	Norm   string   `json:"norm,omitempty"`
	Key    string   `json:"key,omitempty"` // absent if a secret in the URL was masked
	Change string   `json:"change,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Rules  []string `json:"rules,omitempty"` // applied to the URLs of the record
	Error  string   `json:"error,omitempty"` // why the record was rejected

	host string
}

// report sends the URLs of one record, which are the lines of out, to the
// listeners that want them.
func (s *sampler) report(out []byte, at record.Position, st *record.Stats, list []*Listener) {
	for _, l := range list {
		l.examined.Add(1)
	}
	rules := rulesIn(st)
	for len(out) > 0 {
		var line []byte
		line, out, _ = bytes.Cut(out, []byte{'\n'})
		x := sampleOf(line)
		var text []byte
		for _, l := range list {
			if !l.filter.matches(&x, rules) || !l.admits(s.at) {
				continue
			}
			if text == nil {
				text = s.finish(x, at, rules)
			}
			select {
			case l.c <- text:
			default:
				l.dropped.Add(1)
			}
		}
	}
}

// sampleOf reads a line with the fields.
func sampleOf(line []byte) Sample {
	var cells [7][]byte
	for i := range cells {
		cells[i], line, _ = bytes.Cut(line, []byte{'\t'})
	}
	text := func(i int) string { return string(tsv.AppendUnescaped(nil, cells[i])) }
	x := Sample{URL: text(0), Norm: text(1), Key: text(2), Change: text(3), host: text(5), Error: text(6)}
	if len(cells[4]) > 0 {
		x.Flags = strings.Split(text(4), ",")
	}
	return x
}

// finish returns x, with its position and with its secrets masked, as JSON.
func (s *sampler) finish(x Sample, at record.Position, rules codec.Rules) []byte {
	url, norm := s.mask.url(x.URL), s.mask.url(x.Norm)
	if url != x.URL || norm != x.Norm || strings.Contains(url, stars) || strings.Contains(norm, stars) {
		x.Key = ""
	}
	x.URL, x.Norm, x.File = url, norm, s.mask.text(at.Name)
	x.Offset, x.Rules = at.Off, rules.Names()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(&x) != nil {
		return nil // does not happen: a Sample is always valid
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Command playground answers the questions of the playground of the site, and of the
// npm package in bindings/js. As WebAssembly it is called by JavaScript; as a native
// program it answers one request for each line of standard input, for the first answer
// of the page and for the tests.
//
// An answer is the output of urlfold explain, as text and as JSON, or a log
// line as urlfold writes it. Many URLs are answered together: see packed.go.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/explain"
)

// A request is what the person has typed and chosen.
type request struct {
	URL, VS, Base string
	Line          string // if it is set, the log line to rewrite; URL is ignored
	Profile       string
	Level         string // empty: the profile's
	Width         int    // columns of the text
}

// An answer is the result of a request.
type answer struct {
	HTML    string          `json:"html,omitempty"`    // output of urlfold explain
	Explain json.RawMessage `json:"explain,omitempty"` // output of urlfold explain --to jsonl
	Line    *line           `json:"line,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// A line is a rewritten log line.
type line struct {
	Format string            `json:"format"`
	Output string            `json:"output,omitempty"` // empty if the format cannot be written back
	URLs   []json.RawMessage `json:"urls"`             // fields of each URL, as urlfold -r jsonl writes them
}

// readLine reads a log line: see line.go. It is nil in the smaller of the two
// WebAssembly modules, which a visitor without a log line loads.
var readLine func(text []byte, n *codec.Normalizer, lv codec.Level) (*line, error)

// respond returns the answer to a request, both as JSON.
func respond(in []byte) []byte {
	var r request
	var a answer
	if err := json.Unmarshal(in, &r); err != nil {
		a.Error = err.Error()
	} else if err := a.fill(&r); err != nil {
		a.Error = err.Error()
	}
	out, _ := json.Marshal(&a) // cannot fail: all members are text or JSON
	return out
}

// normalizer returns the Normalizer of a request, and the level of its keys.
// Without a profile, it takes the command's defaults.
func (r *request) normalizer() (*codec.Normalizer, codec.Level, error) {
	p, err := codec.Lookup(cmp.Or(r.Profile, "equiv"))
	if err != nil {
		return nil, 0, err
	}
	level := p.Key
	if r.Level != "" {
		if level, err = codec.ParseLevel(r.Level); err != nil {
			return nil, 0, err
		}
	}
	p.MaxDiagnostics = explain.MaxDiagnostics
	n, err := codec.New(p)
	return n, level, err
}

// fill sets the members of a for a request.
func (a *answer) fill(r *request) error {
	n, level, err := r.normalizer()
	if err != nil {
		return err
	}
	if r.Line != "" && readLine != nil {
		a.Line, err = readLine([]byte(r.Line), n, level)
		return err
	}
	x := explain.New(explain.Options{Normalizer: n, Level: level, Base: []byte(r.Base)})
	style := terminal.Style{Color: true, Unicode: true, Width: min(max(r.Width, 40), terminal.MaxWidth)}
	var text, data bytes.Buffer
	tw, jw := explain.NewTextWriter(&text, style, x), explain.NewJSONWriter(&data, x)
	if r.VS != "" {
		pair := x.Compare([]byte(r.URL), []byte(r.VS))
		tw.WritePair(pair)
		jw.WritePair(pair)
	} else {
		e := x.Explain([]byte(r.URL))
		tw.Write(e)
		jw.Write(e)
	}
	_, _ = tw.Flush(), jw.Flush() // a Buffer returns no error
	a.HTML, a.Explain = toHTML(text.String()), data.Bytes()
	return nil
}

// colors turns what terminal.Style.Paint writes into elements. An explanation
// holds no other control characters.
var colors = strings.NewReplacer(
	"\x1b[0m", "</span>",
	"\x1b["+terminal.Bold+"m", `<span class="bold">`,
	"\x1b["+terminal.Dim+"m", `<span class="dim">`,
	"\x1b["+terminal.Red+"m", `<span class="red">`,
	"\x1b["+terminal.Green+"m", `<span class="green">`,
	"\x1b["+terminal.Yellow+"m", `<span class="yellow">`,
	"\x1b["+terminal.Cyan+"m", `<span class="cyan">`,
)

// toHTML returns text with colors as HTML.
func toHTML(text string) string { return colors.Replace(html.EscapeString(text)) }

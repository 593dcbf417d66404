//go:build line || !js

package main

import (
	"bytes"
	"encoding/json"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

func init() { readLine = detectAndWrite }

// detectAndWrite returns a log line as urlfold --target all writes it, and its
// URLs. It detects the format, as urlfold does.
func detectAndWrite(text []byte, n *codec.Normalizer, lv codec.Level) (*line, error) {
	guess, ok := record.Detect(text)
	if !ok {
		guess.Format = "text"
	}
	c := record.Config{Format: guess.Format, Normalizer: n, Level: lv, Target: record.TargetAll}
	out, _ := write(text, c) // an error is repeated below, unless the format cannot be written back
	c.Render, c.Fields = record.RenderJSONL, []string{"url", "norm", "key", "flags", "error"}
	fields, err := write(text, c)
	if err != nil {
		return nil, err
	}
	l := &line{Format: guess.Format, Output: string(out), URLs: []json.RawMessage{}}
	for row := range bytes.Lines(fields) {
		l.URLs = append(l.URLs, bytes.TrimSpace(row))
	}
	return l, nil
}

// write returns the output for all records of text.
func write(text []byte, c record.Config) (out []byte, err error) {
	job, err := record.New(c)
	if err != nil {
		return nil, err
	}
	head := text[:job.Framing().Head(text)]
	if c.Render == record.RenderRewrite {
		out = append(out, head...)
	}
	w, rest := job.NewWorker(), text[len(head):]
	w.Begin(rest)
	var stats record.Stats
	for len(rest) > 0 {
		n := w.Next(rest)
		out, _ = w.Append(out, nil, rest[:n], record.Position{Head: head, Off: int64(len(text) - len(rest))}, &stats)
		rest = rest[n:]
	}
	return out, nil
}

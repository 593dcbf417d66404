package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/internal/record"
)

// This file keeps the copies of records below the headers that they had in their inputs.

// heads compares the headers of the tables that are copied to one output.
type heads struct {
	on            bool
	drop          bool   // leave out repeated headers; not set if the text with the first header may be withdrawn
	header        []byte // of the first table; nil: none yet
	tables, other bool   // some inputs are tables with rows below a header; some are not
	differ        error
}

// has reports whether the output has the header of the input called name already.
func (h *heads) has(name string, job *record.Job, header []byte) (known bool) {
	_, directs := job.Framing().(record.Director)
	_, bare := job.Framing().(rowless)
	rows := job.Headed() && !directs
	h.tables, h.other = h.tables || rows, h.other || !rows && !bare
	if rows || bare {
		header = bytes.TrimRight(bytes.TrimPrefix(header, []byte("\ufeff")), "\r\n")
		if known = h.header != nil; !known {
			h.header = bytes.Clone(header)
		}
	}
	if h.differ == nil && h.on && (h.tables && h.other || known && !bytes.Equal(h.header, header)) {
		h.differ = fmt.Errorf("%s: its header differs from the header of the earlier inputs, so one output cannot hold all of them: use --output-dir, or --to jsonl, urls or keys", name)
	}
	return known && h.on && h.drop
}

// checkHeads returns an error if the output would hold records that cannot be read there.
func (s *settings) checkHeads(f *formats) error {
	switch {
	case s.unordered() && f.any((*record.Job).Ordered):
		return errors.New("--order: not possible if the output copies records that state their length (warc, msgpack) or follow a header (csv, w3c); remove the option")
	case s.Sort != "" && f.any(func(j *record.Job) bool { return j.Apart() || j.Binary() }):
		return errors.New("--sort: not possible if the output copies records that state their length (warc, msgpack); use --to jsonl, tsv or urls")
	case s.divided() && (s.writesTables() || f.any(func(j *record.Job) bool { return j.Apart() || j.Binary() })):
		return errors.New("--output: {vhost} and {site} are not possible for tables, or if the output copies records that state their length (warc, msgpack); use --to jsonl, tsv or urls")
	case s.record.Render.KeepsRecords():
		return f.heads.differ
	}
	return nil
}

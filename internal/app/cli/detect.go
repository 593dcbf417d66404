package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/service"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/record"
)

// tableFormats are the formats of tables in text.
var tableFormats = []string{"csv", "csv-semicolon", "csv-pipe", "tsv"}

// A detected format is the result of detectFormat.
type detected struct {
	record.Guess
	headerOnly bool // the input is a table without rows
}

// detectFormat guesses the format of an input with the first bytes head. Unlike
// [record.Detect], it also finds tables without rows. It finds tables with the
// columns in c even if no cell of the first rows holds a URL, and lists of URLs
// without the scheme in c.
func detectFormat(head []byte, c record.Config) (d detected, ok bool) {
	if d.Guess, ok = record.Detect(head, c.Formats...); ok {
		return d, true
	}
	d.Records, d.Fit = 1, 1
	if list := firstRecords(head); c.Scheme != "" && len(list) > 0 && !slices.ContainsFunc(list, notListed) {
		d.Format = "lines"
		return d, true
	}
	d.Format, d.headerOnly = record.DetectHeader(head)
	if namesFields(&c) {
		for _, c.Format = range tableFormats {
			if hasColumns(head, c) {
				d.Format = c.Format
				return d, true
			}
		}
	}
	return d, d.headerOnly
}

// notListed reports whether a line is anything but a URL with or without a
// scheme.
func notListed(line []byte) bool {
	return !hostPath().Match(line) && !absoluteURL().Match(line)
}

// isText reports whether head is text in a format that is detected. Compressed data whose
// beginning was destroyed has control characters among its first bytes.
func isText(head []byte, c record.Config) bool {
	if bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune(blanks+"\x1b", r) }) {
		return false
	}
	_, ok := detectFormat(head, c)
	return ok
}

// namesFields reports whether c names the fields of the records.
func namesFields(c *record.Config) bool {
	return c.URLField != "" || c.BaseField != "" || !c.URL.IsZero()
}

// hasColumns reports whether c names columns of a table, and head starts with a
// header that has them.
func hasColumns(head []byte, c record.Config) bool {
	job, err := record.New(c)
	return err == nil && job.CheckHead(nil) != nil && job.CheckHead(headOf(job, head)) == nil
}

// headOf returns the header at the beginning of an input. It may lack its line end.
func headOf(job *record.Job, head []byte) []byte {
	if n := job.Framing().Head(head); n > 0 {
		return head[:n]
	}
	return head
}

// rowless is the format of tables without rows if no option names their columns. They
// hold no URL. Rows that arrive after the format was detected are unparsed.
type rowless struct{ record.LineFraming }

// Name implements [record.Format].
func (rowless) Name() string { return "table without rows" }

// Detect implements [record.Format].
func (rowless) Detect(*record.Sample) record.Fit { return record.Fit{} }

// Open implements [record.Format].
func (rowless) Open(c *record.Config) (record.Reader, error) {
	if c.Render == record.RenderExtend {
		return nil, errors.New("cannot add fields to a table: name the column of the URL with --url-field")
	}
	return rowless{}, nil
}

// Locator implements [record.Reader].
func (r rowless) Locator() record.Locator { return r }

// Locate implements [record.Locator].
func (rowless) Locate(f *record.Found, _ []byte, at *record.Position) (record.Reason, int) {
	if at.Off > 0 {
		return record.Unparsed, 0
	}
	f.PassThrough()
	return 0, 0
}

// detectorOf returns how run finds the format of its files.
func detectorOf(c *daemon.Catalog) service.Detector {
	return func(ctx context.Context, input string) (string, error) {
		o := newOptions(c)
		set, err := o.resolve([]string{input})
		if err != nil {
			return "", err
		}
		source, err := set.openSource(nil, nil, 1)
		if err != nil {
			return "", err
		}
		f, err := findFormats(ctx, set, source)
		if err != nil {
			return "", err
		}
		if names := f.names(); len(names) == 1 {
			return names[0].name, nil
		}
		return "", command.Usagef("the records have several formats, or there are none yet: set --from")
	}
}

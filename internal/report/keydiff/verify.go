package keydiff

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// VerifyFields are the fields that the codec of [Verification.NewCodecs] writes,
// in tsv.
var VerifyFields = []string{"line", "record", "norm", "error", "url"}

// A WrongKey is a key in an index that differs from the key that the profile
// computes for its URL, or that belongs to a record without such a key.
type WrongKey struct {
	File        string
	Line        int64
	Found, Want string
	Reason      string // why the URL has no key, or the record cannot be read; Want is then empty
}

// A Verification compares the keys of indexes of web archives with normal forms.
// Use one worker: it reports the keys in the order of the file.
type Verification struct {
	Keys   int64                // number of keys compared
	Wrong  int64                // number of wrong keys among them, and of records that cannot be read
	Err    error                // the first error of Report, or an index without keys
	Report func(WrongKey) error // called for each wrong key, until it returns an error

	redact *record.Worker // nil: passwords are not masked
}

// NewVerification returns a Verification. It masks the keys of URLs in which
// something is hidden, as for [New].
func NewVerification(n *codec.Normalizer, hidden []string, report func(WrongKey) error) (*Verification, error) {
	w, err := newRedactor(n, hidden)
	return &Verification{Report: report, redact: w}, err
}

// NewCodecs returns a function that creates the codec of a worker. newCodec
// creates a codec that writes [VerifyFields] in tsv.
func (v *Verification) NewCodecs(newCodec func() engine.Codec) func() engine.Codec {
	return func() engine.Codec { return &verifyCodec{Codec: newCodec(), v: v} }
}

// A verifyCodec compares the key of each record of a batch, the text before the
// first separator, with the normal form of its URL.
type verifyCodec struct {
	engine.Codec
	v      *Verification
	record []byte // unescaped
	norm   []byte
}

// Process implements [engine.Codec].
func (c *verifyCodec) Process(b *engine.Batch) {
	start := len(b.Out.Recs)
	from := b.Next
	c.Codec.Process(b)
	c.checkLegends(b.Lane.Head())
	c.checkLegends(b.In[from:b.Next])
	for _, r := range b.Out.Recs[start:] {
		c.line(b, bytes.TrimSuffix(b.Out.Bytes[r.Off:r.Off+r.Len], newline))
	}
}

// checkLegends records an error for a legend of a CDX file whose first column is
// not the key.
func (c *verifyCodec) checkLegends(text []byte) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		columns, ok := bytes.CutPrefix(bytes.TrimPrefix(line, []byte(" ")), []byte("CDX "))
		if ok && !bytes.HasPrefix(columns, []byte("N")) && !bytes.HasPrefix(columns, []byte("A")) {
			c.v.fail(errors.New("the legend of the index does not begin with the column of the key (N or A)"))
		}
	}
}

// stars replaces a key that may contain a password.
const stars = "***"

// fail records the first error.
func (v *Verification) fail(err error) {
	if v.Err == nil {
		v.Err = err
	}
}

// line compares the key of one record.
func (c *verifyCodec) line(b *engine.Batch, line []byte) {
	f := splitFields(line)
	if len(f[1]) == 0 || c.v.Err != nil {
		return
	}
	c.record = tsv.AppendUnescaped(c.record[:0], f[1])
	c.norm = tsv.AppendUnescaped(c.norm[:0], f[2])
	key := c.record
	if i := bytes.IndexAny(key, " \t"); i >= 0 {
		key = key[:i]
	}
	c.v.Keys++
	if len(f[3]) == 0 && bytes.Equal(key, c.norm) {
		return
	}
	c.v.Wrong++
	n, _ := strconv.ParseInt(string(f[0]), 10, 64)
	w := WrongKey{File: b.Lane.Name(), Line: n, Found: string(key), Want: string(c.norm), Reason: string(f[3])}
	if url := string(tsv.AppendUnescaped(nil, f[4])); masked(c.v.redact, url) != url {
		w.Found, w.Want = stars, stars
	}
	if err := c.v.Report(w); err != nil {
		c.v.fail(fmt.Errorf("write output: %w", err))
	}
}

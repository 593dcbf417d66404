package record

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestObject compares each object with the one that member writes field by
// field.
func TestObject(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, l := range namedLogs(t) {
		for _, change := range []func(*Config){
			func(*Config) {},
			func(c *Config) { c.Redact = []string{"passwords"} },
			func(c *Config) { c.KeyForm = codec.KeyBase32; c.Base = "http://b/" },
			func(c *Config) { c.Fields = []string{"url", "norm", "key"} },
		} {
			c := allFields(l.with(RenderJSONL))
			change(&c)
			j, err := New(withNormalizer(t, c))
			if err != nil {
				continue // the format does not accept a base
			}
			w := j.NewWorker()
			for range 40 {
				compareObjects(t, w, mutate(rnd, l.text))
			}
		}
	}
}

// compareObjects writes the URLs of each record in both ways.
func compareObjects(t *testing.T, w *Worker, in []byte) {
	t.Helper()
	at := Position{Head: in[:w.job.Framing().Head(in)]}
	for pos := 0; pos < len(in); {
		rec := in[pos : pos+w.Next(in[pos:])]
		pos += len(rec)
		w.found.Reset()
		if locate.IsBlank(locate.TrimEnd(rec)) {
			continue
		}
		if why, _ := w.locator.Locate(&w.found, locate.TrimEnd(rec), &at); why != 0 {
			continue
		}
		for i := range w.found.N {
			s := &w.found.Sites[i]
			if s.Role.IsPart() || !w.n.parse(s, rec) {
				continue
			}
			w.n.accept(s, new(verdict), new(Stats))
			got, want := w.r.object(nil, s, rec, &at), w.r.slowObject(nil, s, rec, &at)
			if !bytes.Equal(got, want) {
				t.Fatalf("%q:\n got %s\nwant %s", rec, got, want)
			}
		}
	}
}

// slowObject is object by member alone.
func (r *renderer) slowObject(out []byte, s *locate.Site, rec []byte, at *Position) []byte {
	out = append(out, '{')
	for _, f := range r.job.fields {
		if f == fError {
			out = r.appendWhy(out)
			continue
		}
		out = r.member(out, fieldNames[f], f, s, rec, at)
	}
	if r.n.cur.why != 0 && !r.job.wants.has(fError) {
		out = r.appendWhy(out)
	}
	return closeObject(out)
}

package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/tinylib/msgp/msgp"
)

// This file tests what all formats of binary records have in common.

// rewriteMessage rewrites a record that is a message.
func rewriteMessage(t testing.TB, c Config, in []byte) (out, dead []byte, st Stats) {
	t.Helper()
	w := newJob(t, c).NewWorker()
	out, dead = w.Append(nil, nil, in, Position{Name: "topic", Line: 1, Off: 7, Message: true}, &st)
	if !st.Balanced() {
		t.Fatalf("unbalanced ledger: %+v", st)
	}
	return out, dead, st
}

// binaryUnits splits a file like a source and a worker of the pipeline: into
// batches, reading size more bytes at a time, and each batch into records.
func binaryUnits(t testing.TB, f LengthFraming, next func([]byte) int, in []byte, size int) (units []string) {
	t.Helper()
	for end := 0; len(in) > 0; {
		end = min(end+size, len(in))
		n := f.Cut(in[:end])
		if n == 0 && end < len(in) {
			continue
		}
		if n == 0 {
			n, _ = f.Span(in, true)
		}
		if n <= 0 || n > end {
			t.Fatalf("the batch has %d of %d bytes", n, end)
		}
		for batch := in[:n]; len(batch) > 0; {
			k := next(batch)
			units = append(units, string(batch[:k]))
			batch = batch[k:]
		}
		in, end = in[n:], max(0, end-n)
	}
	return units
}

// mutations returns the number of mutations to test; see TestMutations.
func mutations() int {
	if n, err := strconv.Atoi(os.Getenv("URLFOLD_MUTATIONS")); err == nil {
		return n
	}
	return 3000
}

// damageBinary returns a damaged copy of a binary record.
func damageBinary(rnd *rand.Rand, in []byte) []byte {
	out := bytes.Clone(in)
	for range 1 + rnd.IntN(3) {
		if len(out) == 0 {
			break
		}
		at := rnd.IntN(len(out))
		end := min(len(out), at+rnd.IntN(6))
		switch rnd.IntN(6) {
		case 0:
			out[at] = byte(rnd.Uint32())
		case 1:
			out[at] ^= 1 << rnd.IntN(8)
		case 2:
			out = append(out[:at:at], out[end:]...)
		case 3:
			out = bytes.Join([][]byte{out[:end], out[at:end], out[end:]}, nil)
		case 4:
			out = out[:at]
		default:
			out = bytes.Join([][]byte{out[:at], {byte(rnd.Uint32())}, out[at:]}, nil)
		}
	}
	return out
}

// testBinaryMutations damages records at random. It checks that no record
// causes a panic, that what is read keeps its values except for the URL, and
// that rewriting is idempotent. same reports whether two records have the same
// values except for the URLs.
func testBinaryMutations(t *testing.T, c Config, message bool, records [][]byte, same func(a, b []byte) error) {
	rnd := rand.New(rand.NewPCG(1, 2))
	w, lister := newJob(t, c).NewWorker(), newJob(t, allFields(withRender(c, RenderJSONL))).NewWorker()
	at := Position{Message: message}
	good, changed := 0, int64(0)
	for i := range mutations() {
		in := damageBinary(rnd, records[i%len(records)])
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Fatalf("panic for %q: %v\n%s", in, e, debug.Stack())
				}
			}()
			var st, listed, again Stats
			out, _ := w.Append(nil, nil, in, at, &st)
			lister.Append(nil, nil, in, at, &listed)
			if st.URLs != listed.URLs || st.Rejected != listed.Rejected {
				t.Fatalf("%q: rewriting reads %+v, listing %+v", in, st, listed)
			}
			if st.Changed == 0 && !bytes.Equal(in, out) {
				t.Fatalf("%q changed to %q without a change of a URL", in, out)
			}
			if st.Rejects[Unparsed] > 0 {
				return
			}
			good++
			changed += st.Changed
			if err := same(in, out); err != nil {
				t.Fatalf("%q became %q: %v", in, out, err)
			}
			twice, _ := w.Append(nil, nil, out, at, &again)
			if !bytes.Equal(out, twice) || again.Changed > 0 || again.Rejects[Unparsed] > 0 {
				t.Fatalf("%q\nonce  %q\ntwice %q", in, out, twice)
			}
		}()
	}
	if good < mutations()/10 || changed == 0 {
		t.Errorf("only %d of %d records could be read, and %d URLs changed", good, mutations(), changed)
	}
}

func withRender(c Config, r Render) Config {
	c.Render = r
	return c
}

// requireCut checks that every prefix of a message is rejected as cut, at its
// end.
func requireCut(t *testing.T, c Config, in []byte) {
	t.Helper()
	c.OnRejected = DispositionDead
	w := newJob(t, c).NewWorker()
	for n := 1; n < len(in); n++ {
		var st Stats
		_, dead := w.Append(nil, nil, in[:n], Position{Message: true}, &st)
		if want := fmt.Sprintf(`{"reason":"unparsed","at":%d,`, n); !bytes.HasPrefix(dead, []byte(want)) {
			t.Errorf("the first %d of %d bytes: got %s, want %s", n, len(in), dead, want)
		}
	}
}

// requireNoAllocs checks that rewriting and listing allocate nothing in the
// steady state.
func requireNoAllocs(t *testing.T, c Config, in []byte) {
	t.Helper()
	for _, c := range []Config{c, allFields(withRender(c, RenderJSONL)), withRender(c, RenderKeys)} {
		w := newJob(t, c).NewWorker()
		var st Stats
		var out, dead []byte
		one := func() { out, dead = w.Append(out[:0], dead[:0], in, Position{Message: true}, &st) }
		one()
		if n := testing.AllocsPerRun(10, one); n != 0 || st.URLs == 0 {
			t.Errorf("%v: %v allocations a record, want 0 (%d URLs)", c.Render, n, st.URLs)
		}
	}
}

// TestBinaryConfig checks the settings that have no meaning for binary records.
func TestBinaryConfig(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"Dialect":    func(c *Config) { c.Dialect = "nginx" },
		"BaseField":  func(c *Config) { c.BaseField = "base" },
		"URL":        func(c *Config) { c.URL.Path = []string{"path"} },
		"Base":       func(c *Config) { c.Base = "https://{host}/" },
		"Render":     func(c *Config) { c.Render, c.Extend = RenderExtend, []Extension{{Name: "key", Field: "key"}} },
		"Redact":     func(c *Config) { c.Redact = []string{"passwords"} },
		"OnOversize": func(c *Config) { c.OnOversize = DispositionTruncate },
	} {
		c := Config{Format: "msgpack", URLField: "url", Normalizer: normalizers["equiv"]}
		change(&c)
		_, err := New(c)
		if e, ok := err.(*ConfigError); !ok || e.Field != field {
			if joined, is := err.(interface{ Unwrap() []error }); !is || !hasField(joined.Unwrap(), field) {
				t.Errorf("%s: got %v", field, err)
			}
		}
	}
}

func hasField(errs []error, field string) bool {
	for _, err := range errs {
		switch e := err.(type) {
		case *ConfigError:
			if e.Field == field {
				return true
			}
		case interface{ Unwrap() []error }:
			if hasField(e.Unwrap(), field) {
				return true
			}
		}
	}
	return false
}

// BenchmarkBinary measures the speed of each format of binary records, and that
// of combined with the same URL.
func BenchmarkBinary(b *testing.B) {
	const url = "http://semicomplete.com/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b"
	for _, m := range []struct {
		config Config
		rec    []byte
	}{
		{Config{Format: "combined"}, []byte(benchLine)},
		{msgpackConfig, msgpackRecord(msgp.AppendString(nil, url))},
		{protobufConfig, protobufMessage([]string{url})},
		{avroConfig, avroMessage(b, url)},
	} {
		b.Run(m.config.Format, func(b *testing.B) {
			w := newJob(b, m.config).NewWorker()
			var st Stats
			var out []byte
			at := Position{Message: true}
			if out, _ = w.Append(out[:0], nil, m.rec, at, &st); st.URLs != 1 {
				b.Fatalf("%d URLs in %q", st.URLs, m.rec)
			}
			b.SetBytes(int64(len(m.rec)))
			b.ReportAllocs()
			for b.Loop() {
				out, _ = w.Append(out[:0], nil, m.rec, at, &st)
			}
		})
	}
}

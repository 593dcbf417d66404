// The tests of this file are those of another module: each shows that a mistake of
// ordinary use is harmless or is refused.
package outside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/codec/seen"
	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/pipelinetest"
	"github.com/urlfold/urlfold/sinks"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	sourcefile "github.com/urlfold/urlfold/sources/file"
)

var ctx = context.Background()

// run runs a pipeline of lines.
func run(t *testing.T, sink pipeline.Sink, sources ...pipeline.Source) (pipeline.Counts, error) {
	t.Helper()
	p, err := pipeline.New(pipeline.Options{Sources: sources, Sinks: []pipeline.Sink{sink}, Job: record.Job{Format: "lines"}})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(ctx)
	return p.Counts(), err
}

// ids returns a sink that counts the identities from which the ids of messages are made.
func ids(count map[string]int) pipeline.Sink {
	return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		for _, r := range t.Records() {
			pos, index := r.Origin()
			count[fmt.Sprint(t.LaneID(), " ", pos, " ", index)]++
		}
		return nil
	})
}

// A source has one lane, or opens it twice.
type source struct {
	rt    *pipeline.Runtime
	twice bool
}

func (s *source) Open(_ context.Context, rt *pipeline.Runtime) error { s.rt = rt; return nil }
func (*source) Close(context.Context) error                          { return nil }

func (s *source) Run(ctx context.Context) error {
	lane, err := s.rt.Lane("list", 0)
	if err != nil {
		return err
	}
	defer lane.End(true)
	if s.twice {
		if _, err := s.rt.Lane("list", 0); err != nil {
			return err
		}
	}
	for i := range 10 {
		b, err := s.rt.Get(ctx, lane)
		if err != nil {
			return err
		}
		b.Append([]byte("http://h/a\nhttp://h/b")) // two lines in one call
		if err := s.rt.Emit(ctx, b, int64(i)); err != nil {
			return err
		}
	}
	return nil
}

type stored struct{ source }

func (*stored) Commit(context.Context, []pipeline.LanePosition) error { return nil }

// Findings 1 and 7: lanes that share a name, and two processes, give no id twice. Two lines
// in one Append are two records. A stored lane cannot be open twice.
func TestMessageIDs(t *testing.T) {
	count := map[string]int{}
	for range 2 {
		if c, err := run(t, ids(count), &source{}, &source{}); err != nil || c.Written != 40 {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	if len(count) != 80 {
		t.Errorf("%d ids for 80 records", len(count))
	}
	var contract *pipeline.ContractError
	if _, err := run(t, ids(count), &stored{source{twice: true}}); !errors.As(err, &contract) {
		t.Errorf("a lane that is open: %v", err)
	}
}

// Findings 2 and 22: a zero Level and a zero Profile have the level of the profile.
func TestZeroLevel(t *testing.T) {
	n := codec.MustNamed("crawler")
	_, want, err := n.Normalize("https://h/a?b=1")
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range record.NewReader(strings.NewReader("http://h/a?b=1\n"), &record.Job{Format: "lines", Normalizer: n}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		if key, _ := rec.Field(record.FieldKey); string(key) != want.String() {
			t.Errorf("key %s, want %s", key, want)
		}
	}
	x, err := codec.New(codec.Profile{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.KeyFunction(codec.LevelDefault); got != "k1-whatwg/1" {
		t.Errorf("a Profile with nothing but a name has the key function %s", got)
	}
}

// Finding 3: a policy that is changed changes no Normalizer.
func TestPolicyCopy(t *testing.T) {
	n := codec.MustNamed("crawler")
	_, before, _ := n.Normalize("https://h/")
	n.Policy().KeepHTTPS = true
	_, after, _ := n.Normalize("https://h/")
	if _, other, _ := codec.MustNamed("crawler").Normalize("https://h/"); before != after || before != other {
		t.Error("another key")
	}
}

// Finding 4: keys, errors and other values are text in JSON, and are read again.
func TestJSON(t *testing.T) {
	_, key, _ := codec.MustNamed("equiv").Normalize("http://h/")
	text, err := json.Marshal(map[codec.Key]any{key: []any{key, codec.ErrPortInvalid, codec.HostIPv4, percent.MalformedEncode}})
	want := fmt.Sprintf(`{"%v":["%v","port-invalid","%v","%v"]}`, key, key, codec.HostIPv4, percent.MalformedEncode)
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var back map[codec.Key]any
	if err := json.Unmarshal(text, &back); err != nil || back[key] == nil {
		t.Errorf("%v, %v", back, err)
	}
}

// A counter counts the tickets of a sink. A wrapper tells what it wraps.
type counter struct{ pipeline.Sink }

type wrapper struct{ counter }

func (w wrapper) Unwrap() pipeline.Sink { return w.Sink }

// Findings 5, 6 and 19: a file sink publishes its outputs, also behind a wrapper, or the
// wrapper is refused. Neither end needs a type that only this module can make.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.log")
	if err := os.WriteFile(in, []byte(strings.Repeat("http://h/%7e\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, wrap := range map[string]func(pipeline.Sink) pipeline.Sink{
		"plain":   func(s pipeline.Sink) pipeline.Sink { return s },
		"wrapped": func(s pipeline.Sink) pipeline.Sink { return wrapper{counter{s}} },
		"hidden":  func(s pipeline.Sink) pipeline.Sink { return counter{s} },
	} {
		s, err := sinkfile.Create(filepath.Join(dir, name, "{source.relpath}"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := run(t, wrap(s), sourcefile.Read(in))
		out, _ := filepath.Glob(filepath.Join(dir, name, "*"))
		if name == "hidden" {
			if err == nil || len(out) > 0 {
				t.Errorf("a wrapper without Unwrap: %q, %v", out, err)
			}
			continue
		}
		if err != nil || c.Written != 1000 || len(out) != 1 || filepath.Base(out[0]) != "in.log" {
			t.Errorf("%s: %q, %+v, %v", name, out, c, err)
		}
	}
}

// Finding 7: a table without its head is an error, and its head is no record.
func TestTable(t *testing.T) {
	read := func(j *record.Job) (urls []string, err error) {
		for rec, err := range record.NewReader(strings.NewReader("1,HTTP://h/a\n2,http://h/b\n"), j).Records() {
			if err != nil {
				return urls, err
			}
			for u := range rec.URLs() {
				urls = append(urls, string(u.Norm()))
			}
		}
		return urls, nil
	}
	if urls, err := read(&record.Job{Format: "csv", URLField: "url"}); err == nil {
		t.Errorf("without its head: %q", urls)
	}
	if urls, err := read(&record.Job{Format: "csv", URLField: "2", NoHeader: true}); err != nil || len(urls) != 2 {
		t.Errorf("%q, %v", urls, err)
	}
}

// Finding 8: a part does not depend on what dst held, and a call without a key gives a key
// that no set takes for another.
func TestResult(t *testing.T) {
	n := codec.MustNamed("equiv")
	var r codec.Result
	out, err := n.Append([]byte("prefix "), []byte("http://example.com/path"), &r)
	if err != nil || string(r.Part(codec.Path)) != "/path" || string(out) != "prefix http://example.com/path" {
		t.Errorf("%s, %s, %v", out, r.Part(codec.Path), err)
	}
	if r.Out.Has(codec.WholeURL) || len(r.Part(codec.WholeURL)) != 0 {
		t.Errorf("the component %v is %q", codec.WholeURL, r.Part(codec.WholeURL))
	}
	var parsed codec.Result
	if err := codec.Parse([]byte("http://h/"), &parsed); err != nil {
		t.Fatal(err)
	}
	set := seen.New(n.KeyVersion(codec.LevelDefault), 0)
	if !set.Add(codec.Key{}) || !set.Add(codec.Key{}) {
		t.Error("the zero Key counts as seen")
	}
}

// Finding 9: a Normalizer that New did not make says so.
func TestZeroNormalizer(t *testing.T) {
	var n codec.Normalizer
	if _, _, err := n.Normalize("http://h/"); err == nil || !strings.Contains(err.Error(), "not made by New") {
		t.Errorf("%v", err)
	}
}

// Finding 10: one value under two names.
func TestWouldBeUTF8(t *testing.T) {
	if codec.WouldBeUTF8 != percent.WouldBeUTF8 {
		t.Errorf("%d and %d", codec.WouldBeUTF8, percent.WouldBeUTF8)
	}
}

// A locator adds the URL from start to end.
type locator struct{ start, end int }

func (l locator) Locate(f *record.Found, _ []byte) (record.Reason, int) {
	f.AddURL(l.start, l.end, nil)
	return "", 0
}

func format(name string, l locator) record.Format {
	return record.Format{Name: name, Open: func(*record.Config) (*record.Framing, func() record.Locator, error) {
		return nil, func() record.Locator { return l }, nil
	}}
}

// Finding 11: a Format gets no option that it does not know; names, certainties and ranges
// that are wrong are errors.
func TestFormat(t *testing.T) {
	sure := format("mine", locator{})
	sure.Certainty = 250
	for what, j := range map[string]record.Job{
		"an unknown option":     {URLField: "url", Format: "mine", Formats: []record.Format{format("mine", locator{})}},
		"the name of a format":  {Format: "jsonl", Formats: []record.Format{format("jsonl", locator{})}},
		"a name twice":          {Format: "mine", Formats: []record.Format{format("mine", locator{}), format("mine", locator{})}},
		"Certainty":             {Format: "mine", Formats: []record.Format{sure}},
		"a range that is out":   {Format: "mine", Formats: []record.Format{format("mine", locator{0, 1000})}},
		"a range that is empty": {Format: "mine", Formats: []record.Format{format("mine", locator{5, 2})}},
	} {
		var failed error
		for _, err := range record.NewReader(strings.NewReader("http://h/\n"), &j).Records() {
			failed = errors.Join(failed, err)
		}
		if failed == nil {
			t.Errorf("%s is no error", what)
		}
	}
}

// Finding 12: a set of keys for many goroutines is saved, and loaded only for keys of the
// same version.
func TestSeen(t *testing.T) {
	n := codec.MustNamed("crawler")
	set := seen.New(n.KeyVersion(codec.LevelDefault), 0)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, key, _ := n.Normalize(fmt.Sprintf("http://h/%d", i/2))
			set.Add(key)
		})
	}
	all.Wait()
	var saved bytes.Buffer
	if _, err := set.WriteTo(&saved); err != nil || set.Len() != 4 {
		t.Fatalf("%d keys, %v", set.Len(), err)
	}
	again := seen.New(set.KeyVersion(), 0)
	if _, err := again.ReadFrom(bytes.NewReader(saved.Bytes())); err != nil || again.Len() != 4 {
		t.Errorf("%d keys, %v", again.Len(), err)
	}
	var version *seen.KeyVersionError
	if _, err := seen.New("k1-whatwg/1", 0).ReadFrom(&saved); !errors.As(err, &version) {
		t.Errorf("keys of another version: %v", err)
	}
}

// Finding 13: fields and times of records, and why a record has none.
func TestReader(t *testing.T) {
	log := `192.0.2.7 - - [29/Nov/2026:05:55:00 +0100] "GET /%7Ea HTTP/1.1" 404 5 "-" "-"` + "\nbroken\n"
	var got []string
	for rec, err := range record.NewReader(strings.NewReader(log), &record.Job{Format: "combined"}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		status, _ := rec.Field(record.FieldStatus)
		norm, _ := rec.Field(record.FieldNorm)
		at, _ := rec.Time()
		got = append(got, fmt.Sprintf("%s %s %d %s", status, norm, at.Unix(), rec.Reason()))
	}
	if want := []string{"404 /~a 1795928100 ", "  -62135596800 unparsed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Finding 14: errors have offsets, also wrapped ones; a string costs no allocation.
func TestErrorsAndStrings(t *testing.T) {
	n := codec.MustNamed("whatwg")
	_, _, err := n.Normalize("http://example.com:99999/")
	var at *codec.URLError
	if !errors.As(fmt.Errorf("wrapped: %w", err), &at) || at.Offset != 19 || !errors.Is(err, codec.ErrPortInvalid) {
		t.Errorf("%v, %+v", err, at)
	}
	if _, err := codec.Resolve(nil, []byte("b"), []byte("c")); !errors.As(err, &at) {
		t.Errorf("%v", err)
	}
	var r codec.Result
	var out []byte
	url := strings.Repeat("http://h/%7e", 10)
	if got := testing.AllocsPerRun(100, func() { out, _ = n.AppendString(out[:0], url, &r) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// Finding 15: a name that is wrong is told at once.
func TestNamed(t *testing.T) {
	var name *codec.NameError
	if _, err := codec.Named("crawlr"); !errors.As(err, &name) || !strings.Contains(err.Error(), "crawler") {
		t.Errorf("%v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustNamed does not panic")
		}
	}()
	codec.MustNamed("crawlr")
}

// Finding 16: the contract is a package; a mistake is a ContractError; answers to the zero
// Ticket do nothing.
func TestContract(t *testing.T) {
	var out bytes.Buffer
	pipelinetest.TestSink(t, func() pipeline.Sink {
		out.Reset()
		return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error { out.Write(t.Bytes()); return nil })
	}, func() []byte { return out.Bytes() })
	pipeline.Ticket{}.Ack()
	emits := pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error { return emit([]byte("http://h/")) })
	var contract *pipeline.ContractError
	wrong := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error { t.Refuse(errors.New("no")); return nil })
	if _, err := run(t, wrong, emits); !errors.As(err, &contract) {
		t.Errorf("%v", err)
	}
}

// Findings 17 and 20: a daemon with a sink of a plug-in runs in the process.
func TestRun(t *testing.T) {
	var out, stderr bytes.Buffer
	mine := sinks.Define("mine", func() *struct{} { return new(struct{}) }, func(struct{}, *sinks.Env) (pipeline.Sink, error) {
		return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error { out.Write(t.Bytes()); return nil }), nil
	})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"in":     "HTTP://h/%7e\n",
		"c.yaml": "data_dir: state\nsources:\n  - file: {from: lines, include: [in], mode: batch}\nsinks:\n  - mine: {}\nadmin: {listen: \"\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"run", "-c", filepath.Join(dir, "c.yaml")}
	if code := app.Run(ctx, app.Options{Sinks: []sinks.Type{mine}}, args, app.IO{Stderr: &stderr}); code != 0 || out.String() != "http://h/~\n" {
		t.Errorf("%d, %q, %s", code, &out, &stderr)
	}
}

// Finding 21: sets are opaque, and reasons are text.
func TestSets(t *testing.T) {
	p, err := codec.Lookup("equiv")
	if err != nil {
		t.Fatal(err)
	}
	q := p.Change(codec.RulesOf(codec.RuleDropFragment), codec.Rules{})
	q.Name = "mine"
	norm, _, err := must(codec.New(q)).Normalize("http://h/#f")
	if err != nil || norm != "http://h/" || string(record.Unparsed) != "unparsed" {
		t.Errorf("%s, %v", norm, err)
	}
}

func must(n *codec.Normalizer, err error) *codec.Normalizer {
	if err != nil {
		panic(err)
	}
	return n
}

package pipeline_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	sinknats "github.com/urlfold/urlfold/sinks/nats"
	sourcefile "github.com/urlfold/urlfold/sources/file"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var ctx = context.Background()

// run runs a pipeline and returns its counts and its error.
func run(t testing.TB, o pipeline.Options) (pipeline.Counts, error) {
	t.Helper()
	o.Job.Format = cmp.Or(o.Job.Format, "lines")
	p, err := pipeline.New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(ctx)
	return p.Counts(), err
}

// A list is a Source with one lane. A stored one is a Committer.
type list struct {
	rt    *pipeline.Runtime
	lane  string
	recs  []string
	start int64
}

func (l *list) Open(_ context.Context, rt *pipeline.Runtime) error { l.rt = rt; return nil }
func (*list) Close(context.Context) error                          { return nil }

func (l *list) Run(ctx context.Context) error {
	lane, err := l.rt.Lane(l.lane, l.start)
	if err != nil {
		return err
	}
	defer lane.End(true)
	for i, r := range l.recs { // a batch for each
		b, err := l.rt.Get(ctx, lane)
		if err != nil {
			return err
		}
		b.Append([]byte(r + "\n"))
		if err := l.rt.Emit(ctx, b, int64(i+1)); err != nil {
			return err
		}
	}
	return nil
}

type stored struct {
	list
	done pipeline.LanePosition
}

func (s *stored) Commit(_ context.Context, done []pipeline.LanePosition) error {
	s.done = done[len(done)-1]
	return nil
}

// collect returns a sink that collects records.
func collect(out *bytes.Buffer) pipeline.Sink {
	return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		out.Write(t.Bytes())
		return nil
	})
}

// stream starts a server with a stream that drops messages with an id that it has. It returns a
// new sink for it and a function that counts its messages.
func stream(t *testing.T) (sink func() pipeline.Sink, count func() uint64) {
	srv := natstest.Start(t, nil)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Duplicates: time.Hour, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	sink = func() pipeline.Sink {
		cfg := sinknats.DefaultJetStream()
		cfg.Servers, cfg.Subject = []string{srv.URL()}, "out.x"
		s, err := sinknats.NewJetStream(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return kinds.Outside.SinkOf(s).(pipeline.Sink)
	}
	return sink, func() uint64 {
		info, err := s.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
}

// urls returns n records.
func urls(n int, host string) (recs []string) {
	for i := range n {
		recs = append(recs, fmt.Sprintf("http://%s/%d", host, i))
	}
	return recs
}

// TestMessageIDs: a server that drops messages with an id that it has seen drops none of a
// source with new records: of two that use one name for their lane, and of two processes,
// one after the other.
func TestMessageIDs(t *testing.T) {
	sink, count := stream(t)
	want := uint64(0)
	check := func(what string, n int, o pipeline.Options) {
		t.Helper()
		o.Sinks = []pipeline.Sink{sink()}
		if c, err := run(t, o); err != nil || c.Written != int64(n) {
			t.Fatalf("%s: %+v, %v", what, c, err)
		}
		if want += uint64(n); count() != want {
			t.Fatalf("%s: %d messages are stored, want %d", what, count(), want)
		}
	}
	two := func() []pipeline.Source {
		return []pipeline.Source{&list{lane: "list", recs: urls(10, "a")}, &list{lane: "list", recs: urls(10, "b")}}
	}
	check("two sources", 20, pipeline.Options{Sources: two()})
	check("a second process", 20, pipeline.Options{Sources: two()})
	emits := pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error {
		for _, r := range urls(10, "c") {
			if err := emit([]byte(r)); err != nil {
				return err
			}
		}
		return nil
	})
	check("a function", 10, pipeline.Options{Sources: []pipeline.Source{emits}})
	check("the function again", 10, pipeline.Options{Sources: []pipeline.Source{emits}})

	first := &stored{list: list{lane: "list", recs: urls(10, "d")}}
	check("a source with positions", 10, pipeline.Options{Sources: []pipeline.Source{first}})
	if first.done != (pipeline.LanePosition{Lane: "list", Offset: int64(len("http://d/1\n") * 10), Token: 10}) {
		t.Fatalf("%+v is stored", first.done)
	}
	check("it goes on", 10, pipeline.Options{Sources: []pipeline.Source{&stored{list: list{lane: "list", recs: urls(10, "e"), start: first.done.Offset}}}})
	want -= 10 // after a kill before the commit, the same records come again
	check("it repeats", 10, pipeline.Options{Sources: []pipeline.Source{&stored{list: list{lane: "list", recs: urls(10, "e"), start: first.done.Offset}}}})
}

// TestLanes: mistakes with lanes and batches are errors that name the source.
func TestLanes(t *testing.T) {
	f := func(want string, run func(ctx context.Context, rt *pipeline.Runtime) error) {
		t.Helper()
		_, err := runSource(t, run)
		contract := new(pipeline.ContractError)
		if !errors.As(err, &contract) || contract.Part != "source 1" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v (%+v), want %q", err, contract, want)
		}
	}
	f("opens a lane without an id", func(_ context.Context, rt *pipeline.Runtime) error {
		_, err := rt.Lane("", 0)
		return err
	})
	f(`opens lane "a" at the negative offset -1`, func(_ context.Context, rt *pipeline.Runtime) error {
		_, err := rt.Lane("a", -1)
		return err
	})
	f(`opens lane "a", which is open`, func(_ context.Context, rt *pipeline.Runtime) error {
		_, err := rt.Lane("a", 0)
		if err == nil {
			_, err = rt.Lane("a", 0)
		}
		return err
	})
	f("emitted a batch twice", func(ctx context.Context, rt *pipeline.Runtime) error {
		b := get(ctx, rt)
		return errors.Join(rt.Emit(ctx, b, 0), rt.Emit(ctx, b, 0))
	})
	f("both records and messages", func(ctx context.Context, rt *pipeline.Runtime) error {
		b := get(ctx, rt)
		b.Append([]byte("http://h/\n"))
		b.AppendMessage(1, time.Time{}, nil, []byte("http://h/"))
		return rt.Emit(ctx, b, 0)
	})
	out, err := runSource(t, func(ctx context.Context, rt *pipeline.Runtime) error {
		l, err := rt.Lane("a", 0)
		if err != nil {
			return err
		}
		l.End(true)
		l, err = rt.Lane("a", 0) // it was ended
		if err != nil {
			return err
		}
		b, err := rt.Get(ctx, l)
		if err != nil {
			return err
		}
		if err := rt.Emit(ctx, b, 0); err != nil { // empty
			return err
		}
		b, err = rt.Get(ctx, l)
		if err != nil {
			return err
		}
		b.AppendMessage(7, time.Unix(1, 0), []byte("k"), []byte("http://h/%7e"))
		b.AddHeader("name", []byte("value"))
		if room := b.Room(); room <= 0 || b.Len() != len("http://h/%7e") {
			return fmt.Errorf("%d bytes in the batch, room for %d", b.Len(), room)
		}
		err = rt.Emit(ctx, b, 0)
		l.End(true)
		return err
	})
	if err != nil || out != "http://h/~\n k name=value 7" {
		t.Errorf("%q, %v", out, err)
	}
}

func get(ctx context.Context, rt *pipeline.Runtime) *pipeline.Batch {
	l, err := rt.Lane("a", 0)
	if err != nil {
		panic(err)
	}
	b, err := rt.Get(ctx, l)
	if err != nil {
		panic(err)
	}
	return b
}

// A source is a Source of one function.
type source struct {
	rt  *pipeline.Runtime
	run func(ctx context.Context, rt *pipeline.Runtime) error
}

func (s *source) Open(_ context.Context, rt *pipeline.Runtime) error { s.rt = rt; return nil }
func (s *source) Run(ctx context.Context) error                      { return s.run(ctx, s.rt) }
func (*source) Close(context.Context) error                          { return nil }

// runSource runs a source and returns what its records are, with keys, headers and positions of
// their messages.
func runSource(t *testing.T, f func(ctx context.Context, rt *pipeline.Runtime) error) (out string, err error) {
	sink := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		for _, r := range t.Records() {
			out += string(r.Bytes)
			if k := r.MessageKey(); k != nil {
				out += " " + string(k)
			}
			for name, value := range r.Headers() {
				out += " " + name + "=" + string(value)
			}
			pos, _ := r.Origin()
			out += fmt.Sprint(" ", pos)
		}
		return nil
	})
	_, err = run(t, pipeline.Options{Sources: []pipeline.Source{&source{run: f}}, Sinks: []pipeline.Sink{sink}})
	return out, err
}

// An acker is a source of messages that notes what is durable.
type acker struct {
	source
	durable []any
}

func (a *acker) Durable(tag any)                  { a.durable = append(a.durable, tag) }
func (*acker) Abandoned(any, error)               { panic("abandoned") }
func (*acker) Health() error                      { return errors.New("unwell") }
func (*acker) CheckConnect(context.Context) error { return errors.New("unreachable") }

func TestAcker(t *testing.T) {
	a := new(acker)
	a.run = func(ctx context.Context, rt *pipeline.Runtime) error {
		b := get(ctx, rt)
		b.SetTag("first")
		b.AppendMessage(1, time.Time{}, nil, []byte("http://h/"))
		return rt.Emit(ctx, b, 0)
	}
	if _, err := run(t, pipeline.Options{Sources: []pipeline.Source{a}, Sinks: []pipeline.Sink{collect(new(bytes.Buffer))}}); err != nil || !slices.Equal(a.durable, []any{"first"}) {
		t.Errorf("%v, %v", a.durable, err)
	}
}

// A wrapper counts the tickets of another sink. A hiding one has no Unwrap.
type hiding struct {
	pipeline.Sink
	n int
}

func (w *hiding) Submit(ctx context.Context, t pipeline.Ticket) error {
	w.n++
	return w.Sink.Submit(ctx, t)
}

type wrapper struct{ hiding }

func (w *wrapper) Unwrap() pipeline.Sink { return w.Sink }

// TestWrapper: a wrapper around a sink of files, with Unwrap, keeps what the sink can do: each
// lane has a compressed output with its final name. Without Unwrap it is refused.
func TestWrapper(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(strings.Repeat("http://h/%7e\n", 30000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	create := func(path string) pipeline.Sink {
		s, err := sinkfile.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	w := &wrapper{hiding{Sink: create(filepath.Join(out, "{source.relpath}.gz"))}}
	c, err := run(t, pipeline.Options{Sources: []pipeline.Source{sourcefile.Read(in)}, Sinks: []pipeline.Sink{w}, Ordered: true})
	names, _ := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || c.Written != 60000 || w.n == 0 || len(names) != 2 || filepath.Base(names[0]) != "a.gz" {
		t.Errorf("%q, %+v, %d tickets, %v", names, c, w.n, err)
	}
	var text bytes.Buffer
	if _, err := run(t, pipeline.Options{Sources: []pipeline.Source{sourcefile.Read(out)}, Sinks: []pipeline.Sink{collect(&text)}}); err != nil || text.String() != strings.Repeat("http://h/~\n", 60000) {
		t.Errorf("%d bytes, %v", text.Len(), err)
	}
	h := &hiding{Sink: create(filepath.Join(out, "c"))}
	_, err = run(t, pipeline.Options{Sources: []pipeline.Source{sourcefile.Read(in)}, Sinks: []pipeline.Sink{h}})
	if err == nil || !strings.Contains(err.Error(), "wrapped by a type without a method Unwrap") {
		t.Errorf("a sink that is hidden: %v", err)
	}
	hidden := struct{ pipeline.Source }{sourcefile.Read(in)}
	_, err = run(t, pipeline.Options{Sources: []pipeline.Source{hidden}, Sinks: []pipeline.Sink{collect(new(bytes.Buffer))}})
	if err == nil || !strings.Contains(err.Error(), "a source of this module is wrapped by a type without a method Unwrap") {
		t.Errorf("a source that is hidden: %v", err)
	}
}

// TestRead: damage to an archive is an error of the run, after what can be read.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.gz")
	if err := os.WriteFile(path, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, pipeline.Options{Sources: []pipeline.Source{sourcefile.Read(path)}, Sinks: []pipeline.Sink{collect(new(bytes.Buffer))}})
	if err == nil || !strings.Contains(err.Error(), "truncated at byte 10") {
		t.Errorf("a damaged archive: %v", err)
	}
	if _, err = run(t, pipeline.Options{Sources: []pipeline.Source{sourcefile.Read(path + ".gone")}, Sinks: []pipeline.Sink{collect(new(bytes.Buffer))}}); err == nil {
		t.Error("a missing file is no error")
	}
}

// TestAnswers tests each answer to a ticket of the records 0 to 4.
func TestAnswers(t *testing.T) {
	refused := errors.New("refused")
	f := func(written, dead, wantErr string, answer func(t pipeline.Ticket, try int)) {
		t.Helper()
		var out, letters strings.Builder
		try := 0
		sink := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
			for _, r := range t.Records() {
				out.WriteString(strings.TrimSuffix(strings.TrimPrefix(string(r.Bytes), "http://h/"), "\n"))
			}
			answer(t, try)
			try++
			return nil
		})
		dl := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
			for _, r := range t.Records() {
				_, record, _ := strings.Cut(string(r.Bytes), "http://h/")
				letters.WriteString(record[:1])
			}
			if !t.Dead() {
				return errors.New("dead letters that are none")
			}
			return nil
		})
		_, err := run(t, pipeline.Options{
			Sources: []pipeline.Source{&list{lane: "l", recs: []string{strings.Join(urls(5, "h"), "\n")}}},
			Sinks:   []pipeline.Sink{sink}, Ordered: true,
			DeadLetter: dl,
		})
		if out.String() != written || letters.String() != dead || wantErr == "" && err != nil || wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
			t.Errorf("written %q, dead %q, %v; want %q, %q, %q", out.String(), letters.String(), err, written, dead, wantErr)
		}
	}
	f("01234", "", "", func(pipeline.Ticket, int) {})
	f("01234", "", "", func(t pipeline.Ticket, _ int) { t.Ack() })
	f("0123401234", "", "", func(t pipeline.Ticket, try int) {
		if try == 0 {
			t.Retry(errors.New("not now"))
		}
	})
	f("01234", "13", "", func(t pipeline.Ticket, _ int) { t.Refuse(refused, 1, 3) })
	f("01234", "01234", "", func(t pipeline.Ticket, _ int) { t.RefuseAll(refused) })
	f("01234234", "1", "", func(t pipeline.Ticket, try int) { // 2 to 4 again
		if try == 0 {
			t.RefuseAt(refused, 1)
		}
	})
	f("0123434", "", "", func(t pipeline.Ticket, try int) {
		if try == 0 {
			t.Untried(3)
		}
	})
	f("01234", "", "the disk is gone", func(t pipeline.Ticket, _ int) { t.Fail(errors.New("the disk is gone")) })
	for _, answer := range []func(t pipeline.Ticket){
		func(t pipeline.Ticket) { t.Refuse(refused) },
		func(t pipeline.Ticket) { t.Refuse(refused, 3, 1) },
		func(t pipeline.Ticket) { t.Refuse(refused, 5) },
		func(t pipeline.Ticket) { t.RefuseAt(refused, 5) },
		func(t pipeline.Ticket) { t.Untried(-1) },
	} {
		f("01234", "", "BUG: pipeline: ", func(t pipeline.Ticket, _ int) { answer(t) })
	}
	var zero pipeline.Ticket
	zero.Ack()
	zero.Refuse(refused)
	if zero.Len() != 0 || zero.Bytes() != nil || zero.LaneName() != "" || zero.LaneID() != "" || zero.Dead() || zero.Held() {
		t.Error("the zero Ticket has records")
	}
}

// TestRefusedWithoutDeadLetter: the run ends with the error, and does not wait for ever.
func TestRefusedWithoutDeadLetter(t *testing.T) {
	for want, refuse := range map[string]func(t pipeline.Ticket){
		"no dead letter: too odd":  func(t pipeline.Ticket) { t.RefuseAll(errors.New("too odd")) },
		"no dead letter: very odd": func(t pipeline.Ticket) { t.Refuse(errors.New("very odd"), 0) },
		"without an error":         func(t pipeline.Ticket) { t.RefuseAll(nil) },
	} {
		sink := pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error { refuse(t); return nil })
		_, err := run(t, pipeline.Options{Sources: []pipeline.Source{&list{lane: "l", recs: urls(1, "h")}}, Sinks: []pipeline.Sink{sink}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestTable: the first record of a table is its header, in whatever batch it comes.
func TestTable(t *testing.T) {
	source := pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error {
		for _, r := range []string{"name,url", "a,HTTP://h/%7e", "b,http://h/"} {
			if err := emit([]byte(r)); err != nil {
				return err
			}
		}
		return nil
	})
	var out bytes.Buffer
	c, err := run(t, pipeline.Options{Sources: []pipeline.Source{source}, Sinks: []pipeline.Sink{collect(&out)}, Job: record.Job{Format: "csv", URLField: "url"}})
	if err != nil || c.URLs != 2 || out.String() != "name,url\na,http://h/~\nb,http://h/\n" {
		t.Errorf("%q, %+v, %v", out.String(), c, err)
	}
	l := &list{lane: "l", recs: []string{"x,y,url", "1,2,HTTP://h/%7e"}}
	out.Reset()
	if _, err := run(t, pipeline.Options{Sources: []pipeline.Source{l}, Sinks: []pipeline.Sink{collect(&out)}, Job: record.Job{Format: "csv", URLField: "url"}}); err != nil || out.String() != "x,y,url\n1,2,http://h/~\n" {
		t.Errorf("a batch for each record: %q, %v", out.String(), err)
	}
}

// TestAnswered: a ticket that was answered has no records any more.
func TestAnswered(t *testing.T) {
	sink := pipeline.SinkFunc(func(_ context.Context, ticket pipeline.Ticket) error {
		ticket.Ack()
		if ticket.Len() != 0 || ticket.Bytes() != nil {
			t.Error("a ticket that was answered has records")
		}
		for range ticket.Records() {
			t.Error("a record of a ticket that was answered")
		}
		return nil
	})
	if _, err := run(t, pipeline.Options{Sources: []pipeline.Source{&list{lane: "l", recs: urls(1, "h")}}, Sinks: []pipeline.Sink{sink}}); err != nil {
		t.Error(err)
	}
}

// keyed is a sink that needs keys.
type keyed struct {
	pipeline.Sink
	keys *[]codec.Key
}

func (keyed) NeedsFacts() bool { return true }

func (k keyed) Submit(_ context.Context, t pipeline.Ticket) error {
	for _, r := range t.Records() {
		*k.keys = append(*k.keys, r.Key())
	}
	t.Ack()
	return nil
}

func TestKeys(t *testing.T) {
	var keys []codec.Key
	_, err := run(t, pipeline.Options{
		Sources: []pipeline.Source{&list{lane: "l", recs: []string{"http://h/~", "http://h/%7e", "no URL"}}},
		Sinks:   []pipeline.Sink{keyed{collect(nil), &keys}}, Workers: 1, Ordered: true,
	})
	if err != nil || len(keys) != 3 || keys[0] != keys[1] || keys[0] == (codec.Key{}) {
		t.Errorf("%v, %v", keys, err)
	}
}

// TestOptions: mistakes in Options.
func TestOptions(t *testing.T) {
	in, out := &list{lane: "l"}, collect(nil)
	lines := record.Job{Format: "lines"}
	for want, o := range map[string]pipeline.Options{
		"missing Job.Format": {},
		"missing source":     {Job: lines, Sinks: []pipeline.Sink{out}},
		"missing sink":       {Job: lines, Sources: []pipeline.Source{in}},
		"sink 1 is nil":      {Job: lines, Sources: []pipeline.Source{in}, Sinks: []pipeline.Sink{nil}},
		"source 1 is nil":    {Job: lines, Sources: []pipeline.Source{nil}, Sinks: []pipeline.Sink{out}},
		"combinedd":          {Job: record.Job{Format: "combinedd"}, Sources: []pipeline.Source{in}, Sinks: []pipeline.Sink{out}},
		"invalid Output 6":   {Job: lines, Sources: []pipeline.Source{in}, Sinks: []pipeline.Sink{out}, Output: pipeline.OutputKeys + 1},
	} {
		if _, err := pipeline.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestOutputNames: output formats are stored by name.
func TestOutputNames(t *testing.T) {
	for f := pipeline.OutputRewrite; f <= pipeline.OutputKeys; f++ {
		got := pipeline.OutputKeys + 1
		text, err := f.MarshalText()
		if err != nil || got.UnmarshalText(text) != nil || got != f {
			t.Errorf("%s, %v: read as %v", text, err, got)
		}
	}
	var wrong *codec.NameError
	if err := new(pipeline.OutputFormat).UnmarshalText([]byte("jsnol")); !errors.As(err, &wrong) || wrong.Near != "jsonl" {
		t.Errorf("%v", err)
	}
	if _, err := (pipeline.OutputKeys + 1).MarshalText(); err == nil {
		t.Error("an invalid output format has a name")
	}
}

// TestJob: the settings of Job reach the records, those of a file as well.
func TestJob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	long := strings.Repeat("x", 3000)
	var log strings.Builder
	for _, target := range []string{"/%7Ea?b=1", "/b/../c", "/" + long, "http://[/"} {
		log.WriteString(`192.0.2.7 - - [29/Nov/2026:05:55:00 +0000] "GET ` + target + ` HTTP/1.1" 200 5 "http://h/r" "agent"` + "\n")
	}
	if err := os.WriteFile(path, []byte(log.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c, err := run(t, pipeline.Options{
		Job: record.Job{
			Format: "combined", Target: record.TargetAll, Base: "https://example.com/", Level: codec.LevelSyntax, MaxRecord: 1000,
			Fields: []record.Field{record.FieldNorm},
		},
		Output: pipeline.OutputTSV, Sources: []pipeline.Source{sourcefile.Read(path)}, Sinks: []pipeline.Sink{collect(&out)},
	})
	want := "https://example.com/~a?b=1\nhttp://h/r\nhttps://example.com/c\nhttp://h/r\n"
	if err != nil || !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), long) {
		t.Errorf("%v, got\n%s", err, out.String())
	}
	if c.Records != 4 || c.Rejected != 2 {
		t.Errorf("%+v, want 2 of 4 records rejected: one is too long, and one has a URL that cannot be parsed", c)
	}
	out.Reset()
	if _, err := run(t, pipeline.Options{
		Job:    record.Job{Format: "lines", Base: "https://example.com/", Level: codec.LevelSyntax},
		Output: pipeline.OutputKeys, Sources: []pipeline.Source{&list{lane: "l", recs: []string{"/%7Ea"}}}, Sinks: []pipeline.Sink{collect(&out)},
	}); err != nil {
		t.Fatal(err)
	}
	n := codec.MustNamed("equiv")
	var r codec.Result
	if _, err := n.AppendString(nil, "https://example.com/%7Ea", &r); err != nil {
		t.Fatal(err)
	}
	key, _ := r.Key(codec.LevelSyntax).MarshalText()
	if got, _, _ := strings.Cut(out.String(), "\t"); got != string(key) {
		t.Errorf("key %s, want %s", got, key)
	}
}

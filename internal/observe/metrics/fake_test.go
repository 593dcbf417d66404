package metrics

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A lineCodec drops lines that begin with D, puts those with X into the dead
// letter, and copies the others; the URLs of those with F are unwritten.
type lineCodec struct{}

func (lineCodec) Process(b *engine.Batch) {
	for b.Next < len(b.In) {
		rec := b.In[b.Next:]
		rec = rec[:bytes.IndexByte(rec, '\n')+1]
		b.Stats.Records++
		b.Stats.URLs++
		b.Stats.Flags[0]++
		b.Stats.Rules[1]++
		switch rec[0] {
		case 'D':
			b.Stats.Dropped++
		case 'X':
			b.Stats.Dead++
			b.Stats.Rejected++
			b.Stats.Rejects[record.Unparsed]++
			put(&b.Dead, rec, b.Next)
		default:
			if rec[0] == 'F' {
				b.Stats.Unwritten++
			}
			b.Stats.Emitted++
			put(&b.Out, rec, b.Next)
		}
		b.Next += len(rec)
	}
}

func put(s *engine.Stream, rec []byte, src int) {
	s.Recs = append(s.Recs, engine.OutRec{Span: engine.Span{Off: uint32(len(s.Bytes)), Len: uint32(len(rec))}, Src: uint32(src)})
	s.Bytes = append(s.Bytes, rec...)
}

func (lineCodec) Reject(b *engine.Batch) { panic("not reached: Process does not panic") }

func (lineCodec) Refuse(b *engine.Batch) {
	rec := b.In[b.Next:]
	put(&b.Dead, rec[:bytes.IndexByte(rec, '\n')+1], b.Next)
}

// A lineFilter drops lines that begin with F.
type lineFilter struct{}

func (lineFilter) Filter(b *engine.Batch, keep engine.Keep) error {
	for i, rec := range b.Out.Recs {
		if b.Out.Bytes[rec.Off] == 'F' {
			keep.Drop(i)
		}
	}
	return nil
}

// A lineSource emits the same batch again and again, on two lanes, until it is
// stopped.
type lineSource struct{ rt engine.Runtime }

func (s *lineSource) Open(_ context.Context, rt engine.Runtime) error { s.rt = rt; return nil }
func (s *lineSource) Close(context.Context) error                     { return nil }
func (s *lineSource) Commit(context.Context, []engine.LanePos) error  { return nil }

func (s *lineSource) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, name := range []string{"secret/path/1", "secret/path/2"} {
		l := s.rt.NewLane(name, engine.LaneLimits{})
		wg.Go(func() {
			defer s.rt.End(l)
			for i := int64(1); ; i++ {
				b, err := s.rt.Get(ctx, l)
				if err != nil {
					return
				}
				b.In = append(b.In, "a\nD\nX\nb\nR\nF\n"...)
				if s.rt.Emit(ctx, b, engine.Position{A: i}) != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// A lineSink answers from another goroutine. Of batch n it wants every 7th again, and
// refuses a record of every 5th for good.
type lineSink struct {
	dead bool
	mu   sync.Mutex
	n    int
	out  int // tickets that are not answered
	idle *sync.Cond
}

func newSink(dead bool) *lineSink {
	s := &lineSink{dead: dead}
	s.idle = sync.NewCond(&s.mu)
	return s
}

func (s *lineSink) Open(context.Context) error      { return nil }
func (s *lineSink) Close(ctx context.Context) error { return s.Barrier(ctx) }
func (s *lineSink) Caps() engine.SinkCaps           { return engine.SinkCaps{} }

func (s *lineSink) Submit(_ context.Context, _ *engine.Batch, t engine.Ticket) error {
	s.mu.Lock()
	s.n++
	s.out++
	n := s.n
	s.mu.Unlock()
	var r engine.Result
	switch {
	case s.dead:
	case n%7 == 0:
		r = engine.Result{Class: engine.Retryable, Err: errors.New("not now")}
	case n%5 == 0:
		r = engine.Result{Class: engine.Permanent, Err: errors.New("never"), Failed: []uint32{2}}
	}
	go func() {
		<-time.After(time.Millisecond)
		t.Done(r)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.out--; s.out == 0 {
			s.idle.Broadcast()
		}
	}()
	return nil
}

func (s *lineSink) Barrier(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.out > 0 {
		s.idle.Wait()
	}
	return nil
}

// newLoad returns a pipeline that never ends by itself.
func newLoad(t *testing.T) *engine.Pipeline {
	t.Helper()
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{&lineSource{}, &lineSource{}}, SourceNames: []string{"in-1", "in-2"},
		Sinks: []engine.Sink{newSink(false)}, SinkNames: []string{"out"}, DeadLetter: newSink(true), Filter: lineFilter{},
		NewCodec: func() engine.Codec { return lineCodec{} }, CommitInterval: 5 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scrape returns the series of h by name and labels, as they are written.
func scrape(t *testing.T, h http.Handler) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	series := make(map[string]float64)
	for sc := bufio.NewScanner(w.Body); sc.Scan(); {
		line := sc.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		series[line[:i]] = v
	}
	return series
}

package file

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// inMembers returns text as n gzip members with random borders.
func inMembers(t testing.TB, text string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		b.WriteString(gz(t, text[len(text)*i/n:len(text)*(i+1)/n]))
	}
	return b.String()
}

// intactPart returns the length of the part of a gzip file's text that the
// standard library verifies, and whether that is all of it.
func intactPart(data string) (n int, whole bool) {
	src := bufio.NewReader(strings.NewReader(data))
	zr, err := gzip.NewReader(src)
	for err == nil {
		zr.Multistream(false)
		var size int64
		if size, err = io.Copy(io.Discard, zr); err != nil {
			break
		}
		n += int(size)
		if err = zr.Reset(src); errors.Is(err, io.EOF) {
			return n, true
		}
	}
	return n, false
}

// records returns the whole lines of text.
func records(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// TestFlipped flips each byte of a file of several members, one at a time. Read
// twice, the file yields exactly its verified records.
func TestFlipped(t *testing.T) {
	t.Parallel()
	text := strings.Join(numbered("l", 0, 60), "")
	data := inMembers(t, text, 4)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.gz")
	for at := 10; at < len(data); at++ {
		bad := []byte(data)
		bad[at] ^= 0x10
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		n, whole := intactPart(string(bad))
		s, rt := run(t, Config{Paths: []string{path}, OnDamage: damageQuarantine})
		want := records(text[:n])
		if got := string(rt.Text(path)); got != want {
			t.Fatalf("byte %d: %d bytes emitted, want %d verified ones (%v)", at, len(got), len(want), s.Reports()[0].Verdict)
		}
		r := s.Reports()[0]
		if garbage := r.Verdict.Kind == compress.TrailingGarbage; r.Verdict.Damage() == (whole || garbage) {
			t.Fatalf("byte %d: verdict %v", at, r.Verdict)
		}
		if r.Verdict.Damage() && (r.Verified.Bytes != int64(len(want)) || r.Verified.Lines != int64(strings.Count(want, "\n")) || !r.Withheld) {
			t.Fatalf("byte %d: report %+v, want %d verified bytes", at, r, len(want))
		}
	}
}

// TestRanges reads files with different kinds of damage and checks the reported
// ranges. All records are emitted.
func TestRanges(t *testing.T) {
	t.Parallel()
	one := strings.Join(numbered("l", 0, 100), "")
	two := strings.Join(numbered("l", 100, 100), "")
	bad := []byte(gz(t, two))
	bad[len(bad)-5] ^= 1
	open := []byte(gz(t, two[:len(two)-1])) // the last line is not terminated
	open[len(open)-5] ^= 1
	cases := []struct {
		name, data                   string
		verified, unverified, misfit int64
		text                         string
	}{
		{"intact.gz", gz(t, one) + gz(t, two), 200, 0, 0, "ok"},
		{"sum.gz", gz(t, one) + string(bad), 100, 100, 111, "lines 1 to 100 are verified, lines 101 to 200 are unverified (the first one that does not fit the format is probably line 111)"},
		{"open.gz", gz(t, one) + string(open), 100, 100, 111, "lines 101 to 200 are unverified"},
		{"first.gz", string(bad) + gz(t, one), 0, 200, 11, "lines 1 to 200 are unverified"},
		{"border.gz", gz(t, one+two[:7]) + string(bad[:len(bad)-8]), 100, 99, 0, "lines 1 to 100 are verified, lines 101 to"},
		{"cut.gz", gz(t, one) + gz(t, two)[:12], 100, 0, 0, "lines 1 to 100 are verified, the rest cannot be read"},
		{"cutline.gz", cutLine(t), 0, 0, 0, "are unverified"},
		{"plain", one, 0, 100, 0, "ok"},
	}
	for _, c := range cases {
		dir := write(t, map[string]string{c.name: c.data})
		s, _ := run(t, Config{Paths: []string{filepath.Join(dir, c.name)}, FitOf: func(string, []byte) func([]byte) bool {
			return func(rec []byte) bool {
				return rec[len(rec)-1] == '\n' && !bytes.HasPrefix(rec, []byte("l|110|")) && !bytes.HasPrefix(rec, []byte("l|10|"))
			}
		}})
		r := s.Reports()[0]
		if c.name == "border.gz" {
			c.misfit, c.unverified = r.Misfit, r.Unverified.Lines // depends on how much can be decompressed
		}
		if c.name == "cutline.gz" {
			c.unverified = r.Unverified.Lines
			if v := compress.Verify(strings.NewReader(c.data), compress.Options{}); v.Lines != r.Verified.Lines+r.Unverified.Lines || r.Lost == 0 {
				t.Errorf("%s: %d lines and %d bytes of a truncated line; Verify counts %d lines", c.name, r.Unverified.Lines, r.Lost, v.Lines)
			}
		}
		if c.name == "first.gz" {
			c.misfit = 11 // line 11 is l|110|
		}
		if r.Verified.Lines != c.verified || r.Unverified.Lines != c.unverified || r.Misfit != c.misfit || !strings.Contains(r.Text(), c.text) || r.Withheld {
			t.Errorf("%s: %d lines verified, %d unverified, misfit %d: %s", c.name, r.Verified.Lines, r.Unverified.Lines, r.Misfit, r.Text())
		}
	}
}

// cutLine returns a gzip file that is cut within a line.
func cutLine(t *testing.T) string {
	var text strings.Builder
	rng := rand.New(rand.NewPCG(1, 2)) // always the same: some numbers end a line at the cut
	for range 2000 {
		fmt.Fprintf(&text, "%x\n", rng.Uint64())
	}
	whole := gz(t, text.String())
	return whole[:len(whole)*2/3]
}

// TestOpenLastLine checks that a last line without a line end counts as an
// unverified line, as it counts as a record, in a source and in a watcher.
func TestOpenLastLine(t *testing.T) {
	t.Parallel()
	all := numbered("l", 0, 100)
	bad := []byte(gz(t, strings.TrimSuffix(strings.Join(all[40:], ""), "\n")))
	bad[len(bad)-5] ^= 1 // in the checksum
	dir := write(t, map[string]string{"a.gz": gz(t, strings.Join(all[:40], "")) + string(bad)})
	for _, onDamage := range []string{damageEmit, damageQuarantine, damageSkip} {
		check := func(who string, r Report) {
			if r.Verified.Lines != 40 || r.Unverified.Lines != 60 {
				t.Errorf("%s, %s: %d lines verified, %d unverified, want 40 and 60", who, onDamage, r.Verified.Lines, r.Unverified.Lines)
			}
		}
		s, _ := run(t, Config{Paths: []string{filepath.Join(dir, "a.gz")}, OnDamage: onDamage})
		check("source", s.Reports()[0])
		set := batch(dir)
		set.OnDamage = onDamage
		d := start(t, t.TempDir(), set, &shelf{}, nil)
		d.wait()
		check("watcher", d.reports[0])
	}
}

// TestWithdraw holds the lane of a damaged file and reads the withdrawn part.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	one := strings.Join(numbered("l", 0, 100), "")
	two := strings.Join(numbered("l", 100, 100), "")
	bad := []byte(gz(t, one[len(one)-3:]+two))
	bad[len(bad)-5] ^= 1
	verified := records(one[:len(one)-3])
	for _, concurrent := range []bool{false, true} {
		paths := []string{filepath.Join(write(t, map[string]string{"a.gz": gz(t, one[:len(one)-3]) + string(bad)}), "a.gz")}
		if concurrent {
			paths = append(paths, paths[0]+".none") // more than one input
			put(t, paths[1], "")
		}
		s, err := New(Config{Paths: paths, OnDamage: damageQuarantine, Framing: lines{}})
		if err != nil {
			t.Fatal(err)
		}
		s.Hold()
		var all strings.Builder
		p, err := engine.New(engine.Options{
			Sources: []engine.Source{s}, Sinks: []engine.Sink{&shelf{}}, Ordering: engine.OrderInput,
			NewCodec: func() engine.Codec { return echo{} }, BatchBytes: 4 << 10,
		})
		if err == nil {
			err = p.Run(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		r := s.Reports()[0]
		u := r.Lane.Withdrawn()
		if u == nil || !r.Withheld || r.Lane.VerifiedStats().Records != 99 || r.Unverified.Lines != 101 {
			t.Fatalf("%+v, %d verified records", r, r.Lane.VerifiedStats().Records)
		}
		for range 2 {
			all.Reset()
			rc, err := u.Open()
			if err == nil {
				_, err = io.Copy(&all, onlyRead{rc})
				err = errors.Join(err, rc.Close())
			}
			if err != nil || verified+all.String() != one+two {
				t.Errorf("%d bytes after %d: %v", all.Len(), len(verified), err)
			}
		}
	}
}

// TestOnDamageRefused checks that policies that read inputs twice refuse stdin.
func TestOnDamageRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{damageSkip, damageQuarantine} {
		if _, err := New(Config{Stdin: strings.NewReader(""), OnDamage: mode, Framing: lines{}}); err == nil || !strings.Contains(err.Error(), "may read inputs twice") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := New(Config{Stdin: strings.NewReader(""), OnDamage: "no", Framing: lines{}}); err == nil {
		t.Error("unknown policy accepted")
	}
	if _, rt := run(t, Config{Stdin: io.MultiReader(strings.NewReader(gz(t, "a\nb\n"))), OnDamage: damageEmit}); string(rt.Text("-")) != "a\nb\n" {
		t.Error("stdin is refused")
	}
}

// TestPipeVerified checks that data from a pipe is verified, although another
// goroutine reads the pipe.
func TestPipeVerified(t *testing.T) {
	t.Parallel()
	text := strings.Join(numbered("l", 0, 5000), "")
	data := []byte(gz(t, text) + gz(t, text))
	data[len(data)-5] ^= 1
	s, _ := runWith(t, Config{Stdin: bytes.NewReader(data)}, testkit.NewRuntime(4, 4<<10))
	if r := s.Reports()[0]; r.Verified.Lines != 5000 || r.Unverified.Lines != 5000 {
		t.Errorf("verified %+v, unverified %+v, %v", r.Verified, r.Unverified, r.Verdict)
	}
}

// A heldRun is a run of a watcher with exactly-once outputs, one for each
// input.
type heldRun struct {
	p     *engine.Pipeline
	w     *killable
	store *checkpoint.Store
	done  chan error
}

// A killable is a watcher that stores nothing after it was killed.
type killable struct {
	*watcher
	dead  atomic.Bool
	stuck bool // it never finishes a lane
}

func (k *killable) CommitCut(ctx context.Context, ups []engine.LanePos, extents []engine.Extent) error {
	if k.dead.Load() {
		return nil
	}
	return k.watcher.CommitCut(ctx, ups, extents)
}

func (k *killable) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	if k.stuck || k.dead.Load() {
		return slices.Repeat([]error{errDead}, len(lanes))
	}
	return k.watcher.Finish(ctx, lanes)
}

func (k *killable) Close(ctx context.Context) error {
	if k.dead.Load() {
		return nil
	}
	return k.watcher.Close(ctx)
}

// A loggedSink has the methods of a daemon's file sink.
type loggedSink interface {
	engine.Sink
	engine.ExtentReporter
	engine.CutObserver
	engine.Finisher
	engine.Healther
}

// A killableLog does not publish outputs after its source was killed, because
// it would rely on positions that were not stored.
type killableLog struct {
	loggedSink
	source *killable
}

var errDead = errors.New("killed")

func (l *killableLog) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	if l.source.dead.Load() {
		return slices.Repeat([]error{errDead}, len(lanes))
	}
	return l.loggedSink.Finish(ctx, lanes)
}

func (l *killableLog) CutStored() {
	if !l.source.dead.Load() {
		l.loggedSink.CutStored()
	}
}

func startHeld(t testing.TB, data, out, in string, mods ...func(*killable)) *heldRun {
	t.Helper()
	set := batch(in)
	set.OnDamage = damageQuarantine
	store, err := checkpoint.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	w, err := makeWatcher(WatchConfig{Settings: set, Framing: lines{}, Host: Host{Store: store, Hold: true}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := sink.DefaultLogConfig()
	cfg.Path, cfg.ExactlyOnce, cfg.SyncInterval = filepath.Join(out, "{source.relpath}"), true, time.Millisecond
	cfg.Resume = store.Extents("sink 1")
	l, err := sink.NewLog(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &heldRun{w: &killable{watcher: w}, store: store, done: make(chan error, 1)}
	for _, mod := range mods {
		mod(r.w)
	}
	r.p, err = engine.New(engine.Options{
		ExactlyOnce: true, Sources: []engine.Source{r.w}, Sinks: []engine.Sink{&killableLog{l.(loggedSink), r.w}}, Ordering: engine.OrderPerLane,
		NewCodec: func() engine.Codec { return echo{} }, BatchBytes: 4 << 10, CommitInterval: 2 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- r.p.Run(context.Background()) }()
	return r
}

// TestQuarantineKilled kills runs over damaged files at random times and lets
// the last run finish: the outputs hold each verified record once, and the rest
// is next to them.
func TestQuarantineKilled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in, out, data := t.TempDir(), t.TempDir(), t.TempDir()
		type file struct{ text, verified, rest string }
		files := map[string]file{}
		for i := range 6 {
			name := fmt.Sprintf("%d.log", i)
			text := strings.Join(numbered(name, 0, 200+rng.IntN(3000)), "")
			bad := []byte(inMembers(t, text, 1+rng.IntN(5)*(i%2)))
			if i > 0 {
				bad[12+rng.IntN(len(bad)-12)] ^= 4
			}
			put(t, filepath.Join(in, name+".gz"), string(bad))
			n, _ := intactPart(string(bad))
			zr := compress.NewReader(bytes.NewReader(bad), compress.Options{Name: name + ".gz"})
			all, err := io.ReadAll(onlyRead{zr})
			if err != nil {
				t.Fatal(err)
			}
			f := file{text: text, verified: records(text[:n])}
			if zr.Verdict().Damage() {
				f.rest = string(all[len(f.verified):])
			} else {
				f.verified = string(all)
			}
			zr.Close()
			files[name] = f
		}
		for range 1 + rng.IntN(5) {
			r := startHeld(t, data, out, in)
			time.Sleep(time.Duration(rng.IntN(30_000)) * time.Microsecond)
			r.w.dead.Store(true)
			r.p.HardStop()
			<-r.done
			_ = r.store.Close()
		}
		r := startHeld(t, data, out, in)
		if err := errors.Join(<-r.done, r.store.Close()); err != nil {
			t.Fatal(err)
		}
		var want []string
		for name, f := range files {
			if got := contentOf(t, filepath.Join(out, name)); got != f.verified {
				t.Errorf("seed %d, %s: %d bytes, want %d verified ones", seed, name, len(got), len(f.verified))
			}
			want = append(want, name)
			if f.rest == "" {
				continue
			}
			want = append(want, name+".unverified")
			if got := contentOf(t, filepath.Join(out, name+".unverified")); got != f.rest {
				t.Errorf("seed %d, %s: %d unverified bytes kept, want %d", seed, name, len(got), len(f.rest))
			}
		}
		slices.Sort(want)
		if got := names(t, out); !slices.Equal(got, want) {
			t.Errorf("seed %d: files %v, want %v", seed, got, want)
		}
	}
}

func contentOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func names(t testing.TB, dir string) (all []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		all = append(all, d.Name())
	}
	return all
}

// TestClosedAgain ends a run after the sink and before the source is finished:
// the output has its final name, and the checkpoint says quarantined. The next
// run repeats nothing.
func TestClosedAgain(t *testing.T) {
	t.Parallel()
	in, out, data := t.TempDir(), t.TempDir(), t.TempDir()
	text := strings.Join(numbered("l", 0, 500), "")
	bad := []byte(gz(t, text))
	bad[len(bad)-5] ^= 1
	put(t, filepath.Join(in, "all.gz"), string(bad))
	put(t, filepath.Join(in, "part.gz"), gz(t, text)+string(bad))
	r := startHeld(t, data, out, in, func(k *killable) { k.stuck = true })
	want := []string{"all", "all.unverified", "part", "part.unverified"}
	until(t, "names", func() bool {
		_, err := os.Stat(out)
		return err == nil && slices.Equal(names(t, out), want)
	})
	r.w.dead.Store(true)
	r.p.HardStop()
	<-r.done
	_ = r.store.Close()
	c, _ := checkpoint.List(data)
	for _, e := range c.Entries {
		if e.State != checkpoint.Quarantined {
			t.Errorf("%s has state %s", e.Path, e.State)
		}
	}
	r = startHeld(t, data, out, in)
	if err := errors.Join(<-r.done, r.store.Close()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, out); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	c, _ = checkpoint.List(data)
	for _, e := range c.Entries {
		if e.State != checkpoint.Damaged || !strings.Contains(e.Verdict, "are unverified") {
			t.Errorf("%s has state %s: %s", e.Path, e.State, e.Verdict)
		}
	}
	if contentOf(t, filepath.Join(out, "part")) != text || contentOf(t, filepath.Join(out, "all")) != "" || contentOf(t, filepath.Join(out, "all.unverified")) != text {
		t.Error("unexpected outputs")
	}
}

// kinds returns the number of distinct lines.
func (s *shelf) kinds() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(slices.Values(s.lines))
	return len(slices.Compact(all))
}

// TestQuarantineTail follows a file to which members are added, the last of
// them damaged. Read twice, each member is emitted once it is verified.
func TestQuarantineTail(t *testing.T) {
	t.Parallel()
	in, data := t.TempDir(), t.TempDir()
	path := filepath.Join(in, "a.gz")
	var all []string
	set := quick(in)
	set.OnDamage, set.DamageAfter = damageQuarantine, time.Hour
	shelf := &shelf{}
	d := start(t, data, set, shelf, nil)
	for i := range 3 {
		more := numbered("l", i*300, 300)
		member := gz(t, strings.Join(more, ""))
		put(t, path, member[:len(member)-3]) // still being written
		time.Sleep(30 * time.Millisecond)
		if n := shelf.kinds(); n != len(all) {
			t.Fatalf("%d lines emitted, %d verified", n, len(all))
		}
		put(t, path, member[len(member)-3:])
		all = append(all, more...)
		until(t, "the member", func() bool { return shelf.kinds() == len(all) })
		if i == 1 {
			d.kill()
			d = start(t, data, set, shelf, nil)
		}
	}
	bad := []byte(gz(t, "garbage\n"))
	bad[len(bad)-5] ^= 1
	put(t, path, string(bad))
	until(t, "the verdict", func() bool { d.ahead.Add(int64(time.Minute)); return d.w.Stats().Damaged == 1 })
	d.end()
	for _, l := range shelf.lines {
		if !slices.Contains(all, l) {
			t.Errorf("%q was emitted", l)
		}
	}
	if s := d.w.Stats(); s.UnverifiedWithheld != 1 || s.UnverifiedEmitted != 0 {
		t.Errorf("%+v", s)
	}
}

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

var quarantines = []experiment{
	{
		name: "quarantine", no: "4", about: "gzip files with one and with many members and a flipped bit, and intact files, read with on_damage: quarantine and kill -9 in between; daemon with exactly once and at least once, and one-shot",
		bound: "no garbage line in any output; all verified records once (at least once: never fewer); all other bytes in OUTPUT.unverified where outputs can be truncated; exit code 4",
		run:   quarantine,
	},
}

// A flipped is a damaged file and its expected result.
type flipped struct {
	name     string // in the folder in/
	lane     uint64
	data     []byte
	verified uint64 // number of records
	damaged  bool
	rest     []byte // the text after these records, as far as it can be decompressed
}

// A quarantining is the experiment.
type quarantining struct {
	*setup
	lab   *lab
	files []flipped
	kills int
}

func quarantine(ctx context.Context, l *lab) error {
	q := &quarantining{lab: l}
	spec := chaos.Spec{Seed: l.seed, Format: chaos.Lines}
	var members, damaged int
	for i := range l.times(60, 546) {
		n := 1
		if i%2 == 1 {
			n = 2 + l.rng.IntN(40)
		}
		f, err := flipOne(&spec, l, uint64(i), n)
		if err != nil {
			return err
		}
		members += n
		if f.damaged {
			damaged++
		}
		q.files = append(q.files, f)
	}
	l.did("%d files with %d members, with a flipped bit in all except every twelfth; the bit damages %d of them", len(q.files), members, damaged)
	for _, exactly := range []bool{true, false} {
		if err := q.daemon(ctx, spec, exactly); err != nil {
			return err
		}
	}
	return q.oneShots(ctx, spec)
}

// flipOne returns a file of n members, with records that cross their borders.
func flipOne(spec *chaos.Spec, l *lab, lane uint64, n int) (flipped, error) {
	f := flipped{name: fmt.Sprintf("%04d.log.gz", lane), lane: lane}
	var text []byte
	size := 30_000 + l.rng.IntN(400_000)
	for i := uint64(0); len(text) < size; i++ {
		text = spec.Append(text, lane, i)
	}
	var packed bytes.Buffer
	for i := range n {
		zw := gzip.NewWriter(&packed)
		if _, err := zw.Write(text[len(text)*i/n : len(text)*(i+1)/n]); err != nil {
			return f, err
		}
		if err := zw.Close(); err != nil {
			return f, err
		}
	}
	f.data = packed.Bytes()
	if lane%12 != 11 {
		f.data[20+l.rng.IntN(len(f.data)-20)] ^= 1 << l.rng.IntN(8)
	}
	verified, sound := soundMembers(f.data)
	f.damaged = !sound
	end := bytes.LastIndexByte(text[:verified], '\n') + 1
	f.verified = uint64(bytes.Count(text[:end], []byte{'\n'}))
	zr := compress.NewReader(bytes.NewReader(f.data), compress.Options{Name: f.name})
	defer zr.Close()
	all, err := io.ReadAll(zr)
	f.rest = all[min(end, len(all)):]
	return f, err
}

// soundMembers returns the decompressed size of the leading members of data
// whose checksums match according to the standard library, and whether these
// are all.
func soundMembers(data []byte) (n int, sound bool) {
	src := bufio.NewReader(bytes.NewReader(data))
	var zr gzip.Reader
	for {
		// RFC 1952 section 2.3.1.2 requires rejecting reserved bits. The
		// library does not.
		if head, _ := src.Peek(4); len(head) == 4 && head[3]&0xe0 != 0 {
			return n, false
		}
		if err := zr.Reset(src); err != nil {
			return n, errors.Is(err, io.EOF)
		}
		zr.Multistream(false)
		size, err := io.Copy(io.Discard, &zr)
		if err != nil {
			return n, false
		}
		n += int(size)
	}
}

// prepare writes the files.
func (q *quarantining) prepare(spec chaos.Spec, dir string) error {
	q.setup = &setup{dir: dir, spec: spec, source: ", on_damage: quarantine", sink: ", compress: none"}
	q.defaults()
	in := filepath.Join(dir, "in")
	if err := os.MkdirAll(in, 0o755); err != nil {
		return err
	}
	for _, f := range q.files {
		if err := os.WriteFile(filepath.Join(in, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// daemon lets the daemon read all files and kills it several times.
func (q *quarantining) daemon(ctx context.Context, spec chaos.Spec, exactly bool) error {
	l := q.lab
	hits := l.times(6, 25)
	latest := time.Duration(l.times(300, 600)) * time.Millisecond
	for i := range hits {
		if i == 0 || q.kills == 0 { // the last run ended before its kill: start over and kill sooner
			if err := q.prepare(spec, l.path(fmt.Sprintf("exactly-%v-%d", exactly, i))); err != nil {
				return err
			}
			q.exactly, q.kills = exactly, 0
			latest = max(latest/2, 25*time.Millisecond)
		}
		p, err := q.begin(ctx, l)
		if err != nil {
			return err
		}
		select {
		case <-time.After(l.between(20*time.Millisecond, latest)):
		case <-p.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
		if !p.Ended() {
			p.Kill()
			q.kills++
		} else if q.kills > 0 {
			break
		}
	}
	p, err := q.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	l.did("daemon, exactly once: %v: %d kills", exactly, q.kills)
	l.check(q.kills > 0, "no kill during a run")
	var all tally
	for i := range q.files {
		f := &q.files[i]
		out := filepath.Join(q.outDir, strings.TrimSuffix(f.name, ".gz"))
		all.add(q.judgeOne(spec, f, out, exactly, exactly))
	}
	l.figure(fmt.Sprintf("exactly once: %v", exactly), all.String())
	return q.noLeftovers(q.outDir)
}

// oneShots reads some of the files with the one-shot command, each into its own
// output. It kills a first run and lets a second one finish.
func (q *quarantining) oneShots(ctx context.Context, spec chaos.Spec) error {
	l := q.lab
	dir := l.path("once")
	if err := q.prepare(spec, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(q.outDir, 0o755); err != nil {
		return err
	}
	var all tally
	var killed int
	for i := 0; i < len(q.files); i += 5 {
		f := &q.files[i]
		out := filepath.Join(q.outDir, f.name)
		args := []string{"-f", string(spec.Format), "--quiet", "--force", "--compress", "none", "--on-damage", "quarantine", "-o", out, filepath.Join(dir, "in", f.name)}
		p, err := l.start(ctx, nil, args...)
		if err != nil {
			return err
		}
		select {
		case <-time.After(l.between(5*time.Millisecond, 60*time.Millisecond)):
			p.Kill()
			killed++
		case <-p.Done():
		}
		code := 0
		if f.damaged {
			code = 4
		}
		if _, err := l.finish(ctx, code, args...); err != nil {
			return err
		}
		all.add(q.judgeOne(spec, f, out, true, true))
	}
	l.did("one-shot runs over one file each, %d of them killed and repeated", killed)
	l.figure("one-shot", all.String())
	return q.noLeftovers(q.outDir)
}

// A tally counts lines of outputs.
type tally struct{ verified, lost, doubled, garbage, kept int64 }

func (t *tally) add(o tally) {
	t.verified += o.verified
	t.lost += o.lost
	t.doubled += o.doubled
	t.garbage += o.garbage
	t.kept += o.kept
}

// String returns the counts.
func (t *tally) String() string {
	return fmt.Sprintf("verified records %d, lost %d, doubled %d, garbage lines %d, unverified bytes kept %d",
		t.verified, t.lost, t.doubled, t.garbage, t.kept)
}

// judgeOne checks the output of one file. once means that no record may appear
// twice, and kept means that the unverified text must be in a separate file.
func (q *quarantining) judgeOne(spec chaos.Spec, f *flipped, out string, once, kept bool) (t tally) {
	l := q.lab
	want := map[string]bool{}
	var line []byte
	for n := range f.verified {
		line = spec.Want(line[:0], f.lane, n, chaos.Folded)
		want[string(line)] = false
	}
	text, err := os.ReadFile(out)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && !once && f.verified == 0) {
		l.check(false, "%s: %v", f.name, err)
	}
	for _, line := range bytes.SplitAfter(text, []byte{'\n'}) {
		switch seen, known := want[string(line)]; {
		case len(line) == 0:
		case !known:
			t.garbage++
		case seen:
			t.doubled++
		default:
			want[string(line)] = true
			t.verified++
		}
	}
	t.lost = int64(f.verified) - t.verified
	l.check(t.lost == 0 && t.garbage == 0 && (!once || t.doubled == 0), "%s, %d verified records: %v", f.name, f.verified, &t)
	raw, err := os.ReadFile(out + ".unverified")
	switch {
	case !kept || !f.damaged || len(f.rest) == 0:
		l.check(errors.Is(err, fs.ErrNotExist), "%s: unexpected file of %d unverified bytes", f.name, len(raw))
	case err != nil:
		l.check(false, "%s: %v", f.name, err)
	default:
		l.check(bytes.Equal(raw, f.rest), "%s: %d bytes were kept; they differ from the %d unverified bytes", f.name, len(raw), len(f.rest))
		t.kept = int64(len(raw))
	}
	return t
}

// noLeftovers checks that there are no unfinished files and none with a number
// in its name.
func (q *quarantining) noLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name := d.Name()
			q.lab.check(!strings.HasSuffix(name, ".part") && !strings.Contains(name, "-2."), "%s was left over", name)
		}
		return err
	})
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urlfold/urlfold/chaos"
)

var damages = []experiment{
	{
		name: "cut", no: "3", about: "gzip and zstd files truncated at each of their last bytes and at random bytes",
		bound: "every complete record before the cut appears once and in order; verdict truncated; exit code 4; the next file is read",
		run:   cut,
	},
	{
		name: "flip", no: "4", about: "flipped bits, wrong checksums, garbage, padding, empty files, files with only a header; one-shot and daemon",
		bound: "the verdict is exact; records before the damage appear once; garbage is damage and padding a warning; intact files next to them are complete",
		run:   flip,
	},
}

// A specimen is a damaged file of records.
type specimen struct {
	name  string
	lane  uint64
	data  []byte
	whole uint64   // number of records before the damage, which must be output
	most  uint64   // maximum number of records of the output; 0: whole. A decoder may get more out of the last bytes than chaos.Whole does
	loose bool     // any output may follow these records
	kinds []string // acceptable verdicts
}

// A verdictReport is the part of the program's report that the experiments use.
type verdictReport struct {
	ExitCode int `json:"exit_code"`
	Files    []struct {
		Path    string `json:"path"`
		Verdict struct {
			Kind string `json:"kind"`
		} `json:"verdict"`
	} `json:"files"`
}

// specimens writes files and runs the program over all of them.
func (l *lab) specimens(ctx context.Context, spec chaos.Spec, all []specimen, code int) error {
	if err := l.feedSpecimens(ctx, spec, all, code); err != nil {
		return err
	}
	return l.judgeSpecimens(spec, all, l.path("out"))
}

// feedSpecimens writes the files and runs the program, but does not check its
// output.
func (l *lab) feedSpecimens(ctx context.Context, spec chaos.Spec, all []specimen, code int) error {
	if err := os.RemoveAll(l.path("in")); err != nil {
		return err
	}
	if err := os.MkdirAll(l.path("in"), 0o755); err != nil {
		return err
	}
	for _, s := range all {
		if err := os.WriteFile(l.path("in", s.name), s.data, 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(l.path("out")); err != nil {
		return err
	}
	if err := os.Mkdir(l.path("out"), 0o755); err != nil {
		return err
	}
	report := l.path("report.json")
	if _, err := l.finish(ctx, code, "-f", string(spec.Format), "--quiet", "--summary", report, "-o", l.path("out", "all.log"), l.path("in")); err != nil {
		return err
	}
	verdicts, err := readVerdicts(report)
	if err != nil {
		return err
	}
	for _, s := range all {
		got := verdicts[s.name]
		l.check(slices.Contains(s.kinds, got), "%s: verdict is %q, want one of %q", s.name, got, s.kinds)
	}
	return nil
}

func readVerdicts(report string) (map[string]string, error) {
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	var r verdictReport
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	kinds := map[string]string{}
	for _, f := range r.Files {
		kinds[filepath.Base(f.Path)] = f.Verdict.Kind
	}
	return kinds, nil
}

// judgeSpecimens checks the output of the specimens.
func (l *lab) judgeSpecimens(spec chaos.Spec, all []specimen, dir string) error {
	o := chaos.NewOracle(spec)
	loose := false
	for _, s := range all {
		o.Expect(s.lane, max(s.whole, s.most))
		if s.most > s.whole {
			o.Excuse(s.lane, s.whole, s.most)
		}
		if s.loose {
			loose = true
			o.Wild(s.lane)
		}
	}
	if _, err := o.ReadTree(dir, false); err != nil {
		return err
	}
	r := o.Result()
	ok := r.Lost == 0 && r.Doubled == 0 && r.Reordered == 0 && r.Invented == 0 && (loose || r.Corrupted == 0)
	l.check(ok, "%v: %v", &r, r.Examples)
	l.figure(fmt.Sprintf("%d files", len(all)), r.String())
	return nil
}

// archive returns a file of records.
func archive(spec *chaos.Spec, k chaos.Kind, lane uint64, size int64) ([]byte, uint64, error) {
	var buf bytes.Buffer
	n, err := spec.Write(&buf, k, lane, size)
	return buf.Bytes(), n, err
}

// cut truncates one file at each of its last bytes, and others at random bytes.
func cut(ctx context.Context, l *lab) error {
	if err := l.sweep(ctx, l.times(400, 64<<10)); err != nil {
		return err
	}
	spec := chaos.Spec{Seed: l.seed, Format: chaos.Lines}
	random := l.times(30, 1000)
	var lane uint64
	for _, k := range []chaos.Kind{chaos.Gzip, chaos.Members, chaos.Zstd} {
		var all []specimen
		for range random {
			s, err := cutAt(&spec, k, lane, 100<<10, func(n int) int { return 20 + l.rng.IntN(n-20) })
			if err != nil {
				return err
			}
			all = append(all, s)
			lane++
		}
		if err := l.specimens(ctx, spec, all, 4); err != nil {
			return err
		}
	}
	l.did("%d files each of gzip, gzip with several members, and zstd, truncated at random bytes", random)
	return nil
}

// fewMore is the number of additional records that a decoder may get out of the
// last two bytes of a truncated member, compared with chaos.Whole.
const fewMore = 4

// sweep truncates a gzip file of slightly more than n bytes at each of its last
// n bytes. All copies go to one output, ordered by name, so that the expected
// output is known exactly.
func (l *lab) sweep(ctx context.Context, n int) error {
	spec := chaos.Spec{Seed: l.seed, Format: chaos.Lines, Dense: true}
	data, records, err := archive(&spec, chaos.Gzip, 0, int64(n)*7/5+8192)
	if err != nil {
		return err
	}
	if len(data) < n {
		return fmt.Errorf("file has only %d bytes, want at least %d", len(data), n)
	}
	text, ends := []byte(nil), []int{0}
	for i := range records {
		text = spec.Want(text, 0, i, chaos.Folded)
		ends = append(ends, len(text))
	}
	const chunk = 8192
	var lines uint64
	for from := 0; from < n; from += chunk {
		var all []specimen
		for i := from; i < min(from+chunk, n); i++ {
			data := data[:len(data)-1-i]
			s := specimen{name: fmt.Sprintf("%07d.gz", i), data: data, whole: chaos.Whole(data), kinds: []string{"truncated"}}
			lines += s.whole
			all = append(all, s)
		}
		if err := l.feedSpecimens(ctx, spec, all, 4); err != nil {
			return err
		}
		if err := l.compare(all, text, ends); err != nil {
			return err
		}
	}
	l.did("a gzip file of %d bytes, truncated at each of its last %d bytes; %d complete records before the cuts, all of them in the output, in order, and nothing else", len(data), n, lines)
	return nil
}

// compare compares the output with its expected content: for each specimen a
// prefix of text.
func (l *lab) compare(all []specimen, text []byte, ends []int) error {
	f, err := os.Open(l.path("out", "all.log"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened only for reading
	r := bufio.NewReaderSize(f, 1<<20)
	got := make([]byte, len(text))
	for _, s := range all {
		want := text[:ends[s.whole]]
		if _, err := io.ReadFull(r, got[:len(want)]); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if !bytes.Equal(got[:len(want)], want) {
			l.check(false, "%s: the output is not a prefix of the expected text", s.name)
			return nil
		}
		for i := s.whole; i > 0 && i < s.whole+fewMore && int(i)+1 < len(ends); i++ {
			next := text[ends[i]:ends[i+1]] // no record is a prefix of another
			if more, _ := r.Peek(len(next)); !bytes.Equal(more, next) {
				break
			}
			_, _ = r.Discard(len(next)) // buffered, so this cannot fail
		}
	}
	rest, err := io.Copy(io.Discard, r)
	l.check(rest == 0, "%d bytes of unexpected output", rest)
	return err
}

// cutAt returns an archive of n bytes truncated to at(n) bytes.
func cutAt(spec *chaos.Spec, k chaos.Kind, lane uint64, size int64, at func(n int) int) (specimen, error) {
	data, records, err := archive(spec, k, lane, size)
	if err != nil {
		return specimen{}, err
	}
	data = data[:max(0, at(len(data)))]
	whole := chaos.Whole(data)
	s := specimen{name: fmt.Sprintf("%07d%s", lane, k.Ext()), lane: lane, data: data, whole: whole, most: min(whole+fewMore, records), kinds: []string{"truncated"}}
	if k == chaos.Members {
		s.kinds = append(s.kinds, "ok") // a cut between two members cannot be detected
	}
	return s, nil
}

func flip(ctx context.Context, l *lab) error {
	spec := chaos.Spec{Seed: l.seed, Format: chaos.Lines}
	all, err := l.flips(&spec, l.times(20, 1000))
	if err != nil {
		return err
	}
	l.did("%d files, damaged and intact, read by the one-shot command", len(all))
	if err := l.specimens(ctx, spec, all, 4); err != nil {
		return err
	}
	return l.flipDaemon(ctx, spec, all)
}

// flipDaemon lets the daemon read the same files.
func (l *lab) flipDaemon(ctx context.Context, spec chaos.Spec, all []specimen) error {
	s := &setup{dir: l.dir, spec: spec, source: quickSource, outDir: l.path("daemon"), more: "log: {format: json, repeat_interval: 0s}\n"}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	l.did("the same files read by the daemon")
	return l.judgeSpecimens(spec, all, s.outDir)
}

// flips returns a file with each kind of defect, and n files with a flipped
// bit.
func (l *lab) flips(spec *chaos.Spec, n int) (all []specimen, err error) {
	add := func(kind string, k chaos.Kind, spoil func(data []byte, s *specimen) []byte) {
		lane := uint64(len(all))
		data, records, err2 := archive(spec, k, lane, 200<<10)
		if err2 != nil {
			err = err2
			return
		}
		s := specimen{name: fmt.Sprintf("%05d%s", lane, k.Ext()), lane: lane, whole: records, kinds: []string{kind}}
		s.data = spoil(data, &s)
		all = append(all, s)
	}
	last := func(back int) func([]byte, *specimen) []byte {
		return func(data []byte, _ *specimen) []byte { data[len(data)-back] ^= 0x10; return data }
	}
	add("ok", chaos.Gzip, func(data []byte, _ *specimen) []byte { return data })
	add("bad-crc", chaos.Gzip, last(6))
	add("bad-crc", chaos.Gzip, last(2))
	for _, k := range []chaos.Kind{chaos.Gzip, chaos.Zstd} {
		add("corrupt", k, func(data []byte, _ *specimen) []byte { return append(data, "this is no member"...) })
		add("trailing-garbage", k, func(data []byte, _ *specimen) []byte { return append(data, make([]byte, 512)...) })
		add("corrupt", k, func(data []byte, _ *specimen) []byte { // the start of a second member is overwritten
			second := bytes.Clone(data)
			for i := range 32 {
				second[i] = byte(l.rng.Uint32()) | 1
			}
			return append(data, second...)
		})
	}
	add("truncated", chaos.Gzip, func(data []byte, s *specimen) []byte { s.whole = 0; return data[:10] })
	add("ok", chaos.Plain, func([]byte, *specimen) []byte { return nil })
	all[len(all)-1].whole = 0
	for i := range n {
		k := [...]chaos.Kind{chaos.Gzip, chaos.Zstd}[i%2]
		add("", k, func(data []byte, s *specimen) []byte {
			at := 20 + l.rng.IntN(len(data)-30)
			s.whole, s.loose = chaos.Whole(data[:at]), true
			s.kinds = []string{"corrupt", "bad-crc", "truncated", "limit"}
			data[at] ^= 1 << l.rng.IntN(8)
			return data
		})
	}
	add("ok", chaos.Zstd, func(data []byte, _ *specimen) []byte { return data })
	return all, err
}

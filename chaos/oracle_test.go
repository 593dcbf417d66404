package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A scene is the output of a run, which a test modifies.
type scene struct {
	spec  Spec
	lines [][]byte
	dead  [][]byte
}

// letterOf returns a dead letter in the form that the program writes.
func letterOf(rec []byte) []byte {
	text, _ := json.Marshal(string(rec)) // never fails
	return fmt.Appendf(nil, `{"reason":"port-invalid","at":19,"file":"a","line":1,"offset":0,"record":%s}`, text)
}

// newScene returns the output of a run without faults.
func newScene(spec Spec, lanes, n uint64) *scene {
	s := &scene{spec: spec}
	for i := range n {
		for l := range lanes {
			if spec.Poisoned(i) {
				s.dead = append(s.dead, letterOf(spec.Append(nil, l, i)))
			} else {
				s.lines = append(s.lines, bytes.TrimSuffix(spec.Want(nil, l, i, Folded), []byte{'\n'}))
			}
		}
	}
	return s
}

func (s *scene) judge(lanes, n uint64) Result {
	o := NewOracle(s.spec)
	for l := range lanes {
		o.Expect(l, n)
	}
	for _, part := range [][][]byte{s.lines, s.dead} {
		var text []byte
		for _, line := range part {
			text = append(append(text, line...), '\n')
		}
		if err := o.NewStream().Read(bytes.NewReader(text)); err != nil {
			panic(err) // a bytes.Reader does not fail
		}
	}
	return o.Result()
}

// TestOracle damages an output in each possible way, and checks that the oracle
// detects exactly that.
func TestOracle(t *testing.T) {
	spec := Spec{Seed: 5, Format: Combined, Poison: 10}
	const lanes, n = 3, 200
	f := func(name string, spoil func(s *scene), want func(r *Result)) {
		t.Helper()
		s := newScene(spec, lanes, n)
		spoil(s)
		got := s.judge(lanes, n)
		w := newScene(spec, lanes, n).judge(lanes, n)
		want(&w)
		got.Examples, w.Examples = nil, nil
		w.Records, w.Letters, w.Forms = got.Records, got.Letters, got.Forms
		if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", w); g != w {
			t.Errorf("%s:\n got %s\nwant %s", name, g, w)
		}
	}
	cut := func(p *[][]byte, i int) { *p = append((*p)[:i:i], (*p)[i+1:]...) }
	f("all well", func(*scene) {}, func(r *Result) {
		if !r.Exact() || r.Expected != lanes*n {
			t.Errorf("%v", r)
		}
	})
	f("a record is gone", func(s *scene) { cut(&s.lines, 77) }, func(r *Result) { r.Lost = 1 })
	f("the last one is gone", func(s *scene) { s.lines = s.lines[:len(s.lines)-1] }, func(r *Result) { r.Lost = 1 })
	f("a letter is gone", func(s *scene) { cut(&s.dead, 7) }, func(r *Result) { r.Lost = 1 })
	f("all is gone", func(s *scene) { s.lines, s.dead = nil, [][]byte{s.dead[0]} }, func(r *Result) { r.Lost = lanes*n - 1 })
	f("a record is doubled", func(s *scene) { s.lines = append(s.lines, s.lines[0]) }, func(r *Result) {
		r.Doubled, r.Distance, r.DoubledIn = 1, n-1, map[uint64]int64{0: 1}
	})
	f("a piece is doubled", func(s *scene) { s.lines = append(s.lines[:90:90], s.lines[30:]...) }, func(r *Result) {
		r.Doubled, r.Distance, r.DoubledIn = 60, 22, map[uint64]int64{0: 20, 1: 20, 2: 20}
	})
	f("a letter is doubled", func(s *scene) { s.dead = append(s.dead, s.dead[3]) }, func(r *Result) {
		r.Doubled, r.DoubledIn = 1, map[uint64]int64{0: 1}
	})
	f("two are in the wrong order", func(s *scene) { s.lines[6], s.lines[6+lanes] = s.lines[6+lanes], s.lines[6] }, func(r *Result) { r.Reordered = 1 })
	f("lanes are in another order", func(s *scene) { s.lines[6], s.lines[7] = s.lines[7], s.lines[6] }, func(*Result) {})
	f("a record is torn", func(s *scene) { s.lines[50] = s.lines[50][:20] }, func(r *Result) { r.Corrupted, r.Lost = 1, 1 })
	f("a byte is changed", func(s *scene) { s.lines[50][5] ^= 1 }, func(r *Result) { r.Corrupted, r.Lost = 1, 1 })
	f("two are one", func(s *scene) { s.lines[5] = append(s.lines[5], s.lines[6]...); cut(&s.lines, 6) }, func(r *Result) { r.Corrupted, r.Lost = 1, 2 })
	f("an empty line", func(s *scene) { s.lines[5] = nil }, func(r *Result) { r.Corrupted, r.Lost = 1, 1 })
	f("one is invented", func(s *scene) { s.lines = append(s.lines, bytes.TrimSpace(spec.Want(nil, 0, n, Folded))) }, func(r *Result) { r.Invented = 1 })
	f("a lane is invented", func(s *scene) { s.lines = append(s.lines, bytes.TrimSpace(spec.Want(nil, lanes, 1, Folded))) }, func(r *Result) { r.Invented = 1 })
	f("poison passes through", func(s *scene) {
		cut(&s.dead, 0)
		s.lines = append(s.lines, bytes.TrimSpace(spec.Append(nil, 0, 9)))
	}, func(r *Result) { r.Misrouted, r.Reordered = 1, 1 })
	f("a good one is a letter", func(s *scene) {
		cut(&s.lines, 0)
		s.dead = append(s.dead, letterOf(spec.Append(nil, 0, 0)))
	}, func(r *Result) { r.Misrouted = 1 })
	f("a letter of a record that is too long", func(s *scene) {
		s.dead = append(s.dead, []byte(`{"reason":"record-too-long","file":"a","line":7,"end":9000612}`))
	}, func(r *Result) { r.Reasons = map[string]int64{"record-too-long": 1} })
	f("a letter is torn", func(s *scene) { s.dead[0] = s.dead[0][:40] }, func(r *Result) { r.Corrupted, r.Lost = 1, 1 })
}

func TestExcuse(t *testing.T) {
	s := newScene(Spec{Seed: 1, Format: Lines}, 1, 100)
	o := NewOracle(s.spec)
	o.Expect(0, 100)
	o.Excuse(0, 10, 20)
	st := o.NewStream()
	for i, l := range s.lines {
		if i < 8 || i >= 20 {
			st.Line(l)
		}
	}
	if r := o.Result(); r.Excused != 10 || r.Lost != 2 || o.Seen() != 88 {
		t.Errorf("%v, seen %d", r, o.Seen())
	}
}

// TestWild checks that a damaged lane may have arbitrary output after its last
// expected record, but not before it.
func TestWild(t *testing.T) {
	s := newScene(Spec{Seed: 1, Format: Lines}, 1, 100)
	o := NewOracle(s.spec)
	o.Expect(0, 50)
	o.Wild(0)
	st := o.NewStream()
	for _, i := range []int{0, 1, 1, 3, 2} {
		st.Line(s.lines[i])
	}
	for i := 4; i < 50; i++ {
		st.Line(s.lines[i])
	}
	for _, i := range []int{50, 7, 7, 99, 60} {
		st.Line(s.lines[i])
	}
	if r := o.Result(); r.Lost != 0 || r.Doubled != 1 || r.Reordered != 1 || r.Invented != 0 || r.Wild != 5 {
		t.Errorf("%v, wild %d", &r, r.Wild)
	}
}

// TestForeign checks that lines and dead letters with the mark are only
// counted.
func TestForeign(t *testing.T) {
	s := newScene(Spec{Seed: 1, Format: Lines}, 1, 3)
	o := NewOracle(s.spec)
	o.Expect(0, 3)
	o.Foreign("other.example")
	st := o.NewStream()
	for _, l := range append(s.lines, []byte("http://other.example/"), letterOf([]byte("x other.example\n"))) {
		st.Line(l)
	}
	if r := o.Result(); !r.Exact() || r.Foreign != 2 || r.Records != 3 {
		t.Errorf("%v, foreign %d", &r, r.Foreign)
	}
}

// TestRead checks that lines are found however the reader delivers them, and
// that a line without its end does not count as complete.
func TestRead(t *testing.T) {
	s := newScene(Spec{Seed: 1, Format: Lines}, 1, 50)
	text := string(bytes.Join(s.lines, []byte{'\n'}))
	for _, end := range []string{"\n", ""} {
		o := NewOracle(s.spec)
		o.Expect(0, 50)
		if err := o.NewStream().Read(&onebyone{strings.NewReader(text + end)}); err != nil {
			t.Fatal(err)
		}
		r := o.Result()
		if want := int64(1 - len(end)); r.Corrupted != want || r.Lost != want {
			t.Errorf("end %q: %v", end, &r)
		}
	}
}

type onebyone struct{ *strings.Reader }

func (r *onebyone) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }

// TestKinds checks that each kind of file holds the requested records and can
// be read back.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		spec := Spec{Seed: 8, Format: Lines}
		dir := t.TempDir()
		n, err := spec.WriteFile(filepath.Join(dir, "in", "a"+k.Ext()), k, 2, 300<<10)
		if err != nil {
			t.Fatal(err)
		}
		o := NewOracle(spec)
		o.Expect(2, n)
		d, err := o.ReadTree(dir, false)
		r := o.Result()
		// The records have the written form, unlike those of an output.
		if err != nil || len(d) != 1 || !r.Exact() || r.Forms[Raw] != int64(n) || n < 2000 {
			t.Errorf("%s: %d records: %v, %v, %v", k, n, &r, d, err)
		}
		if fi, err := os.Stat(filepath.Join(dir, "in", "a"+k.Ext())); err != nil || k != Plain && fi.Size() > 290<<10 {
			t.Errorf("%s: %v, %v", k, fi.Size(), err)
		}
	}
}

func TestDigests(t *testing.T) {
	a, b := Digests{"x": "1", "y": "2"}, Digests{"x": "1", "y": "3", "z": "4"}
	if d := a.Diff(b); len(d) != 2 {
		t.Errorf("%v", d)
	}
	if d := a.Diff(a); d != nil {
		t.Errorf("%v", d)
	}
}

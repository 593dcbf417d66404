package record

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestForms compares AppendRun with Append for records that differ in few places, so
// that those of some formats have forms.
func TestForms(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	hits := map[string]int{}
	for _, l := range finders(t) {
		w := newJob(t, l.config).NewWorker()
		s := formerOf(w)
		if l.config.Base != "" {
			continue
		}
		head := headOf(w.job, l.text)
		for _, line := range bytes.SplitAfter(l.text[len(head):], locate.LineFeed)[:3] {
			if len(line) == 0 {
				continue
			}
			in := varied(rnd, line, 200)
			checkNext(t, l.config, append(bytes.Clone(head), in...))
			if s != nil {
				hits[l.name] += countFormed(s, in)
			}
		}
	}
	for name, n := range hits {
		if n == 0 && name != "aws-waf" && name != "har" { // the headers in these records have no order
			t.Errorf("no record of %s had a form", name)
		}
	}
	if len(hits) < 10 {
		t.Errorf("%d formats have forms, want more", len(hits))
	}
}

// TestFormsOfBadLines inserts each byte that separates fields at each place of a line
// between two that have a form.
func TestFormsOfBadLines(t *testing.T) {
	for _, l := range finders(t) {
		head := headOf(newJob(t, l.config), l.text)
		line, _, _ := bytes.Cut(l.text[len(head):], locate.LineFeed)
		line = append(bytes.Clone(line), '\n')
		in := append(bytes.Clone(head), bytes.Repeat(line, 3)...)
		for at := range min(len(line), 300) {
			c := " \t\",:="[at%6]
			in = append(append(append(in, line[:at]...), c), line[at:]...)
			if at%8 == 0 {
				in = append(in, line...)
			}
		}
		for _, sep := range []string{" ", "\t", "\""} {
			in = append(append(in, sep...), line...)
		}
		checkNext(t, l.config, in)
	}
}

// TestCorporaForms compares AppendRun with Append for the logs of the corpora.
func TestCorporaForms(t *testing.T) {
	for _, name := range append(corpora(t, "logs/*/*"), corpora(t, "attack/crowdsec/*")...) {
		in := readFile(t, name)
		g, ok := Detect(in[:min(len(in), 1<<16)])
		if !ok {
			continue
		}
		for _, format := range []string{g.Format, "log", "logfmt"} {
			c := Config{Format: format, Normalizer: normalizers["equiv"]}
			if j, err := New(c); err != nil || j.NewWorker().keeper == nil {
				continue
			}
			t.Logf("%s: %d of %d records of %s", name, checkNext(t, c, in[:min(len(in), 1<<20)]), bytes.Count(in, locate.LineFeed), format)
		}
	}
}

// formerOf returns the locator of w if it knows forms, or nil.
func formerOf(w *Worker) locate.Former {
	if k, ok := w.keeper.(*foundKeeper); ok {
		return k.former
	}
	return nil
}

// countFormed returns the number of the lines of in whose form is known.
func countFormed(s locate.Former, in []byte) (n int) {
	for line := range bytes.Lines(in) {
		rec := locate.TrimEnd(line)
		if locate.IsBlank(rec) {
			continue
		}
		h := s.FormOf(rec)
		if h != nil {
			n++
		}
		s.LocateForm(new(Found), rec, h)
	}
	return n
}

// varied returns n variants of line, each followed by line itself. Most variants
// differ from it only in digits.
func varied(rnd *rand.Rand, line []byte, n int) (out []byte) {
	const special = "\t\r \"'#%&(),-./:;=>?@[\\]_{|}~\x7f\x80\xc3\xa9\xff09AZxu"
	for range n {
		v := bytes.Clone(line)
		for range 1 + rnd.IntN(3) {
			at := rnd.IntN(len(v))
			switch c := v[at]; {
			case locate.IsDigit(c) && rnd.IntN(4) > 0:
				v[at] = '0' + byte(rnd.IntN(10))
			case locate.IsDigit(c):
				v = bytes.Join([][]byte{v[:at], {'1', c}, v[at:]}, nil)
			case rnd.IntN(3) == 0 && at+1 < len(v):
				v[at] = special[rnd.IntN(len(special))]
			case rnd.IntN(3) == 0:
				v = bytes.Join([][]byte{v[:at], {special[rnd.IntN(len(special))]}, v[at:]}, nil)
			}
		}
		out = append(append(out, v...), line...)
	}
	return out
}

// headOf returns the header record of a log, or the lines before its first record.
func headOf(j *Job, log []byte) []byte {
	if n := j.Framing().Head(log); n > 0 {
		return log[:n]
	}
	n := 0
	for n < len(log) && log[n] == '#' {
		n += bytes.IndexByte(log[n:], '\n') + 1
	}
	return log[:n]
}

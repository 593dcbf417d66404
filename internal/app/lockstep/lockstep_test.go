package lockstep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// newJob returns a job for c with the profile equiv.
func newJob(t testing.TB, c record.Config) *record.Job {
	t.Helper()
	c.Normalizer = codec.MustNamed("equiv")
	j, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// urls is the configuration of the tests that need only one.
func urls(t testing.TB) Config {
	return Config{Job: newJob(t, record.Config{Format: "lines", Render: record.RenderURLs, MaxRecord: 64}), Empty: []byte("\n"), MaxRecord: 64, MaxAhead: 1 << 20}
}

// TestRun: every line has one answer, whatever it is.
func TestRun(t *testing.T) {
	long := "http://H/" + strings.Repeat("x", 100)
	table := record.Config{Format: "tsv", URLField: "2", Dialect: "backslash", Quote: "none", NoHeader: true, Render: record.RenderTSV, Fields: []string{"url", "norm", "error"}}
	rewrite := record.Config{Format: "lines", MaxRecord: 64}
	quoted := record.Config{Format: "csv", URLField: "1", NoHeader: true, Render: record.RenderCSV, Fields: []string{"url", "norm"}}
	for _, test := range []struct {
		name     string
		c        record.Config
		empty    string
		in, want string
		refused  int64
	}{
		{"urls", record.Config{Format: "lines", Render: record.RenderURLs}, "\n", "http://H\n\nno url\nhttp://[/\r\nhttp://H/%7e\r\n", "http://h/\n\n\n\nhttp://h/~\n", 0},
		{"no line feed at the end", record.Config{Format: "lines", Render: record.RenderURLs}, "\n", "http://H\nhttp://I", "http://h/\nhttp://i/\n", 0},
		{"rewrite", rewrite, "\n", "http://H\n\n http://[\nhttp://H\r\nhttp://H", "http://h/\n\n http://[\nhttp://h/\r\nhttp://h/\n", 0},
		{"rewrite, too long", rewrite, "\n", "http://H\n" + long + "\nhttp://H\n" + long, "http://h/\n" + long + "\nhttp://h/\n" + long + "\n", 0},
		{"too long", record.Config{Format: "lines", Render: record.RenderURLs, MaxRecord: 64}, "\n", long + "\nhttp://H\n" + long + "\n", "\nhttp://h/\n\n", 0},
		{"too long, objects", record.Config{Format: "lines", Render: record.RenderJSONL, Fields: []string{"norm"}, MaxRecord: 64}, "{}\n", "\n" + long + "\nhttp://H\n", "{}\n{\"error\":\"record-too-long\",\"line\":2}\n{\"norm\":\"http://h/\"}\n", 0},
		{"table", table, "\t\t\n", "1\thttp://H/\\\\\\t\\n\n2\t\\N\n3\n4\thttp://[\n5\t\n", "http://H/\\\\\\t\\n\thttp://h//\t\n\t\t\n\t\tfield-missing\nhttp://[\t\thost-invalid\n\t\t\n", 0},
		{"quoted cell that does not end", quoted, ",\n", "\"http://H\nhttp://H\"\n\"http://H/\"\n", ",\n\"http://H\"\"\",\"http://h\"\"/\"\nhttp://H/,http://h/\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Job: newJob(t, test.c), Empty: []byte(test.empty), MaxRecord: test.c.MaxRecord, MaxAhead: 1 << 20}
			for name, in := range map[string]io.Reader{"blocks": strings.NewReader(test.in), "bytes": iotest.OneByteReader(strings.NewReader(test.in)), "data with the end": iotest.DataErrReader(strings.NewReader(test.in))} {
				var out bytes.Buffer
				st, err := Run(in, &out, c)
				if err != nil || out.String() != test.want || st.Lines != int64(strings.Count(test.want, "\n")) || st.Refused != test.refused || !st.Balanced() {
					t.Errorf("%s: %v, %+v\n%q, want\n%q", name, err, st, out.String(), test.want)
				}
			}
		})
	}
}

// TestComplete: an answer with line feeds within is refused.
func TestComplete(t *testing.T) {
	for in, want := range map[string]string{"": "EMPTY\n", "a": "a\n", "a\n": "a\n", "\n": "\n", "a\nb\n": "EMPTY\n", "a\nb": "EMPTY\n", "\n\n": "EMPTY\n"} {
		s := &server{Config: Config{Empty: []byte("EMPTY\n")}, out: []byte("before\n" + in)}
		s.complete(len("before\n"))
		refused := int64(0)
		if in != "" && want == "EMPTY\n" {
			refused = 1
		}
		if got := strings.TrimPrefix(string(s.out), "before\n"); got != want || s.stats.Refused != refused {
			t.Errorf("%q: %q, refused %d", in, got, s.stats.Refused)
		}
	}
}

// TestChunks: blocks that begin with their number of lines. The number is not
// answered.
func TestChunks(t *testing.T) {
	for _, test := range []struct{ in, want, err string }{
		{"", "", ""},
		{"0\n0\n", "", ""},
		{"2\nhttp://H\nhttp://I\n1\n\n0\n1\nhttp://J", "http://h/\nhttp://i/\n\nhttp://j/\n", ""},
		{"2\r\nhttp://H\nhttp://I\n", "http://h/\nhttp://i/\n", ""},
		{"2\nhttp://H\n", "http://h/\n", "the input ends after 1 of 2 lines"},
		{"1\nhttp://H\nhttp://user:secret@h/\n", "http://h/\n", "expected a number of lines after 1 answers"},
		{"-1\n", "", "expected a number"},
		{"\n", "", "expected a number"},
		{"99999999999999999999\n", "", "expected a number"},
		{strings.Repeat("1", 100) + "\n", "", "expected a number"},
		{strings.Repeat("1", 1000), "", "expected a number"},
	} {
		c := urls(t)
		c.Chunks = true
		for _, in := range []io.Reader{strings.NewReader(test.in), iotest.OneByteReader(strings.NewReader(test.in))} {
			var out bytes.Buffer
			_, err := Run(in, &out, c)
			if out.String() != test.want || (err == nil) != (test.err == "") {
				t.Errorf("%.50q: %q, %v", test.in, out.String(), err)
			}
			if err != nil && (!errors.Is(err, ErrChunk) || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%.50q: %v, want %s", test.in, err, test.err)
			}
		}
	}
}

// TestConversation: a caller that waits for each answer gets it, with and
// without chunks, and also if a part of the next line is there already.
func TestConversation(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		c := urls(t)
		c.Chunks = chunks
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := Run(inR, outW, c)
			done <- err
		}()
		answers := lines{in: outR, pause: func() error { return nil }}
		for i := range 100 {
			text := fmt.Sprintf("http://H/%d\n", i)
			if chunks {
				text = "1\n" + text
			}
			if i%3 == 1 {
				_, _ = io.WriteString(inW, text[:3])
				text = text[3:]
			}
			if _, err := io.WriteString(inW, text); err != nil {
				t.Fatal(err)
			}
			if l, err := answers.next(); err != nil || string(l.text) != fmt.Sprintf("http://h/%d\n", i) {
				t.Fatalf("%q, %v", l.text, err)
			}
		}
		inW.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestBlock: a caller may write all of its lines before it reads an answer.
func TestBlock(t *testing.T) {
	c := urls(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		_, err := Run(inR, outW, c)
		outW.CloseWithError(err)
	}()
	const n = 10_000
	for i := range n {
		if _, err := fmt.Fprintf(inW, "http://H/%d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	inW.Close()
	if out, err := io.ReadAll(outR); err != nil || bytes.Count(out, []byte("\n")) != n {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestFull: with more than MaxAhead waiting, reading stops, and the caller is
// warned once; everything is answered when it reads.
func TestFull(t *testing.T) {
	c := urls(t)
	stalled := make(chan struct{}, 10)
	c.MaxAhead, c.StallTime, c.Stalled = 1000, 1, func() { stalled <- struct{}{} }
	outR, outW := io.Pipe()
	in := &counter{r: strings.NewReader(strings.Repeat("http://H/%7e\n", 100_000))}
	go func() {
		_, err := Run(in, outW, c)
		outW.CloseWithError(err)
	}()
	<-stalled
	if in.n > 4*readBytes {
		t.Errorf("%d bytes were read", in.n)
	}
	out, err := io.ReadAll(outR)
	if err != nil || string(out) != strings.Repeat("http://h/~\n", 100_000) || len(stalled) != 0 {
		t.Errorf("%d bytes, %v, %d more warnings", len(out), err, len(stalled))
	}
}

// A counter counts the bytes read.
type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestErrors: an error of the input or output ends the run, after everything
// before it was answered.
func TestErrors(t *testing.T) {
	fails := errors.New("fails")
	var out bytes.Buffer
	if _, err := Run(io.MultiReader(strings.NewReader("http://H\n"), iotest.ErrReader(fails)), &out, urls(t)); !errors.Is(err, fails) || out.String() != "http://h/\n" {
		t.Errorf("%v, %q", err, &out)
	}
	r, w := io.Pipe()
	r.CloseWithError(fails)
	if _, err := Run(strings.NewReader(strings.Repeat("http://H\n", 1e6)), w, urls(t)); !errors.Is(err, fails) {
		t.Error(err)
	}
	if _, err := Run(idle{}, io.Discard, urls(t)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// idle is a reader that never returns anything.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestAllocs: a line allocates nothing once the buffers have grown.
func TestAllocs(t *testing.T) {
	c := urls(t)
	text := strings.Repeat("http://H/%7e?b=1&a=2\nhttp://[\n\n"+strings.Repeat("x", 100)+"\n", 1000)
	r := strings.NewReader(text)
	s := &server{Config: c, worker: c.Job.NewWorker(), queue: newQueue(io.Discard, c.MaxAhead)}
	s.lines = lines{in: r, pause: s.flush, limit: c.MaxRecord}
	n := testing.AllocsPerRun(20, func() {
		r.Reset(text)
		s.lines.err = nil
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
	})
	if err := s.queue.close(); err != nil || n > 10 { // the memory of answers grows now and then
		t.Errorf("%v allocations for 4000 lines, %v", n, err)
	}
}

// FuzzRun: the answers are one for each line, and do not depend on how the
// input arrives.
func FuzzRun(f *testing.F) {
	f.Add([]byte("http://H/%7e\n\nx\r\n"), uint8(1), false)
	f.Add([]byte("2\nhttp://H\nhttp://I\n1\nhttp://J\n"), uint8(3), true)
	f.Add([]byte(strings.Repeat("a", 200)+"\nhttp://H"), uint8(70), false)
	f.Fuzz(func(t *testing.T, in []byte, size uint8, chunks bool) {
		c := urls(t)
		c.Chunks = chunks
		var whole, parts bytes.Buffer
		st, err := Run(bytes.NewReader(in), &whole, c)
		other, errParts := Run(&portions{in, int(size) + 1}, &parts, c)
		if fmt.Sprint(err) != fmt.Sprint(errParts) || !bytes.Equal(whole.Bytes(), parts.Bytes()) || st.Lines != other.Lines {
			t.Errorf("%q: %v, %q; in portions of %d: %v, %q", in, err, &whole, int(size)+1, errParts, &parts)
		}
		if n := int64(bytes.Count(whole.Bytes(), []byte("\n"))); n != st.Lines {
			t.Errorf("%d lines, %d answers", st.Lines, n)
		}
		if chunks {
			return
		}
		want := int64(bytes.Count(in, []byte("\n")))
		if len(in) > 0 && in[len(in)-1] != '\n' {
			want++
		}
		if err != nil || st.Lines != want {
			t.Errorf("%q: %d answers to %d lines, %v", in, st.Lines, want, err)
		}
	})
}

// portions is a reader that returns up to n bytes at once.
type portions struct {
	in []byte
	n  int
}

func (p *portions) Read(b []byte) (int, error) {
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in[:min(p.n, len(p.in))])
	p.in = p.in[n:]
	return n, nil
}

package compress

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// flushed is text that a MemberWriter has written, with the places of its flushes.
type flushed struct {
	packed []byte
	at     []int    // in packed, after each flush
	text   []int    // length of the text before each flush
	ends   []string // End after each flush
}

// flushLines writes random parts of text, with a flush after each.
func flushLines(t *testing.T, f Format, level int, text []byte, rnd *rand.Rand) (out flushed) {
	t.Helper()
	w, err := NewMemberWriter(f, level)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(text); {
		k := min(1+rnd.IntN(1<<rnd.IntN(19)), len(text)-n)
		for part := text[n : n+k]; len(part) > 0; {
			some := 1 + rnd.IntN(len(part))
			out.packed = w.Append(out.packed, part[:some])
			part = part[some:]
		}
		n += k
		out.packed = w.Flush(out.packed)
		if again := w.Flush(out.packed); len(again) != len(out.packed) {
			t.Errorf("%v: a flush without text appends %d bytes", f, len(again)-len(out.packed))
		}
		out.at, out.text, out.ends = append(out.at, len(out.packed)), append(out.text, n), append(out.ends, w.End())
	}
	return out
}

// TestMemberWriter checks that a member can end at each flush, and that the next
// one does not depend on it.
func TestMemberWriter(t *testing.T) {
	text := bytes.Repeat(readFile(t, "testdata/access.log"), 5)
	for _, f := range []Format{Gzip, Zstd} {
		for level := range 5 {
			out := flushLines(t, f, level, text, rand.New(rand.NewPCG(1, uint64(level))))
			for i, n := range out.at {
				file := append(bytes.Clone(out.packed[:n]), out.ends[i]...)
				got, v := read(t, append(file, file...), Options{})
				want := append(bytes.Clone(text[:out.text[i]]), text[:out.text[i]]...)
				if v.Kind != OK || !bytes.Equal(got, want) {
					t.Fatalf("%v:%d: truncated to flush %d: %v, %d bytes of %d", f, level, i, v, len(got), len(want))
				}
			}
		}
	}
	if _, err := NewMemberWriter(Gzip, 10); err == nil {
		t.Error("level 10 is accepted")
	}
}

// TestMemberWriterResume checks that a MemberWriter continues what another one has
// written up to a flush as that one did, and nothing else.
func TestMemberWriterResume(t *testing.T) {
	text := bytes.Repeat(readFile(t, "testdata/access.log"), 5)
	for _, f := range []Format{Gzip, Zstd} {
		for level := range 10 {
			out := flushLines(t, f, level, text, rand.New(rand.NewPCG(2, uint64(level))))
			w, err := NewMemberWriter(f, level)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(out.at); i += 1 + len(out.at)/4 {
				file := bytes.Clone(out.packed[:out.at[i]])
				if !w.Resume(file, out.ends[i]) {
					t.Fatalf("%v:%d: not resumed at flush %d of %d", f, level, i, len(out.at))
				}
				if w.Size() != int64(out.text[i]) || w.End() != out.ends[i] {
					t.Fatalf("%v:%d: flush %d: size %d, end %x", f, level, i, w.Size(), w.End())
				}
				for k, from := range out.text[i : len(out.text)-1] {
					file = w.Flush(w.Append(file, text[from:out.text[i+k+1]]))
				}
				if !bytes.Equal(file, out.packed) {
					t.Fatalf("%v:%d: resumed at flush %d: the bytes differ", f, level, i)
				}
			}
			end := out.ends[len(out.ends)-1]
			wrong := bytes.Clone(out.packed)
			wrong[len(wrong)/2] ^= 1
			for name, src := range map[string][]byte{"damaged": wrong, "no flush": out.packed[:len(out.packed)-1], "ended": append(bytes.Clone(out.packed), end...), "empty": nil} {
				if w.Resume(src, end) || w.Size() > 0 {
					t.Errorf("%v:%d: resumed, %s", f, level, name)
				}
			}
		}
	}
}

// TestMemberWriterDrop checks that nothing of a member is left after Drop.
func TestMemberWriterDrop(t *testing.T) {
	for _, f := range []Format{Gzip, Zstd} {
		w, err := NewMemberWriter(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.Append(nil, []byte("some text that is lost\n"))
		w.Drop()
		if w.Size() != 0 || w.End() != "" || len(w.Flush(nil)) > 0 {
			t.Errorf("%v: a member is open", f)
		}
		packed := w.Flush(w.Append(nil, []byte("text\n")))
		if got, v := read(t, append(packed, w.End()...), Options{}); string(got) != "text\n" || v.Kind != OK {
			t.Errorf("%v: %q, %v", f, got, v)
		}
	}
}

// TestMend checks what is found in a file that was truncated anywhere, or that has
// zeros or other bytes at the end.
func TestMend(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	rnd := rand.New(rand.NewPCG(3, 4))
	junk := make([]byte, 300)
	for i := range junk {
		junk[i] = byte(rnd.Uint32())
	}
	for _, f := range []Format{Gzip, Zstd} {
		out := flushLines(t, f, 0, text, rnd)
		for range 200 {
			size := rnd.IntN(len(out.packed) + 1)
			flushes := 0
			for flushes < len(out.at) && out.at[flushes] <= size {
				flushes++
			}
			for name, after := range map[string][]byte{"": nil, " and zeros": make([]byte, 5000), " and junk": junk} {
				file := append(bytes.Clone(out.packed[:size]), after...)
				n, end := Mend(f, io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file))))
				want, wantEnd := 0, ""
				if flushes > 0 {
					want, wantEnd = out.at[flushes-1], out.ends[flushes-1]
				}
				if n == int64(want) && end == wantEnd {
					continue
				}
				// It is no damage if the zeros replace zeros.
				if flushes < len(out.at) && n == int64(out.at[flushes]) && end == out.ends[flushes] {
					continue
				}
				t.Errorf("%v: truncated to %d%s: %d, %x, not %d, %x", f, size, name, n, end, want, wantEnd)
			}
		}
		// A flipped bit ends what is intact.
		if len(out.at) > 2 {
			file := bytes.Clone(out.packed)
			file[(out.at[1]+out.at[2])/2] ^= 0x10
			if n, _ := Mend(f, io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file)))); n > int64(out.at[len(out.at)-1]) || n < int64(out.at[1]) {
				t.Errorf("%v: flipped bit after flush 1 at %d: %d", f, out.at[1], n)
			}
		}
	}
}

func ExampleMemberWriter() {
	w, _ := NewMemberWriter(Gzip, 0)
	packed := w.Flush(w.Append(nil, []byte("a line\n")))
	packed = w.Append(packed, []byte("lost"))
	n, end := Mend(Gzip, io.NewSectionReader(bytes.NewReader(packed), 0, int64(len(packed))))
	text, _ := io.ReadAll(NewReader(io.MultiReader(bytes.NewReader(packed[:n]), bytes.NewReader([]byte(end))), Options{}))
	fmt.Printf("%s", text)
	// Output: a line
}

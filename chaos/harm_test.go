package chaos_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestHarm damages files of every format and compares the output with that of
// the reference program: no data before the damage may be lost, and no damage
// may go unreported. HARM_FILES sets the number of files per format (60), and
// HARM_SEED the seed.
func TestHarm(t *testing.T) {
	t.Parallel()
	files, seed := number("HARM_FILES", 60), uint64(number("HARM_SEED", 1))
	if testing.Short() {
		files = min(files, 8) // more files take too long with the race detector, and would not find more
	}
	for _, format := range chaos.ArchiveFormats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(len(format))))
			archives, err := chaos.Archives(rng, format, 150<<10)
			if errors.Is(err, chaos.ErrNoProgram) {
				t.Skipf("cannot create %s files: %v", format, err)
			} else if err != nil {
				t.Fatal(err)
			}
			for _, a := range archives {
				out, damage := readAll(a.Packed, a.Ext, 1)
				if damage || !bytes.Equal(out, a.Text) {
					t.Errorf("%s, %s: the intact file gives %d bytes of %d, damage %v", format, a.Name, len(out), len(a.Text), damage)
				}
			}
			reference := referenceOf(t, format)
			for i := range files {
				a := &archives[i%len(archives)]
				packed, h := chaos.Damage(rng, a)
				ref := reference(packed)
				for _, n := range []int{1, 4} {
					out, damage := readAll(packed, a.Ext, n)
					if wrong := a.Judge(h, packed, ref, chaos.Outcome{Lines: out, Damage: damage}, a.Text); wrong != "" {
						keep(t, fmt.Sprintf("%s-%d%s", format, i, a.Ext), packed)
						t.Errorf("file %d, %s, %s, %d goroutines: %s", i, a.Name, h, n, wrong)
					}
				}
			}
		})
	}
}

// referenceOf returns the reference of a format: the program, or a library that
// replaces it.
func referenceOf(t *testing.T, format string) func(packed []byte) *chaos.Reference {
	t.Helper()
	referee, err := chaos.NewReferee(format)
	switch {
	case err != nil && (format == "s2" || format == "snappy"):
		t.Logf("%v: comparing with the original text instead", err)
		return func([]byte) *chaos.Reference { return nil }
	case err != nil:
		t.Logf("%v: comparing with a Go library instead", err)
		return func(packed []byte) *chaos.Reference {
			ref := chaos.LibraryReference(format, packed)
			return &ref
		}
	}
	t.Cleanup(referee.Close)
	return func(packed []byte) *chaos.Reference {
		ref, err := referee.Read(context.Background(), packed)
		if err != nil {
			t.Fatal(err)
		}
		return &ref
	}
}

// TestGzipTail checks that a truncated member never delivers less than with the
// gzip program.
func TestGzipTail(t *testing.T) {
	referee, err := chaos.NewReferee("gzip")
	if err != nil {
		t.Skip("skipped: ", err, "; install it")
	}
	var text []byte
	for i := range 3000 { // short lines, so that some line end is among the last symbols
		text = fmt.Appendf(text, "%c%d\n", 'a'+i*7%23, i%10)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	packed := b.Bytes()
	for n := len(packed) / 4; n < len(packed)-8; n += len(packed) / 60 {
		ref, err := referee.Read(t.Context(), packed[:n])
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := readAll(packed[:n], ".gz", 1); !bytes.HasPrefix(text, out) || len(out) < len(ref.Text) {
			t.Errorf("cut at %d: %d bytes, but gzip returns %d", n, len(out), len(ref.Text))
		}
	}
}

func readAll(packed []byte, ext string, goroutines int) (out []byte, damage bool) {
	r := compress.NewReader(bytes.NewReader(packed), compress.Options{Name: "x" + ext, Concurrency: goroutines})
	defer r.Close()
	out, _ = io.ReadAll(r) // never fails: the verdict reports damage
	return out, r.Verdict().Damage()
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// keep saves a file for which the test failed, in the folder HARM_KEEP.
func keep(t *testing.T, name string, packed []byte) {
	t.Helper()
	if dir := os.Getenv("HARM_KEEP"); dir != "" {
		if err := os.WriteFile(dir+"/"+name, packed, 0o644); err != nil {
			t.Error(err)
		}
	}
}

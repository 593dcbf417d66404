package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// A packer makes a member of a compressed format.
type packer struct {
	ext  string
	pack func(t *testing.T, text string) []byte
	// sum returns the offset of a byte of the checksum of a member.
	sum  func(member []byte) int
	held bool // a unit with a wrong checksum is not emitted
}

func packers() []packer {
	with := func(newWriter func(io.Writer) (io.WriteCloser, error)) func(*testing.T, string) []byte {
		return func(t *testing.T, text string) []byte {
			t.Helper()
			var b bytes.Buffer
			w, err := newWriter(&b)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
	}
	end := func(back int) func([]byte) int { return func(m []byte) int { return len(m) - back } }
	return []packer{
		{"gz", with(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }), end(6), false},
		{"zst", with(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }), end(2), false},
		{"lz4", with(func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil }), end(2), false},
		{"xz", with(func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }), func(m []byte) int {
			index := (int(binary.LittleEndian.Uint32(m[len(m)-8:])) + 1) * 4 // .xz file format 1.0.4, section 2.1.2.2
			return len(m) - 12 - index - 3
		}, false},
		{"bz2", func(t *testing.T, text string) []byte {
			cmd := exec.CommandContext(t.Context(), "bzip2", "-c")
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.Output()
			if err != nil {
				t.Skip("bzip2: ", err)
			}
			return out
		}, func([]byte) int { return 11 }, true},
	}
}

// TestVerifiedExact damages the checksum of the second of two members and
// checks that exactly the records of the first are verified, whatever the
// format, the number of bytes before and the way in which the input is read.
func TestVerifiedExact(t *testing.T) {
	for _, p := range packers() {
		t.Run(p.ext, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(15, 15))
			for _, first := range []int{1, 5000, 10_000, 1 + rng.IntN(20_000)} {
				second := []int{1, 3000, 1 + rng.IntN(9000)}[rng.IntN(3)]
				dir := t.TempDir()
				in := filepath.Join(dir, "in."+p.ext)
				line := func(i int) string { return fmt.Sprintf("http://h/%d/%x\n", i, rng.Uint64()) }
				var one, two strings.Builder
				for i := range first {
					one.WriteString(line(i))
				}
				for i := range second {
					two.WriteString(line(first + i))
				}
				bad := p.pack(t, two.String())
				bad[p.sum(bad)] ^= 4
				if err := os.WriteFile(in, slices.Concat(p.pack(t, one.String()), bad), 0o600); err != nil {
					t.Fatal(err)
				}
				if p.held {
					two.Reset()
				}
				for _, m := range []struct {
					name, emitted, kept string
					args                []string
				}{
					{"truncate", one.String(), two.String(), []string{"--on-damage", "quarantine", "-o", filepath.Join(dir, "out"), in}},
					{"rejects", one.String(), two.String(), []string{"--on-damage", "quarantine", "-o", filepath.Join(dir, "out"), "--dead-letter", filepath.Join(dir, "bad"), "--force", in}},
					{"read twice", one.String(), "", []string{"--on-damage", "quarantine", in}},
					{"report", one.String() + two.String(), "", []string{in}},
					{"two inputs", one.String(), two.String(), []string{"--on-damage", "quarantine", "--output-dir", filepath.Join(dir, "out"), "--compress", "none", in, "testdata/script/ondamage.txtar"}},
				} {
					t.Logf("%d and %d records, %s", first, second, m.name)
					wantVerified(t, dir, m.args, strings.Count(one.String(), "\n"), strings.Count(two.String(), "\n"), m.emitted, m.kept)
				}
			}
		})
	}
}

// wantVerified runs the program for one damaged input. It checks its output,
// the file of unverified text, and the numbers in the report.
func wantVerified(t *testing.T, dir string, args []string, verified, unverified int, emitted, kept string) {
	t.Helper()
	report := filepath.Join(dir, "report.json")
	cmd := exec.CommandContext(t.Context(), "urlfold", append([]string{"-f", "lines", "--summary", report}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 4 {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, path := range []string{filepath.Join(dir, "out"), filepath.Join(dir, "out", "in")} { // the output files of the modes
		if text, err := os.ReadFile(path); err == nil {
			raw, _ := os.ReadFile(path + ".unverified") // empty if there is none
			if string(raw) != kept {
				t.Errorf("%d lines kept as unverified, want %d", bytes.Count(raw, []byte("\n")), strings.Count(kept, "\n"))
			}
			out = text
			_, _ = os.Remove(path), os.Remove(path+".unverified")
		}
	}
	_ = os.RemoveAll(filepath.Join(dir, "out"))
	if twice, err := filepath.Glob(filepath.Join(dir, "*.unverified")); len(twice) > 0 || err != nil {
		t.Errorf("unverified records were also kept in %q, %v", twice, err)
	}
	if string(out) != emitted {
		t.Errorf("%d lines in the output, want %d", bytes.Count(out, []byte("\n")), strings.Count(emitted, "\n"))
	}
	var got struct {
		Files []reportFile `json:"files"`
	}
	if data, err := os.ReadFile(report); err != nil || json.Unmarshal(data, &got) != nil || len(got.Files) == 0 {
		t.Fatalf("report: %v\n%s", err, data)
	}
	f := got.Files[0]
	var rest reportUnverified
	if f.Unverified != nil {
		rest = *f.Unverified
	}
	if f.Verified == nil || f.Verified.Records != int64(verified) || f.Verified.LastLine != int64(verified) ||
		rest.Records != int64(unverified) || unverified > 0 && (rest.FirstLine != int64(verified+1) || rest.LastLine != int64(verified+unverified)) {
		t.Errorf("verified %+v, unverified %+v, want %d and %d\n%s", f.Verified, rest, verified, unverified, &stderr)
	}
	if omitted := bytes.Contains(stderr.Bytes(), []byte("omitted")); omitted && strings.Count(emitted, "\n") == verified+unverified && unverified > 0 {
		t.Errorf("omitted records are in the output\n%s", &stderr)
	}
}

package compress

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// A tail is what follows the last complete member of a file.
type tail struct {
	name  string
	bytes []byte
	zeros bool
}

// tails returns bytes that are no member. second is a member of the format.
func tails(t *testing.T, rng *rand.Rand, second []byte) (list []tail) {
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		b[0] |= 1
		return b
	}
	add := func(name string, b []byte) {
		list = append(list, tail{name, b, len(bytes.Trim(b, "\x00")) == 0})
	}
	add("random bytes", noise(28<<10))
	add("much text", mixed(t, 2<<20))
	add("a line", []byte("GET / HTTP/1.1\n"))
	for _, c := range "\x00\x01\x02\x04\x1f\x28PB_x\x82\xfd\xff" {
		add("a short tail", []byte{byte(c)})
		add("a short tail", []byte{byte(c), byte(rng.Uint32())})
	}
	for _, n := range []int{2, 3, 4, 5, 511, 512, 300 << 10} {
		add("zeros", make([]byte, n))
		add("zeros and one byte", append(make([]byte, n), 'x'))
	}
	for n := range 33 {
		add("a member with a lost start", second[n+1:])
		add("a member with an overwritten start", append(noise(n+1), second[n+1:]...))
	}
	for bit := range 24 {
		flipped := bytes.Clone(second)
		flipped[bit/8] ^= 1 << (bit % 8)
		add("a member with a flipped bit in its magic number", flipped)
	}
	add("bytes and a member", append([]byte("####"), second...))
	return list
}

// TestTrailing checks that any bytes but zeros after the last complete member
// of a file are damage, at the end of that member, and that the text before
// them is returned. The programs for the formats agree, except about zeros.
func TestTrailing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 6))
	all := samples(t)
	text := all[0].text
	all = append(all, sample{LZ4, text, encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
		z := lz4.NewWriter(w)
		return z, z.Apply(lz4.LegacyOption(true))
	})})
	for i, s := range all {
		if s.format == Plain {
			continue
		}
		legacy := i == len(all)-1
		chunks := s.format == S2 || s.format == Snappy || s.format == Xerial // these formats have no end mark: what follows are chunks
		ends := !chunks && !legacy
		for _, tail := range tails(t, rng, s.packed) {
			packed := append(bytes.Clone(s.packed), tail.bytes...)
			out, v := read(t, packed, Options{Concurrency: 1 + rng.IntN(2)*3})
			if !bytes.HasPrefix(out, text) {
				t.Errorf("%v, %s: %d bytes of %d, %v", s.format, tail.name, len(out), len(text), v)
			}
			switch {
			case tail.zeros && chunks:
			case tail.zeros && v.Damage():
				t.Errorf("%v, %d zeros: %v", s.format, len(tail.bytes), v)
			case !tail.zeros && !v.Damage() && (ends || !bytes.Equal(out[len(text):], text)): // otherwise only a header was lost, and nothing else
				t.Errorf("%v, %s of %d bytes (%.8x): %v", s.format, tail.name, len(tail.bytes), tail.bytes, v)
			case ends && s.format != Bzip2 && s.format != Zlib && v.Kind == Corrupt && v.Offset != int64(len(s.packed)):
				t.Errorf("%v, %s: %v, want byte %d", s.format, tail.name, v, len(s.packed))
			}
			if ends && len(tail.bytes) > 2 && !tail.zeros {
				refuses(t, s.format, packed)
			}
		}
	}
}

// tester is the command that tests a file of each format. The program bzip2
// ignores trailing bytes.
var tester = map[Format][]string{Gzip: {"gzip", "-t"}, Zstd: {"zstd", "-tq"}, LZ4: {"lz4", "-tq"}, XZ: {"xz", "-tq"}}

// refuses fails the test if the program for a format accepts packed. It does
// nothing if the program is not installed.
func refuses(t *testing.T, f Format, packed []byte) {
	t.Helper()
	command := tester[f]
	if command == nil {
		return
	} else if _, err := exec.LookPath(command[0]); err != nil {
		return
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = bytes.NewReader(packed)
	if cmd.Run() == nil {
		t.Errorf("%s accepts the file", command[0])
	}
}

package compress

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// indexed returns the index of packed in both formats, with places about 1 MiB
// apart.
func indexesOf(t testing.TB, packed []byte, stamp Stamp) map[string][]byte {
	t.Helper()
	w := new(IndexWriter)
	_, v := read(t, packed, Options{RestartEvery: IndexEvery, IndexTo: w})
	if v.Kind != OK || !w.Useful() {
		t.Fatalf("no index: %v", v)
	}
	all := map[string][]byte{}
	for _, name := range []string{"gztool", "indexed_gzip"} {
		var b bytes.Buffer
		if err := w.Write(&b, name == "indexed_gzip", stamp); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	return all
}

func openIndex(data []byte) (*Index, error) {
	return OpenIndex(bytes.NewReader(data), int64(len(data)))
}

// longMember returns a text of 12 MiB as one member, and the text.
func longMember(t testing.TB) (packed, text []byte) {
	text = bytes.Repeat(mixed(t, 3<<20), 4)
	return gz(t, text), text
}

// withIndex reads packed with an index, and returns how many bytes goroutines
// have decoded.
func withIndex(t testing.TB, packed []byte, x *Index) (o outcome, fromRuns int64) {
	t.Helper()
	sizes := defaultSizes
	sizes.buffer = 2 * maxWindow
	r := NewReader(bytes.NewReader(packed), Options{Ahead: 2, Index: x, sizes: sizes})
	o.text, o.verdict = drainSettled(t, r)
	o.verified, _ = r.Verified()
	return o, r.dec.(*gzipDecoder).inflate.(*aheadDeflate).fromRuns
}

func stampOf(t testing.TB, packed []byte, modTime int64) Stamp {
	t.Helper()
	s, err := StampOf(bytes.NewReader(packed), int64(len(packed)), modTime)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIndex checks that a reading with an index uses it, and has the same
// result, also if the file is damaged or another one.
func TestIndex(t *testing.T) {
	packed, text := longMember(t)
	stamp := stampOf(t, packed, 1)
	damaged := 8
	if testing.Short() {
		damaged = 1
	}
	for name, data := range indexesOf(t, packed, stamp) {
		x, err := openIndex(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Check(stamp); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		o, runs := withIndex(t, packed, x)
		if !bytes.Equal(o.text, text) || o.verdict.Kind != OK || runs < int64(len(text))/2 || x.Mismatch() != "" {
			t.Errorf("%s: %d bytes, %v, %d of them from goroutines, %q", name, len(o.text), o.verdict, runs, x.Mismatch())
		}
		if !bytes.HasSuffix(text, []byte("\n")) != (x.places[0].out == 0) && len(x.places) < 8 {
			t.Errorf("%s: %d places", name, len(x.places))
		}
		rnd := rand.New(rand.NewPCG(4, 2))
		for range damaged {
			bad := bytes.Clone(packed)
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			bad = bad[:len(bad)-rnd.IntN(2)*rnd.IntN(len(bad))]
			x, _ := openIndex(data)
			want := outcomeOf(t, bytes.NewReader(bad), Options{})
			got, _ := withIndex(t, bad, x)
			if !bytes.Equal(got.text, want.text) || got.verdict != want.verdict || got.verified != want.verified {
				t.Errorf("%s: damaged: %d bytes, %v, without index %d bytes, %v", name, len(got.text), got.verdict, len(want.text), want.verdict)
			}
		}
	}
}

// TestIndexOfAnotherFile checks that a reading with a wrong index has the right
// result, and a reason why the index is wrong.
func TestIndexOfAnotherFile(t *testing.T) {
	packed, text := longMember(t)
	other := gz(t, bytes.Repeat(mixed(t, 3<<20-1000), 4))
	same := bytes.Clone(text)
	for i := 0; i < len(same); i += 1000 {
		same[i] ^= 1
	}
	for name, data := range indexesOf(t, packed, stampOf(t, packed, 1)) {
		for _, file := range [][]byte{other, gz(t, same)} {
			x, err := openIndex(data)
			if err != nil {
				t.Fatal(err)
			}
			want, v := read(t, file, Options{})
			got, _ := withIndex(t, file, x)
			if !bytes.Equal(got.text, want) || got.verdict != v || x.Mismatch() == "" {
				t.Errorf("%s: %d bytes, %v, mismatch %q", name, len(got.text), got.verdict, x.Mismatch())
			}
		}
	}
}

// TestIndexCheck checks the reasons for refusing an index before it is used.
func TestIndexCheck(t *testing.T) {
	packed, _ := longMember(t)
	stamp := stampOf(t, packed, 5)
	changed := bytes.Clone(packed)
	changed[len(changed)-1] ^= 1
	for name, data := range indexesOf(t, packed, stamp) {
		x, err := openIndex(data)
		if err != nil {
			t.Fatal(err)
		}
		for want, s := range map[string]Stamp{
			"":             stamp,
			"another size": stampOf(t, packed[:len(packed)-1], 5),
			"modified":     stampOf(t, packed, 6),
			"content":      stampOf(t, changed, 5),
		} {
			err := x.Check(s)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		for _, at := range []int{3, 20, 40, len(data) / 2, len(data) - 70, len(data) - 1} {
			bad := bytes.Clone(data)
			bad[at] ^= 1
			if x, err := openIndex(bad); err == nil {
				t.Errorf("%s: changed at %d: %d places", name, at, len(x.places))
			}
		}
		for _, cut := range []int{0, 5, 17, 39, 100, len(data) / 2} {
			if x, err := openIndex(data[:cut]); err == nil {
				t.Errorf("%s: cut at %d: %d places", name, cut, len(x.places))
			}
		}
		if !IsStamped(bytes.NewReader(data), int64(len(data))) || IsStamped(bytes.NewReader(packed), int64(len(packed))) {
			t.Errorf("%s: IsStamped is wrong", name)
		}
		// Without the stamp it is an index of the other program.
		if x, err := openIndex(data[:len(data)-stampSize]); err != nil || x.Check(stampOf(t, packed, 6)) != nil {
			t.Errorf("%s: without a stamp: %v", name, err)
		}
	}
}

// TestIndexThin checks that an IndexWriter has bounded memory.
func TestIndexThin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	window := make([]byte, maxWindow)
	w := new(IndexWriter)
	w.begin(10)
	for i := range 2000 {
		for j := range window {
			window[j] = byte(rnd.Uint32())
		}
		w.add(&RestartPoint{offset: int64(i+1) * IndexEvery, compressed: int64(i+1) * 1000, window: string(window)})
	}
	if w.bytes > maxIndex || w.every != 4*IndexEvery || w.places[0].bit != 80 {
		t.Errorf("%d places, %d bytes, every %d", len(w.places), w.bytes, w.every)
	}
	for i := 1; i < len(w.places); i++ {
		if d := w.places[i].out - w.places[i-1].out; d < w.every/2 || d > 2*w.every {
			t.Fatalf("places %d and %d are %d bytes apart", i-1, i, d)
		}
	}
}

// peerScript checks an index with indexed_gzip or rapidgzip: 1000 random reads.
const peerScript = `
import sys, random
peer, name, index, text = sys.argv[1:5]
text = open(text, 'rb').read()
random.seed(1)
if peer == 'indexed_gzip':
    import indexed_gzip
    f = indexed_gzip.IndexedGzipFile(name)
else:
    import rapidgzip
    f = rapidgzip.open(name, parallelization=2)
f.import_index(index)
for _ in range(1000):
    at = random.randrange(len(text))
    f.seek(at)
    if f.read(100) != text[at:at+100]:
        sys.exit('different bytes at %d' % at)
f.close()
# An index of the peer.
if peer == 'indexed_gzip':
    f = indexed_gzip.IndexedGzipFile(name, spacing=1<<20)
    f.build_full_index()
else:
    f = rapidgzip.open(name, parallelization=2)
    f.read()
f.export_index(sys.argv[5])
f.close()
`

// TestIndexPeers checks that other programs read our indexes, and that we read
// theirs.
func TestIndexPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs other programs: omit -short")
	}
	packed, text := longMember(t)
	dir := t.TempDir()
	save := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, plain, script := save("x.gz", packed), save("x", text), save("peer.py", []byte(peerScript))
	ours := map[string]string{}
	for name, data := range indexesOf(t, packed, stampOf(t, packed, 1)) {
		ours[name] = save(name, data)
	}
	theirs := func(t *testing.T, path string) {
		t.Helper()
		data := readFile(t, path)
		x, err := openIndex(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Check(stampOf(t, packed, 1)); err != nil {
			t.Error(err)
		}
		o, runs := withIndex(t, packed, x)
		if !bytes.Equal(o.text, text) || o.verdict.Kind != OK || runs < int64(len(text))/4 || x.Mismatch() != "" {
			t.Errorf("%d bytes, %v, %d of them from goroutines, mismatch %q", len(o.text), o.verdict, runs, x.Mismatch())
		}
	}
	for _, peer := range []string{"indexed_gzip", "rapidgzip"} {
		t.Run(peer, func(t *testing.T) {
			if err := exec.Command("python3", "-c", "import "+peer).Run(); err != nil {
				t.Skipf("%s is not installed: pip install %s", peer, peer)
			}
			for name, index := range ours {
				if peer != name && peer == "indexed_gzip" {
					continue // indexed_gzip does not read the format of gztool
				}
				export := filepath.Join(dir, peer+".export")
				if out, err := exec.Command("python3", script, peer, file, index, plain, export).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", name, err, out)
				}
				theirs(t, export)
			}
		})
	}
	t.Run("gztool", func(t *testing.T) {
		if _, err := exec.LookPath("gztool"); err != nil {
			t.Skip("gztool is not installed: apt-get install gztool")
		}
		rnd := rand.New(rand.NewPCG(1, 1))
		for range 1000 {
			at := rnd.IntN(len(text))
			out, err := exec.Command("gztool", "-v", "0", "-W", "-I", ours["gztool"], "-b", strconv.Itoa(at), "-r", "100", file).Output()
			if want := text[at:min(len(text), at+100)]; err != nil || !bytes.Equal(out, want) {
				t.Fatalf("at %d: %v, %d bytes", at, err, len(out))
			}
		}
		line := bytes.Count(text[:len(text)/2], []byte{'\n'}) + 1
		out, err := exec.Command("gztool", "-v", "0", "-W", "-I", ours["gztool"], "-L", strconv.Itoa(line), "-R", "1", file).Output()
		if want := bytes.SplitAfterN(text, []byte{'\n'}, line+1)[line-1]; err != nil || !bytes.Equal(out, want) {
			t.Errorf("line %d: %v, %d bytes, want %d", line, err, len(out), len(want))
		}
		for _, lines := range []string{"-x", "-z"} {
			path := filepath.Join(dir, "gztool"+lines)
			if out, err := exec.Command("gztool", "-v", "0", lines, "-s", "1", "-I", path, file).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", lines, err, out)
			}
			theirs(t, path)
		}
	})
}

// FuzzIndex reads a file with any index: the text is the same.
func FuzzIndex(f *testing.F) {
	text := mixed(f, 200<<10)
	packed := gz(f, text)
	w := new(IndexWriter)
	r := NewReader(bytes.NewReader(packed), Options{RestartEvery: 1, IndexTo: w})
	for w.every = 0; ; {
		if _, err := r.Read(make([]byte, 5000)); err == io.EOF {
			break
		}
		w.every = 0
	}
	for _, indexed := range []bool{false, true} {
		var b bytes.Buffer
		if err := w.Write(&b, indexed, Stamp{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes()[:b.Len()-stampSize], 0, byte(0))
		f.Add(b.Bytes()[:b.Len()-stampSize], 45, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		if len(data) > 0 {
			data[max(0, at)%len(data)] ^= flip
		}
		x, err := openIndex(data)
		if err != nil {
			return
		}
		if o, _ := withIndex(t, packed, x); !bytes.Equal(o.text, text) || o.verdict.Kind != OK {
			t.Errorf("%d bytes, %v", len(o.text), o.verdict)
		}
	})
}

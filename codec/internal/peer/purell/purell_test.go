package purell

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

var update = flag.Bool("update", false, "write the files of vectors with the results of purell")

// profiles are the functions of this package, in the order of the runner's
// results.
var profiles = []struct {
	name string
	make func() peer.Canonicalizer
}{
	{"safe", NewSafe},
	{"usually-safe-greedy", NewUsuallySafeGreedy},
	{"all-greedy", NewAllGreedy},
}

func appendOf(c peer.Canonicalizer) peertest.Func {
	return func(dst, src []byte) ([]byte, bool) { return c.Append(dst, src, nil) }
}

// runner returns a command that runs purell. It skips the test where the module
// has not been downloaded.
func runner(t *testing.T) func() *exec.Cmd {
	t.Helper()
	name := filepath.Join(t.TempDir(), "runner")
	build := exec.Command("go", "build", "-o", name, ".")
	build.Dir = filepath.Join("testdata", "runner")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("skipped: purell v1.2.1; get it with: go -C codec/internal/peer/purell/testdata/runner mod download (%.100s)", out)
	}
	return func() *exec.Cmd { return exec.Command(name) }
}

func vectorFile(profile string) string {
	return filepath.Join("testdata", "vectors-"+profile+".tsv")
}

func TestVectors(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) { peertest.CheckVectors(t, appendOf(p.make()), vectorFile(p.name)) })
	}
}

func TestAllocations(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) { peertest.CheckAllocations(t, appendOf(p.make()), vectorFile(p.name)) })
	}
}

// TestLive compares all profiles with purell, on the corpora and on changed
// copies of their URLs.
func TestLive(t *testing.T) {
	run := runner(t)
	inputs := peertest.Inputs(t)
	results := peertest.Run(t, run(), inputs)
	for i, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			peertest.Compare(t, appendOf(p.make()), inputs, results[i], nil)
		})
	}
}

// TestFile checks that the vectors are those of the program. With the flag -update,
// it writes them.
func TestFile(t *testing.T) {
	run := runner(t)
	inputs := peertest.VectorInputs()
	for _, q := range quirks {
		inputs = append(inputs, []byte(q.in))
	}
	results := peertest.Run(t, run(), inputs)
	for i, p := range profiles {
		peertest.CheckFile(t, *update, vectorFile(p.name), "purell v1.2.1, written by: go test ./codec/internal/peer/purell -run TestFile -update",
			inputs, results[i])
	}
}

// TestLiveCharacters compares the hosts with each character of Unicode up to
// plane 3, alone and before a combining character. In the normalization of
// purell's version of golang.org/x/text, characters later than Unicode 15 have
// no properties, and a character of plane 1 or above composes with an accent as
// if it were the character 0x10000 below.
func TestLiveCharacters(t *testing.T) {
	run := runner(t)
	var inputs [][]byte
	step := rune(1)
	if testing.Short() {
		step = 64
	}
	for r := rune(0x80); r < 0x32000; r += step {
		if utf8.ValidRune(r) {
			inputs = append(inputs, []byte("http://A"+string(r)+"/"), []byte("http://"+string(r)+"\u0301b/"))
		}
	}
	known := func(in []byte) bool {
		r, _ := utf8.DecodeRune(in[len("http://"):])
		return r >= 0x10000 || unicode.Is(unicode.Cn, r) // Go 1.26 has Unicode 15
	}
	if n := peertest.Compare(t, appendOf(NewSafe()), inputs, peertest.Run(t, run(), inputs)[0], known); n > 400 {
		t.Errorf("%d known differences, want at most 400", n)
	}
}

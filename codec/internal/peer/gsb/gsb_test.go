package gsb

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/safebrowsing"
	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

var update = flag.Bool("update", false, "write the files of vectors with the results of reference.py")

// versions are the functions of this package, in the order of the results of
// reference.py.
var versions = []struct {
	name string
	make func() peer.Canonicalizer
	list safebrowsing.Version
}{{"v4", NewV4, safebrowsing.V4}, {"v5", NewV5, safebrowsing.V5}}

func appendOf(c peer.Canonicalizer) peertest.Func {
	return func(dst, src []byte) ([]byte, bool) { return c.Append(dst, src, nil) }
}

// expressionsOf returns a function that appends the expressions of a URL, one
// per line.
func expressionsOf(c peer.Canonicalizer, v safebrowsing.Version) peertest.Func {
	return func(dst, src []byte) ([]byte, bool) {
		norm, ok := c.Append(nil, src, nil)
		return append(dst, strings.Join(safebrowsing.Expressions(norm, v), "\n")...), ok
	}
}

// reference returns a command that runs the specification in Python.
func reference(t *testing.T) func() *exec.Cmd {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import idna").CombinedOutput(); err != nil {
		t.Skipf("skipped: the specification in Python; it needs python3 and the package idna: pip install idna==3.18 (%.100s)", out)
	}
	return func() *exec.Cmd {
		return exec.Command("python3", filepath.Join("testdata", "reference.py"), filepath.Join("..", "..", "psl", "data", "public_suffix_list.dat"))
	}
}

func vectorFile(version string) string {
	return filepath.Join("testdata", "vectors-"+version+".tsv")
}

func TestVectors(t *testing.T) {
	for _, v := range versions {
		t.Run(v.name, func(t *testing.T) { peertest.CheckVectors(t, appendOf(v.make()), vectorFile(v.name)) })
	}
}

func TestAllocations(t *testing.T) {
	for _, v := range versions {
		t.Run(v.name, func(t *testing.T) { peertest.CheckAllocations(t, appendOf(v.make()), vectorFile(v.name)) })
	}
}

// TestLive compares the package with the specification in Python, on the corpora
// and on changed copies of their URLs.
func TestLive(t *testing.T) {
	run := reference(t)
	inputs := peertest.Inputs(t)
	results := peertest.Run(t, run(), inputs)
	for i, v := range versions {
		t.Run(v.name, func(t *testing.T) {
			peertest.Compare(t, appendOf(v.make()), inputs, results[2*i], nil)
			peertest.Compare(t, expressionsOf(v.make(), v.list), inputs, results[2*i+1], nil)
		})
	}
}

// TestFile checks that the vectors are those of the program. With the flag -update,
// it writes them.
func TestFile(t *testing.T) {
	inputs := peertest.VectorInputs()
	results := peertest.Run(t, reference(t)(), inputs)
	for i, v := range versions {
		peertest.CheckFile(t, *update, vectorFile(v.name), "testdata/reference.py, written by: go test ./codec/internal/peer/gsb -run TestFile -update", inputs, results[2*i])
	}
}

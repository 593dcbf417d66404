package crawlercommons

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/idna2003"
	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

var update = flag.Bool("update", false, "write the file of vectors with the results of crawler-commons")

const vectorFile = "testdata/vectors.tsv"

// jars are the files that the normalizer needs, below the address of Maven
// Central, https://repo1.maven.org/maven2/.
var jars = []string{
	"com/github/crawler-commons/crawler-commons/1.6/crawler-commons-1.6.jar",
	"org/slf4j/slf4j-api/1.7.36/slf4j-api-1.7.36.jar",
	"org/slf4j/slf4j-nop/1.7.36/slf4j-nop-1.7.36.jar",
}

func appendOf(c peer.Canonicalizer) peertest.Func {
	return func(dst, src []byte) ([]byte, bool) { return c.Append(dst, src, nil) }
}

// runner returns a command that runs crawler-commons. It skips the test without
// Java or the files of the variable URLFOLD_JARS.
func runner(t *testing.T) func() *exec.Cmd {
	t.Helper()
	dir := os.Getenv("URLFOLD_JARS")
	if dir == "" {
		t.Skip("skipped: crawler-commons 1.6; run codec/internal/peer/crawlercommons/testdata/fetch.sh FOLDER and set URLFOLD_JARS to the folder")
	}
	var path []string
	for _, jar := range jars {
		path = append(path, filepath.Join(dir, filepath.Base(jar)))
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("skipped: crawler-commons 1.6; it needs Java 17")
	}
	return func() *exec.Cmd {
		return exec.Command("java", "-cp", strings.Join(path, string(os.PathListSeparator)), filepath.Join("testdata", "Runner.java"))
	}
}

func TestVectors(t *testing.T) { peertest.CheckVectors(t, appendOf(New()), vectorFile) }

// TestAllocations excludes internationalized hosts, which need memory.
func TestAllocations(t *testing.T) {
	c := New()
	peertest.CheckAllocations(t, func(dst, src []byte) ([]byte, bool) {
		if bytes.IndexByte(src, '%') >= 0 || bytes.ContainsFunc(src, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return dst, false
		}
		return c.Append(dst, src, nil)
	}, vectorFile)
}

// TestLive compares the package with crawler-commons, on the corpora and on
// changed copies of their URLs.
func TestLive(t *testing.T) {
	run := runner(t)
	inputs := peertest.Inputs(t)
	peertest.Compare(t, appendOf(New()), inputs, peertest.Run(t, run(), inputs)[0], nil)
}

// TestLiveCharacters compares the hosts with each character of Unicode up to
// plane 3, alone and before a combining character. For characters that Unicode
// 3.2 does not assign, Java uses the properties of a later version: their
// directions and combining classes.
func TestLiveCharacters(t *testing.T) {
	run := runner(t)
	step := rune(1)
	if testing.Short() {
		step = 64
	}
	var inputs [][]byte
	for r := rune(0x80); r < 0x32000; r += step {
		if utf8.ValidRune(r) {
			inputs = append(inputs, []byte("http://A"+string(r)+"/"), []byte("http://"+string(r)+"\u0301b/"))
		}
	}
	known := func(in []byte) bool {
		host := []rune(strings.TrimPrefix(string(in), "http://"))
		return idna2003.Unassigned(host[0]) || idna2003.Unassigned(host[1])
	}
	peertest.Compare(t, appendOf(New()), inputs, peertest.Run(t, run(), inputs)[0], known)
}

// TestFile checks that the vectors are those of the program. With the flag -update,
// it writes them.
func TestFile(t *testing.T) {
	inputs := peertest.VectorInputs()
	for _, q := range quirks {
		inputs = append(inputs, []byte(q.in))
	}
	peertest.CheckFile(t, *update, vectorFile, "crawler-commons 1.6 on Java 17, written by: go test ./codec/internal/peer/crawlercommons -run TestFile -update",
		inputs, peertest.Run(t, runner(t)(), inputs)[0])
}

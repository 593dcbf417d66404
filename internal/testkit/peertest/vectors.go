package peertest

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A Vector is an input and what the program returned for it.
type Vector struct {
	In   string
	Want Result
}

// ReadVectors reads a file of vectors: a line is an input and a result, quoted
// as in Go and separated by a tab. The result of a rejected input is "rejected"
// without quotes. Lines that start with # are comments.
func ReadVectors(t testing.TB, name string) (vectors []Vector) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		in, out, ok := strings.Cut(line, "\t")
		v := Vector{Want: Result{Rejected: out == "rejected"}}
		var errIn, errOut error
		v.In, errIn = strconv.Unquote(in)
		if !v.Want.Rejected {
			v.Want.Text, errOut = strconv.Unquote(out)
		}
		if !ok || errIn != nil || errOut != nil {
			t.Fatalf("%s:%d: not a vector", name, i+1)
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatalf("%s: no vectors", name)
	}
	return vectors
}

// CheckFile checks that a file for ReadVectors holds the results of the
// program, without the inputs that the program cannot judge. If update is set,
// it writes the file instead. comment, the first line of the file, says how.
func CheckFile(t testing.TB, update bool, name, comment string, inputs [][]byte, results []Result) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# " + comment + "\n")
	for i, in := range inputs {
		if results[i].Undecided {
			continue
		}
		b.WriteString(quote(string(in)) + "\t" + results[i].String() + "\n")
	}
	if !update {
		if have, err := os.ReadFile(name); err != nil || string(have) != b.String() {
			t.Errorf("%s is not what the program returns (%v); run the command in its first line", name, err)
		}
		return
	}
	//nolint:forbidigo // a file of the source tree, for git to compare
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func quote(s string) string { return strconv.QuoteToASCII(s) }

// CheckVectors compares what f returns with a file of vectors.
func CheckVectors(t *testing.T, f Func, name string) {
	t.Helper()
	for _, v := range ReadVectors(t, name) {
		if got := Apply(f, []byte(v.In)); got != v.Want {
			t.Errorf("%s: %v; the program returned %v", quote(v.In), got, v.Want)
		}
	}
}

// CheckAllocations checks that f allocates nothing for the inputs of a file of
// vectors once it has seen them.
func CheckAllocations(t *testing.T, f Func, name string) {
	t.Helper()
	dst := make([]byte, 0, 1<<20)
	vectors := ReadVectors(t, name)
	inputs := make([][]byte, len(vectors))
	for i, v := range vectors {
		inputs[i] = []byte(v.In)
	}
	all := func() {
		for _, in := range inputs {
			_, _ = f(dst, in)
		}
	}
	all()
	if n := testing.AllocsPerRun(5, all); n != 0 {
		t.Errorf("%v allocations for %d inputs", n, len(inputs))
	}
}

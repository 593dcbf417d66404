// Package peertest compares a package below codec/internal/peer with the program
// that it reproduces. The program runs as another process: it reads inputs and
// writes results, one per line in hexadecimal digits, so that any language will
// do and no dependency of the program becomes one of this module.
package peertest

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"
)

// A Func appends what a program returns for src to dst. It returns false where
// the program rejects src.
type Func func(dst, src []byte) ([]byte, bool)

// A Result is what a program returns for an input.
type Result struct {
	Text      string
	Rejected  bool
	Undecided bool // the program cannot answer; Compare ignores the input
}

// String returns the result quoted, or "rejected".
func (r Result) String() string {
	if r.Rejected {
		return "rejected"
	}
	return quote(r.Text)
}

// Run starts cmd, writes each input as a line of an x and hexadecimal digits,
// and returns the answers of the program. The program must write a line per
// input, with a field per function that it runs, separated by spaces: an x and
// hexadecimal digits, "-" if the program rejects the input, or "?" if it cannot
// judge the input. The first index of the result is the field, the second the
// input.
func Run(t testing.TB, cmd *exec.Cmd, inputs [][]byte) (results [][]Result) {
	t.Helper()
	var in, out, errors bytes.Buffer
	for _, u := range inputs {
		in.WriteString("x" + hex.EncodeToString(u) + "\n")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errors
	if err := cmd.Run(); err != nil {
		t.Fatalf("the program failed: %v: %.500s", err, &errors)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(inputs) {
		t.Fatalf("the program answered %d of %d inputs", len(lines), len(inputs))
	}
	results = make([][]Result, strings.Count(lines[0], " ")+1)
	for _, line := range lines {
		for i, answer := range strings.Split(strings.TrimRight(line, "\r"), " ") {
			results[i] = append(results[i], parseResult(t, answer))
		}
	}
	return results
}

func parseResult(t testing.TB, answer string) Result {
	t.Helper()
	switch answer {
	case "-":
		return Result{Rejected: true}
	case "?":
		return Result{Undecided: true}
	}
	text, err := hex.DecodeString(strings.TrimPrefix(answer, "x"))
	if err != nil {
		t.Fatalf("the program wrote %q: %v", answer, err)
	}
	return Result{Text: string(text)}
}

// Compare compares what f returns with the results of the program, except for
// the inputs that known reports. It returns the number of known differences.
func Compare(t *testing.T, f Func, inputs [][]byte, want []Result, known func(in []byte) bool) (differ int) {
	t.Helper()
	failed, undecided := 0, 0
	for i, in := range inputs {
		got := Apply(f, in)
		switch {
		case got == want[i]:
		case want[i].Undecided:
			undecided++
		case known != nil && known(in):
			differ++
		default:
			if failed++; failed <= 20 {
				t.Errorf("%s: %v; the program returns %v", quote(string(in)), got, want[i])
			}
		}
	}
	t.Logf("%d inputs, %d rejected by the program, %d undecided, %d known differences, %d unexplained",
		len(inputs), rejected(want), undecided, differ, failed)
	return differ
}

func rejected(results []Result) (n int) {
	for _, r := range results {
		if r.Rejected {
			n++
		}
	}
	return n
}

// Apply returns what f returns for in.
func Apply(f Func, in []byte) Result {
	out, ok := f(nil, in)
	if !ok {
		return Result{Rejected: true}
	}
	return Result{Text: string(out)}
}

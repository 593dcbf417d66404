package percent

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestInlining checks that the compiler still inlines the functions in the
// innermost loops.
func TestInlining(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the package; run without -short")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, f := range []string{"ByteSet.Has", "IsUnreserved", "IsReserved", "IsHex", "Unhex", "Kinds.has", "isTriplet", "tripletByte", "AppendEscape"} {
		if !regexp.MustCompile(`can inline ` + regexp.QuoteMeta(f) + `\n`).Match(out) {
			t.Errorf("%s is no longer inlinable", f)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	src := []byte("/a b/%7e%zz/%2f..%2F%C0%AF%2541%25E4%25B8%25AD%u0041/%41%\xff")
	buf := make([]byte, 0, 4*len(src))
	defects := make([]Defect, 0, 100)
	f := func(name string, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", name, n)
		}
	}
	f("AppendNormal, keep", func() { AppendNormal(buf, src, full(RFC3986Path, MalformedKeep)) })
	f("AppendNormal, encode", func() { AppendNormal(buf, src, full(WHATWGPath, MalformedEncode)) })
	f("AppendNormal, reject", func() { AppendNormal(buf, src, full(None, MalformedReject)) })
	f("AppendDefects", func() { appendDefects(defects, src, 100) })
	f("AppendEncode", func() { AppendEncode(buf, src, WHATWGForm) })
	f("AppendDecode", func() { AppendDecode(buf, src) })
	f("AppendDecodeForm", func() { AppendDecodeForm(buf, src) })
	f("AppendDecodeChecked", func() {
		if _, err := appendDecodeChecked(buf, src[:8]); err != nil {
			t.Error(err)
		}
	})
}

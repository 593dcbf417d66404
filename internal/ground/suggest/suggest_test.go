package suggest

import "testing"

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
		if got := distance(b, a); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", b, a, got, want)
		}
	}
	f("", "", 0)
	f("", "abc", 3)
	f("jsonl", "jsonl", 0)
	f("jsnl", "jsonl", 1)
	f("fromat", "format", 1) // a swap counts once
	f("kitten", "sitting", 3)
}

func TestNearest(t *testing.T) {
	names := []string{"syntax", "equivalent", "jsonl", "rewrite", "--quiet"}
	f := func(name, want string) {
		t.Helper()
		if got := Nearest(names, name); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	f("jsnl", "jsonl")
	f("JSONL", "jsonl")
	f("rewite", "rewrite")
	f("k7", "") // too short to tell what was meant
	f("xml", "")
	f("", "")
}

func TestNearestLong(t *testing.T) {
	long := make([]byte, 1<<20)
	if got := Nearest([]string{"syntax"}, string(long)); got != "" {
		t.Errorf("a megabyte is near %q", got)
	}
	names := []string{string(long)}
	if n := testing.AllocsPerRun(1, func() { Nearest(names, "jsonl") }); n > 2 {
		t.Errorf("%v allocations to compare a name with a megabyte", n)
	}
}

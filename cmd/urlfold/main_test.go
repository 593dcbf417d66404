package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMain makes this test binary the program itself if a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("URLFOLD_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestStartup checks that package startup is initialized before the packages that
// allocate much, and that these do not need more than it allows without a collection.
func TestStartup(t *testing.T) {
	c := exec.Command(os.Args[0], "-f", "lines", "--quiet", "-")
	c.Env = append(os.Environ(), "URLFOLD_MAIN=1", "GODEBUG=inittrace=1")
	c.Stdin = strings.NewReader("HTTP://Example.com\n")
	var trace strings.Builder
	c.Stderr = &trace
	out, err := c.Output()
	if err != nil || string(out) != "http://example.com/\n" {
		t.Fatalf("output %q, %v\n%s", out, err, &trace)
	}
	before, after, found := strings.Cut(trace.String(), "urlfold/internal/ground/startup @")
	if !found || strings.Contains(before, "kafka-go/protocol/") || !strings.Contains(after, "kafka-go/protocol/") {
		t.Errorf("package startup is not initialized before kafka-go:\n%s", &trace)
	}
	const limit = 12 << 20
	total := 0
	for _, m := range regexp.MustCompile(`(\d+) bytes, \d+ allocs`).FindAllStringSubmatch(trace.String(), -1) {
		n, _ := strconv.Atoi(m[1])
		total += n
	}
	if total < 1<<20 || total > limit {
		t.Errorf("initializers allocate %d bytes, want 1 MB to %d", total, limit)
	}
}

package daemon

import (
	"errors"
	"strings"
	"testing"
)

// TestShareFiles: what is granted fits into the limit with all reserves, is never more
// than what is configured, and too low a limit is a mistake with its numbers.
func TestShareFiles(t *testing.T) {
	f, err := loaded(t, "  - discard: {}\n", `  - file: {path: "out/{source.relpath}"}
  - kafka: {brokers: ["127.0.0.1:1"], topic: t}
dead_letter: {file: {path: dead.jsonl}}
`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := testCatalog(t).newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	const fixed = processReserve + (4 + 2 + 2) + brokerReserve + 2*sinkReserve
	const least = fixed + 3*leastFiles
	for limit := int64(1); limit < 3000; limit++ {
		err := p.shareFiles(limit)
		var few *LimitError
		if errors.As(err, &few) != (limit < least) {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if few != nil {
			if few.Need != least || few.Limit != limit || !strings.Contains(few.Error(), "ulimit -n") {
				t.Fatalf("limit %d: %v", limit, few)
			}
			continue
		}
		sum := int64(fixed)
		for _, s := range p.openFiles {
			sum += int64(s.granted)
			if s.granted < leastFiles || s.granted > s.configured {
				t.Fatalf("limit %d: %+v", limit, s)
			}
		}
		if sum > limit {
			t.Fatalf("limit %d: %d are granted", limit, sum)
		}
	}
	if err := p.shareFiles(0); err != nil || p.openFilesOf("sources[0].file") != 512 || p.openFilesOf("sinks[1].kafka") != 0 {
		t.Errorf("without a limit: %v, %+v", err, p.openFiles)
	}
}

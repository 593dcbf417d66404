package record

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/cputime"
)

// fillers are texts that a careless parser reads again for each of them.
var fillers = []string{
	" ", "a", ",", ";", ":", "=", "&", "/", "%", "%41", "(", ")", "[", "]", "{", "}", "<", `"`, `""`, `\"`, `\`, "'", "\xff",
	"http://", "http://h/", "GET ", " GET / ", `" 200 `, "a=1 ", "a:1\t", `{"a":`, "[1,", `"a":1,`, "NONE/- ", "=> ", "[pid: ",
}

// grows reports whether do takes much more CPU time than in proportion to the size of
// its input. It does not say how fast do is: a time that grows with the square of the
// size is 64 times as long for 8 times the size.
func grows(t *testing.T, do func(size int)) bool {
	const small, large, much = 1 << 15, 1 << 18, 24
	for range 3 { // the first call may find cold caches
		if whole := cputime.Of(t, func() { do(large) }); whole < 200*time.Millisecond || whole < much*cputime.Of(t, func() { do(small) }) {
			return false
		}
	}
	return true
}

// TestLongRecords fills a record of each format, at several places, with text that
// repeats itself. A single such record must not occupy the program for minutes.
func TestLongRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes ten seconds; run without -short")
	}
	for _, name := range slices.Sorted(maps.Keys(formatSubjects)) {
		s := formatSubjects[name]
		s.config.Format = name
		j, err := New(withNormalizer(t, allFields(s.config)))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(s.text, "\n")
		for _, at := range []int{strings.LastIndexByte(text, '\n') + 1, strings.LastIndexByte(text, '/') + 1, len(text)} {
			for _, f := range fillers {
				if grows(t, func(size int) { runJob(t, j, filled(text, at, f, size)) }) {
					t.Errorf("%s, %q: the time for long records grows more than their length", name, text[:at]+f)
				}
			}
		}
	}
}

// TestDetectLong is TestLongRecords for the guess of the format.
func TestDetectLong(t *testing.T) {
	for _, front := range []string{"", `{"`, `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET /`, "1066036250.603    310 192.0.2.196 TCP_MISS/200 1869 GET "} {
		for _, f := range fillers {
			if grows(t, func(size int) { Detect(filled(front, len(front), f, size)) }) {
				t.Errorf("%q: the time for detection grows more than the record", front+f)
			}
		}
	}
	var names strings.Builder
	for n := range 1 << 16 {
		names.WriteString("a" + strconv.Itoa(n) + ",")
	}
	if grows(t, func(size int) { DetectHeader([]byte(names.String()[:size])) }) {
		t.Error("the time for the names of columns grows more than their number")
	}
}

// filled returns text with size bytes of the filler at an offset.
func filled(text string, at int, filler string, size int) []byte {
	return []byte(text[:at] + strings.Repeat(filler, size/len(filler)) + text[at:] + "\n")
}

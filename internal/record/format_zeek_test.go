package record

import (
	"strings"
	"testing"
)

// zeekHead has columns of http.log.
const zeekHead = "#separator \\x09\n#path\thttp\n#fields\tts\thost\turi\treferrer\n"

// TestZeekHead checks that a log without URLs is refused.
func TestZeekHead(t *testing.T) {
	f := func(target Target, head, want string) {
		t.Helper()
		got := "<nil>"
		if err := newJob(t, Config{Format: "zeek", Target: target}).CheckHead([]byte(head)); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
	f(TargetAll, zeekHead, "<nil>")
	f(TargetReferer, zeekHead, "<nil>")
	f(TargetRequest, "#separator \\x09\n#fields\tts\tuid\tproto\n", "must have uri")
	f(TargetReferer, "#separator \\x09\n#fields\tts\turi\n", "needs referrer")
}

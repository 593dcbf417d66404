package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestFirstIdentity: with First and all targets, only the URL of the request is
// the identity of a record, also where the record has a referer and no request.
func TestFirstIdentity(t *testing.T) {
	const referer = "http://other.example/page"
	line := func(request string) string {
		return `192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "` + request + `" 200 1 "` + referer + `" "x"` + "\n"
	}
	for _, test := range []struct {
		request string
		has     [3]bool // with First: request, referer, all
	}{
		{"GET /a HTTP/1.1", [3]bool{true, true, true}},
		{"GET /a|b HTTP/1.1", [3]bool{true, true, true}},
		{"-", [3]bool{false, true, false}},
		{"", [3]bool{false, true, false}},
		{"CONNECT h:443 HTTP/1.1", [3]bool{false, true, false}},
		{"OPTIONS * HTTP/1.1", [3]bool{false, true, false}},
	} {
		for i, target := range []Target{TargetRequest, TargetReferer, TargetAll} {
			c := Config{Format: "combined", Target: target, Normalizer: newNormalizer(t, "equiv"), Level: codec.LevelEquivalent, Identity: Identity{By: "key", First: true}}
			ids, _, _ := appendRuns(newJob(t, c), []byte(line(test.request)), 1)
			if has := ids[0][:len(fmt.Sprint(codec.Key{}))] != fmt.Sprint(codec.Key{}); has != test.has[i] {
				t.Errorf("%s, %v: identity %s, want one: %v", test.request, target, ids[0], test.has[i])
			}
		}
	}
}

// TestParamIdentity checks that records with the same value of a parameter are the same,
// also if the output hides the values, and that records without it have no identity.
func TestParamIdentity(t *testing.T) {
	for _, redact := range [][]string{nil, {"email"}} {
		c := Config{Format: "lines", Normalizer: newNormalizer(t, "equiv"), Identity: Identity{By: "param('mail')"}, Redact: redact}
		in := "http://h/a?mail=a@h.example\nhttp://h/b?x=1&mail=a%40h.example#c\nhttp://h/a?mail=b@h.example\nhttp://h/a?Mail=a@h.example\n"
		ids, _, _ := appendRuns(newJob(t, c), []byte(in), 4)
		for i := range ids {
			ids[i], _, _ = strings.Cut(ids[i], " ")
		}
		if ids[0] != ids[2] || ids[0] == ids[4] || ids[6] != fmt.Sprint(codec.Key{}) {
			t.Errorf("redact %q: identities %q", redact, ids)
		}
	}
}

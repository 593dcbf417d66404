package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestFactOfIdentity checks that an identity is the same with and without a Fact, which
// is zero unless Config.Facts is set.
func TestFactOfIdentity(t *testing.T) {
	records := []string{
		`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a?utm_source=b HTTP/1.0" 200 1 "https://www.example.com/%7e" "-"`,
		`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET //b HTTP/1.0" 200 1 "-" "-"`,
		`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "OPTIONS * HTTP/1.0" 200 1 "http://example.com/" "-"`,
	}
	for _, by := range IdentityNames() {
		c := Config{Format: "combined", Target: TargetAll, Level: codec.LevelFetch, Identity: Identity{By: by}}
		lean := newJob(t, c).NewWorker()
		c.Facts = true
		whole := newJob(t, c).NewWorker()
		var st Stats
		for _, rec := range records {
			lean.Append(nil, nil, []byte(rec), Position{}, &st)
			whole.Append(nil, nil, []byte(rec), Position{}, &st)
			if f, none := fact(whole), fact(lean); f.Key.IsZero() || none != (Fact{}) {
				t.Errorf("by %s, %s: fact %+v, and %+v without Facts", by, rec, f, none)
			}
			if got, want := lean.AppendIdentity(nil)[0], whole.AppendIdentity(nil)[0]; got != want {
				t.Errorf("by %s, %s: identity %s, and %s with Facts", by, rec, got, want)
			}
		}
	}
}

package cli

import (
	"strings"
	"testing"
)

// TestVersionOfRelease checks that an artefact of a release, which is built without the
// repository, prints what the linker put into it.
func TestVersionOfRelease(t *testing.T) {
	defer func(r, c, d string) { release, commit, date = r, c, d }(release, commit, date)
	release, commit, date = "0.1.0", "0123456789abcdef0123456789abcdef01234567", "2026-11-28T20:51:05Z"
	if got, want := version(), "0.1.0 0123456789ab"; got != want {
		t.Errorf("version is %q, want %q", got, want)
	}
	v := versions(version())
	if v.Version != release || v.Commit != commit || v.Date != date {
		t.Errorf("%+v", v)
	}
	if text := v.String(); !strings.HasPrefix(text, "urlfold 0.1.0 0123456789ab\n") {
		t.Errorf("%s", text)
	}
}

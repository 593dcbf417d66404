package cli

import (
	"slices"
	"testing"
	"time"
)

func TestOldData(t *testing.T) {
	f := func(day, lists, suffixes string, want ...string) {
		t.Helper()
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := oldData(lists, suffixes, now); !slices.Equal(got, want) {
			t.Errorf("on %s: %q, want %q", day, got, want)
		}
	}
	f("2026-11-23", "default@2026-11-21", "2026-08-19")
	f("2027-05-20", "default@2026-11-21,clearurls@d055d1e4612be57c", "2026-08-19")
	f("2027-05-21", "ours@7,default@2026-11-21", "2026-08-19",
		"the parameter list default is 181 days old: get a newer one to recognize what was added since 2026-11-21")
	f("2027-08-20", "", "2026-08-19",
		"the public suffix list is 366 days old: get a newer one to recognize what was added since 2026-08-19")
	f("2020-01-01", "default@2026-11-21", "2026-08-19")
}

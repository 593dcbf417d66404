package locate

import (
	"fmt"
	"testing"
	"time"
)

// TestStampWeek compares weeks and times in UTC with those of package time.
func TestStampWeek(t *testing.T) {
	day := time.Date(1969, 12, 20, 23, 30, 59, 0, time.FixedZone("", -5*3600-1800))
	for range 366 * 60 {
		var s Stamp
		if text := day.Format(time.RFC3339); !s.Parse([]byte(text), nil) {
			t.Fatalf("%s is not parsed", text)
		}
		year, week := day.ISOWeek()
		if got, want := string(s.AppendWeek(nil)), fmt.Sprintf("%04d-W%02d", year, week); got != want {
			t.Fatalf("%v: week %s, want %s", day, got, want)
		}
		s.ToUTC()
		if got, want := string(s.AppendTo(nil)), day.UTC().Format(time.RFC3339); got != want {
			t.Fatalf("%v: %s, want %s", day, got, want)
		}
		day = day.Add(24*time.Hour + 7*time.Second)
	}
}

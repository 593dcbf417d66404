package recordconf

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
)

// TestZone checks the offsets of zones, in which daylight saving time counts.
func TestZone(t *testing.T) {
	for _, test := range []struct {
		name  string
		month int
		east  int
	}{
		{"Europe/Berlin", 1, 60},
		{"Europe/Berlin", 7, 120},
		{"America/New_York", 1, -300},
		{"Asia/Kolkata", 1, 330},
		{"UTC", 1, 0},
		{"+02:00", 1, 120},
		{"-09:30", 7, -570},
	} {
		c, err := fill(config.Format{Timezone: test.name, Year: 2024}, config.Codec{}, "")
		if err != nil || c.Year != 2024 {
			t.Fatalf("%s: %v, year %d", test.name, err, c.Year)
		}
		if east := c.Zone(2024, test.month, 15, 12, 0); east != test.east {
			t.Errorf("%s in month %d: %d minutes east, want %d", test.name, test.month, east, test.east)
		}
	}
	if c, err := fill(config.Format{Timezone: "Local"}, config.Codec{}, ""); err != nil || c.Zone == nil {
		t.Errorf("Local: %v", err)
	}
	if c, err := fill(config.Format{}, config.Codec{}, ""); err != nil || c.Zone != nil {
		t.Errorf("no zone: %v", err)
	}
}

func TestZoneErrors(t *testing.T) {
	f := func(c config.Format, where, field, want string) {
		t.Helper()
		_, err := fill(c, config.Codec{}, where)
		var e *record.ConfigError
		if !errors.As(err, &e) || e.Field != field || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in %s", c, err, want, field)
		}
	}
	f(config.Format{Timezone: "Europe/Berln"}, "", "Zone", `unknown time zone "Europe/Berln": must be an IANA name`)
	f(config.Format{Timezone: "../etc/passwd"}, "", "Zone", "unknown time zone")
	f(config.Format{Timezone: "+2"}, "", "Zone", `invalid offset "+2"`)
	f(config.Format{Timezone: "+25:00"}, "", "Zone", "invalid offset")
	f(config.Format{Year: 10000}, "", "Year", "from 1970 to 9999")
	f(config.Format{Year: -1}, "", "Year", "from 1970 to 9999")
	f(config.Format{}, "stauts == 200", "Where", `column 1: unknown name "stauts"`)
}

func TestZoneNoAllocs(t *testing.T) {
	c, err := fill(config.Format{Timezone: "Europe/Berlin"}, config.Codec{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { c.Zone(2024, 7, 15, 12, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

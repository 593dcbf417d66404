package recordconf

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // containers have no time zones

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/where"
)

// setTimes sets what depends on the zone: how times are read, and the condition,
// which compares them.
func (s *Settings) setTimes(c *record.Config) error {
	loc, errZone := location(s.Timezone)
	c.Zone = zoneOf(loc)
	var errWhere error
	if s.Where != "" {
		var e *where.Expression
		if e, errWhere = where.Compile(s.Where, cmp.Or(loc, time.UTC)); errWhere == nil {
			c.Where = e
		}
	}
	return errors.Join(mistake("Zone", errZone), mistake("Where", errWhere), checkYear(s.Year))
}

// zoneOf returns the zones of times at loc, or nil if loc is nil.
func zoneOf(loc *time.Location) record.ZoneFunc {
	if loc == nil {
		return nil
	}
	return func(year, month, day, hour, minute int) int {
		_, east := time.Date(year, time.Month(month), day, hour, minute, 0, 0, loc).Zone()
		return east / 60
	}
}

// location returns the location that name identifies: an IANA name such as
// Europe/Berlin, Local for the zone of the machine, or an offset such as
// +02:00. It returns nil if name is empty.
func location(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	if name[0] == '+' || name[0] == '-' {
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, fmt.Errorf("invalid offset %q: must be HH:MM after the sign, such as +02:00", name)
		}
		return t.Location(), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: must be an IANA name such as Europe/Berlin, Local, or an offset such as +02:00", name)
	}
	return loc, nil
}

// errYear is the error for a year that no log is from.
var errYear = errors.New("must be a year from 1970 to 9999")

// checkYear returns an error unless year is 0, which means that it is not set,
// or a year from which there are logs.
func checkYear(year int) error {
	if year != 0 && (year < 1970 || year > 9999) {
		return mistake("Year", errYear)
	}
	return nil
}

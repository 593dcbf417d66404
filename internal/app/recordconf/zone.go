package recordconf

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // containers have no time zones

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/where"
	"github.com/urlfold/urlfold/internal/record"
)

// setTimes sets what depends on the zone: how times are read, and the
// conditions, which compare times.
func setTimes(rc *record.Config, f *config.Format, filter string, route []Branch) error {
	loc, err := Location(f.Timezone)
	rc.Zone = zoneOf(loc)
	errs := []error{mistake("Zone", err)}
	zone := cmp.Or(loc, time.UTC)
	rc.Where, err = condition(filter, zone)
	errs = append(errs, mistake("Where", err))
	for i, b := range route {
		when, err := condition(b.When, zone)
		errs = append(errs, mistake(fmt.Sprintf("Route[%d]", i), err))
		rc.Route = append(rc.Route, record.Branch{When: when, To: b.To})
	}
	return errors.Join(append(errs, checkYear(f.Year))...)
}

// condition compiles an expression. It returns nil if text is empty.
func condition(text string, zone *time.Location) (record.Condition, error) {
	if text == "" {
		return nil, nil
	}
	e, err := where.Compile(text, zone)
	if err != nil {
		return nil, err // not a non-nil interface that holds a nil *Expression
	}
	return e, nil
}

// zoneOf returns a function that gives the zone of a local time at loc, or nil
// if loc is nil.
func zoneOf(loc *time.Location) record.ZoneFunc {
	if loc == nil {
		return nil
	}
	return func(year, month, day, hour, minute int) int {
		_, east := time.Date(year, time.Month(month), day, hour, minute, 0, 0, loc).Zone()
		return east / 60
	}
}

// Location returns the location that name identifies: an IANA name such as
// Europe/Berlin, Local for the zone of the machine, or an offset such as
// +02:00. It returns nil if name is empty.
func Location(name string) (*time.Location, error) {
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

// errYear is the error for a year that no log can be from.
var errYear = errors.New("must be a year from 1970 to 9999")

// checkYear returns an error unless year is 0, which means that it is not set, or
// from 1970 to 9999.
func checkYear(year int) error {
	if year != 0 && (year < 1970 || year > 9999) {
		return mistake("Year", errYear)
	}
	return nil
}

package recordconf

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // containers have no time zones

	"github.com/urlfold/urlfold/codec/record"
)

// parseZone returns the zone that name identifies: an IANA name such as
// Europe/Berlin, Local for the zone of the machine, or an offset such as
// +02:00.
func parseZone(name string) (record.ZoneFunc, error) {
	loc, err := location(name)
	if err != nil {
		return nil, err
	}
	return func(year, month, day, hour, minute int) int {
		_, east := time.Date(year, time.Month(month), day, hour, minute, 0, 0, loc).Zone()
		return east / 60
	}, nil
}

// location returns the location that name identifies.
func location(name string) (*time.Location, error) {
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

// errYear is the error for a year that RFC 3339 cannot represent.
var errYear = errors.New("must be a year from 1 to 9999")

// checkYear returns an error unless year is 0, which means that it is not set,
// or a year that RFC 3339 can represent.
func checkYear(year int) error {
	if year < 0 || year > 9999 {
		return mistake("Year", errYear)
	}
	return nil
}

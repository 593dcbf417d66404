package insight

import (
	"bytes"
	"fmt"
	"time"
)

// Per is the length of the periods that are counted separately.
type Per uint8

// Lengths of periods.
const (
	PerRun    Per = iota // one period: all records
	PerHour              // "2026-11-23T15:00:00+01:00"
	PerDay               // "2026-11-23"
	PerWeek              // "2026-W48", by ISO 8601
	PerMonth             // "2026-11"
	perMinute            // "2026-11-23T15:04:00+01:00"
)

// PerNames returns the names of the periods shorter than a run.
func PerNames() []string { return []string{"hour", "day", "week", "month"} }

// A calendar finds the periods of times. It remembers the last period, because
// the times of a log ascend.
type calendar struct {
	per  Per
	zone *time.Location

	minute []byte // the last time up to its minutes
	offset []byte // the zone of minute
	text   []byte // the period
}

// minuteEnd is the length of a time of RFC 3339 up to its minutes:
// 2006-01-02T15:04.
const minuteEnd = 16

// period returns the period that contains t, a time of RFC 3339, or nil if t is
// empty. The result is valid until the next call. A leap second belongs to its
// minute.
func (c *calendar) period(t []byte) []byte {
	if len(t) <= minuteEnd {
		return nil
	}
	offset := t[len(t)-1:]
	if offset[0] != 'Z' {
		offset = t[max(minuteEnd, len(t)-len("+00:00")):]
	}
	if bytes.Equal(t[:minuteEnd], c.minute) && bytes.Equal(offset, c.offset) {
		return c.text
	}
	c.minute, c.offset = append(c.minute[:0], t[:minuteEnd]...), append(c.offset[:0], offset...)
	at, err := time.Parse("2006-01-02T15:04Z07:00", string(c.minute)+string(c.offset))
	if err != nil {
		c.text = c.text[:0]
		return nil
	}
	c.text = c.appendStart(c.text[:0], at.In(c.zone))
	return c.text
}

// appendStart appends the period that contains t.
func (c *calendar) appendStart(dst []byte, t time.Time) []byte {
	switch c.per {
	case PerDay:
		return t.AppendFormat(dst, time.DateOnly)
	case PerWeek:
		year, week := t.ISOWeek()
		return fmt.Appendf(dst, "%04d-W%02d", year, week)
	case PerMonth:
		return t.AppendFormat(dst, "2006-01")
	case perMinute:
		return t.AppendFormat(dst, time.RFC3339)
	}
	t = t.Add(-time.Duration(t.Minute()) * time.Minute)
	return t.AppendFormat(dst, time.RFC3339)
}

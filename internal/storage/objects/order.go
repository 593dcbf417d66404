package objects

import (
	"regexp"
	"time"
)

// An Order lets listings skip old objects, in buckets whose keys begin with the
// same text and sort by time after that. A series is a set of keys with the
// same text before their first date, for example the keys of an account, a
// region or a distribution. The date must begin with the year. A listing
// requests the beginning of each series and then continues after the mark of
// the series, the last key that is older than the look-back. So the listing
// also finds the objects of new series.
//
// A listing does not see an object that appears under a key before the mark, or
// that is written again under such a key. So a listing with a new Order is
// necessary from time to time.
type Order struct {
	lookBack time.Duration
	marks    map[string]mark // by the bucket and the text of the series
}

// A mark is where listings of a series continue.
type mark struct {
	key    string // the last key of an object that is older than the look-back
	before int    // number of objects of the series that were listed up to key
}

// pageObjects is the maximum number of objects in the answer to a request.
const pageObjects = 1000

// NewOrder returns an Order whose first listing skips nothing. Later listings
// return the objects of the last lookBack again, and all objects that sort after
// these.
func NewOrder(lookBack time.Duration) *Order {
	return &Order{lookBack, map[string]mark{}}
}

// date matches the text before a date, and the start of the date: the year and
// the character after it, as in 2026/11/30, 2026-11-30 and year=2026/month=11, or
// all digits of 20261130.
var date = regexp.MustCompile(`^(.*?[^0-9])?20[0-9]{2}([^0-9A-Za-z]|(0[1-9]|1[0-2])([0-2][0-9]|3[01]))`)

// next notes that at was listed, and returns the key after which the listing
// continues, or "" if it continues with the next key. If fewer objects would be
// skipped than one answer holds, next skips none, because that would save no
// request.
func (o *Order) next(at Object, now time.Time) string {
	if o == nil {
		return ""
	}
	found := date.FindStringSubmatchIndex(at.Key)
	if found == nil { // other series may lie between keys without a date
		return ""
	}
	series := at.Bucket + "/" + at.Key[:max(found[3], 0)]
	m := o.marks[series]
	switch {
	case at.Key < m.key && m.before >= pageObjects:
		return m.key
	case at.Key > m.key && now.Sub(at.Modified) > o.lookBack:
		o.marks[series] = mark{at.Key, m.before + 1}
	}
	return ""
}

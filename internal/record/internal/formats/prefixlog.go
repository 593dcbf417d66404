package formats

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// Prefixed returns the guess for an access log after a prefix, such as
// syslog+combined. g must be the guess of Detect for head. Access logs accept any
// text before the client, and so Detect returns combined; but what is before the
// client, such as a virtual host, can be read only if the prefix is known. ok is
// false if g is no access log, or if the prefix is missing in a record that fits.
func (g Guess) Prefixed(head []byte) (_ Guess, ok bool) {
	s := &locate.Sample{Head: head, Records: firstRecords(head)}
	for _, p := range LinePrefixes {
		if prefixed, ok := p.accessLog(s, g); ok && !p.json {
			return prefixed, true
		}
	}
	return g, false
}

// accessLog is Guess.Prefixed for one prefix.
func (p linePrefix) accessLog(s *locate.Sample, g Guess) (best Guess, ok bool) {
	stripped := p.strip(s)
	best.Records = g.Records
	certainty := uint8(0)
	for _, f := range Builtin {
		log, isLog := f.(textlog.LogFormat)
		if !isLog {
			continue
		}
		fit := log.Detect(stripped)
		if log.ID == g.Format && fit.Records == g.Fit {
			ok = true
		}
		if fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > certainty {
			certainty = fit.Certainty
			best.Format, best.Fit = p.ID+locate.PrefixSeparator+log.ID, fit.Records
		}
	}
	return best, ok
}

package kafka

import (
	"errors"
	"time"
)

// errEnd ends a run that is to end with its input.
var errEnd = errors.New("all partitions are read to their ends")

// atEnd reports whether offset is at the end of the log, as far as is known.
func (p *partition) atEnd(offset int64) bool {
	end := p.end.Load()
	return end >= 0 && offset >= end
}

// eofTicks returns what says when to look for the end of the log: never, unless
// the run is to end there.
func (p *partition) eofTicks() *time.Ticker {
	t := time.NewTicker(p.s.cfg.Linger + time.Millisecond)
	if !p.s.cfg.UntilEOF {
		t.Stop()
	}
	return t
}

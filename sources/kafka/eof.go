package kafka

import (
	"errors"
	"time"
)

// errEnd ends a run that ends with its input.
var errEnd = errors.New("all partitions have been read to their ends")

// atEnd reports whether offset is at the known end of the log.
func (p *partition) atEnd(offset int64) bool {
	end := p.end.Load()
	return end >= 0 && offset >= end
}

// eofTicks returns a ticker for checking the end of the log. It never fires
// unless the run ends with its input.
func (p *partition) eofTicks() *time.Ticker {
	t := time.NewTicker(p.s.cfg.Linger + time.Millisecond)
	if !p.s.cfg.UntilEOF {
		t.Stop()
	}
	return t
}

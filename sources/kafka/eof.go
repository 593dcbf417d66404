package kafka

import (
	"errors"
)

// errEnd ends a run that ends with its input.
var errEnd = errors.New("all partitions have been read to their ends")

// atEnd reports whether offset is at the known end of the log.
func (p *partition) atEnd(offset int64) bool {
	end := p.end.Load()
	return end >= 0 && offset >= end
}

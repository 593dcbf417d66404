package cli

import (
	"fmt"
	"log/slog"
)

// fileReserve is the number of descriptors that the one-shot needs in addition
// to its inputs: standard streams, the runtime's poller, outputs and reports.
const fileReserve = 16

// parallelInputs returns how many inputs to read at once: one per worker, at
// least 2, and no more than the descriptor limit of the process allows. A limit
// of 0 means no limit.
func (s *settings) parallelInputs(limit int64, log *slog.Logger) (int, error) {
	n := max(2, s.Jobs)
	room := limit - fileReserve
	switch {
	case limit == 0 || int64(n) <= room:
		return n, nil
	case room < 1:
		return 0, usage(fmt.Errorf("descriptor limit too low: need at least %d, have %d; raise it with ulimit -n", fileReserve+1, limit))
	}
	log.Warn("number of parallel inputs reduced to fit the descriptor limit", "configured", n, "granted", room, "descriptor_limit", limit)
	return int(room), nil
}

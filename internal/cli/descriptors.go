package cli

import (
	"fmt"
	"log/slog"
)

// fileReserve is how many descriptors the one-shot needs beside its inputs: standard
// streams, the poller of the runtime, outputs and reports.
const fileReserve = 16

// parallelInputs returns how many inputs are read at once: as many as there are
// workers, but no more than limit, the descriptors of the process, allows. A limit of
// 0 is none.
func (s *settings) parallelInputs(limit int64, log *slog.Logger) (int, error) {
	n := max(2, s.jobs)
	room := limit - fileReserve
	switch {
	case limit == 0 || int64(n) <= room:
		return n, nil
	case room < 1:
		return 0, usage(fmt.Errorf("descriptor limit too low: at least %d descriptors are needed, and the process may open %d; raise ulimit -n", fileReserve+1, limit))
	}
	log.Warn("inputs read at once reduced to fit the descriptor limit", "configured", n, "granted", room, "descriptor_limit", limit)
	return int(room), nil
}

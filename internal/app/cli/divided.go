package cli

import (
	"bytes"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/disk"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// This file implements -o with {vhost} or {site}: an output for each host.

const (
	vhostVariable = "{vhost}"
	siteVariable  = "{site}"

	// mostDivided is the maximum number of such outputs, all of which are open.
	mostDivided = 500
	// mostHosts is the maximum number of hosts that get a number in a
	// hostTable.
	mostHosts = 1 << 16

	unknownHost = "unknown" // in the output for records without a host
	otherHosts  = "other"   // in the output for hosts beyond mostDivided
)

// divided reports whether the output depends on the host of each record.
func (s *settings) divided() bool {
	return strings.Contains(s.Output, vhostVariable) || strings.Contains(s.Output, siteVariable)
}

// resolveDivided makes the workers collect the hosts of the records.
func (s *settings) resolveDivided() {
	if s.divided() {
		s.hosts = &hostTable{pattern: s.Output, sites: !strings.Contains(s.Output, vhostVariable), numbers: map[string]uint64{}}
		s.hosts.number([]byte(unknownHost))
		s.hosts.number([]byte(otherHosts))
		s.record.Route = []record.Branch{{To: sinkOfRecord, ToHost: s.hosts.to}}
	}
}

// newDivided returns the sink for the outputs of c.
func (s *settings) newDivided(c sink.Config) (sink.Tree, error) {
	most := mostDivided
	if open := disk.MaxOpen(); open > 0 {
		most = min(most, int(open)/2)
	}
	return sink.NewDivided(sink.DividedConfig{Config: c, PathOf: s.hosts.path, Most: most, Other: s.hosts.paths[1], Logger: s.log})
}

// A hostTable numbers the hosts of the records. In the set of outputs that a
// worker returns, the bits above sinkOfRecord are the number of the host.
type hostTable struct {
	pattern string // path of the outputs, with {vhost} or {site}
	sites   bool   // pattern has {site} and no {vhost}

	mu      sync.RWMutex
	numbers map[string]uint64
	paths   []string
}

// sinkOfRecord is the bit of the only sink, which gets all records.
const sinkOfRecord = 1

// to implements [record.Branch.ToHost].
func (h *hostTable) to(host []byte) uint64 {
	var lower, site [256]byte
	name := lower[:0]
	for _, c := range bytes.Trim(host, ".-") {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		name = append(name, c)
	}
	if h.sites {
		if s, ok := codec.AppendSite(site[:0], name, true); ok {
			name = s
		}
	}
	if len(name) == 0 {
		return sinkOfRecord
	}
	h.mu.RLock()
	n, known := h.numbers[string(name)]
	h.mu.RUnlock()
	if !known {
		n = h.number(name)
	}
	return n<<1 | sinkOfRecord
}

// number returns the number of a host. It assigns the next number to a new
// host, or 1, the number of otherHosts, if mostHosts hosts have a number
// already.
func (h *hostTable) number(name []byte) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, known := h.numbers[string(name)]
	switch {
	case known:
		return n
	case len(h.paths) >= mostHosts:
		return 1
	}
	site, ok := codec.AppendSite(nil, name, true)
	if !ok {
		site = name
	}
	n = uint64(len(h.paths))
	h.numbers[string(name)] = n
	h.paths = append(h.paths, strings.NewReplacer(vhostVariable, sink.SafeName(string(name)), siteVariable, sink.SafeName(string(site))).Replace(h.pattern))
	return n
}

// path returns the path of the output for a set of outputs.
func (h *hostTable) path(to uint64) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.paths[to>>1]
}

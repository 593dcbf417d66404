package daemon

import (
	"fmt"
	"log/slog"

	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// What the parts of a process need of its descriptors, beside the files that they
// keep open.
const (
	// Standard streams, poller, admin server with a few scrapes, checkpoint with its
	// lock and folder, watches of folders.
	processReserve = 24
	// Connections of a component that speaks to brokers.
	brokerReserve = 8
	// A copy that replaces an output, and the folder that is synced.
	sinkReserve = 4
	// The fewest files that a component works with.
	leastFiles = 4
)

// A LimitError says that the process may not open as many files as it needs. A new
// start with the same limit would not help.
type LimitError struct{ Need, Limit int64 }

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("descriptor limit too low: this configuration needs at least %d descriptors, and the process may open %d; raise ulimit -n or LimitNOFILE=",
		e.Need, e.Limit)
}

// A share is how many files a component may keep open.
type share struct {
	path       string // of the component in the configuration
	name       string
	configured int
	granted    int
}

// shareFiles divides the descriptors that the process may open, limit, among the
// sources and outputs that keep files open. Each gets as many as it is configured for,
// or else its part of what there is. A limit of 0 is none. The error is a *LimitError.
func (p *plan) shareFiles(limit int64) error {
	var least, wanted int64
	fixed := int64(processReserve)
	p.openFiles = nil
	add := func(path, name string, files, beside int) {
		p.openFiles = append(p.openFiles, share{path, name, files, files})
		fixed += int64(beside)
		least += int64(min(files, leastFiles))
		wanted += int64(files)
	}
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		if set, ok := c.Config.(*file.Settings); ok {
			add(c.Path(), c.Name, set.MaxOpenFiles, set.BusyFiles())
		} else {
			fixed += brokerReserve
		}
	}
	for _, c := range p.outputs() {
		if _, ok := c.Config.(*sinkfile.LogConfig); ok {
			add(c.Path(), p.extentName(c), sinkfile.DefaultOpenFiles, sinkReserve)
		} else {
			fixed += brokerReserve
		}
	}
	switch {
	case limit == 0 || fixed+wanted <= limit:
		return nil
	case fixed+least > limit:
		return &LimitError{Need: fixed + least, Limit: limit}
	}
	for i := range p.openFiles {
		s := &p.openFiles[i]
		floor := min(s.configured, leastFiles)
		s.granted = floor + int((limit-fixed-least)*int64(s.configured-floor)/(wanted-least))
	}
	return nil
}

// openFilesOf returns how many files a component may keep open; 0: as configured.
func (p *plan) openFilesOf(path string) int {
	for _, s := range p.openFiles {
		if s.path == path {
			return s.granted
		}
	}
	return 0
}

// logShares logs which components keep fewer files open than they are configured for.
func (p *plan) logShares(log *slog.Logger) {
	for _, s := range p.openFiles {
		if s.granted < s.configured {
			log.Warn("open files reduced to fit the descriptor limit", "component", s.name,
				"configured", s.configured, "granted", s.granted, "descriptor_limit", p.descriptors)
		}
	}
}

package daemon

import (
	"fmt"

	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// Numbers of file descriptors, in addition to the files that components keep
// open.
const (
	// Standard streams, poller, admin server with a few scrapes, checkpoint with
	// its lock and directory, directory watches.
	processReserve = 24
	// Connections of a component that uses brokers.
	brokerReserve = 8
	// A copy that replaces an output, and the directory that is synced.
	sinkReserve = 4
	// Minimum number of open files with which a component works.
	leastFiles = 4
)

// A LimitError reports that the configuration needs more file descriptors than
// the process may open. Restarting with the same limit does not help.
type LimitError struct{ Need, Limit int64 }

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("descriptor limit too low: the configuration needs at least %d, have %d; raise it with ulimit -n or LimitNOFILE=",
		e.Need, e.Limit)
}

// A share is the number of files that a component may keep open.
type share struct {
	path       string // path of the component in the configuration
	name       string
	configured int
	granted    int
}

// shareFiles divides the descriptor limit of the process among the sources and
// outputs that keep files open. Each component gets the configured number or,
// if the limit does not suffice, a proportional share. A limit of 0 means no
// limit. The error is a *LimitError.
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
	for _, c := range each(p.file.Sources) {
		if set, ok := c.Config.(*file.Settings); ok {
			add(c.Path(), c.Name, set.MaxOpenFiles, set.BusyFiles())
		} else {
			fixed += brokerReserve
		}
	}
	for _, c := range p.outputs() {
		if _, ok := p.logOf(c); ok {
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

// openFilesOf returns how many files a component may keep open. 0 means the
// configured number.
func (p *plan) openFilesOf(path string) int {
	for _, s := range p.openFiles {
		if s.path == path {
			return s.granted
		}
	}
	return 0
}

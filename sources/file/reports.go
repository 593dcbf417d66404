package file

import (
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A reporter gives what became of files to OnReport.
type reporter struct {
	cfg  *WatchConfig
	tell sync.Mutex // one OnReport at a time

	mu      *sync.Mutex // of the watcher; guards what follows
	stats   *counts
	reports []Report // to be told
}

// report tells what became of a file.
func (n *reporter) report(r Report) {
	if n.cfg.OnReport == nil {
		return
	}
	n.tell.Lock()
	defer n.tell.Unlock()
	n.cfg.OnReport(r)
}

// unreadable counts a file or folder that cannot be read, and has it reported. The
// caller holds mu.
func (n *reporter) unreadable(path, detail string) {
	v := compress.Verdict{Kind: compress.Unreadable, Cut: true, Detail: detail}
	n.stats.verdicts[v.Kind.String()]++
	n.reports = append(n.reports, Report{Path: path, Verdict: v})
}

// flushReports tells what is still to be told.
func (n *reporter) flushReports() {
	n.mu.Lock()
	reports := n.reports
	n.reports = nil
	n.mu.Unlock()
	for _, r := range reports {
		n.report(r)
	}
}

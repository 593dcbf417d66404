package file

import (
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A reporter passes reports about files to OnReport.
type reporter struct {
	cfg  *WatchConfig
	tell sync.Mutex // serializes calls of OnReport

	mu      *sync.Mutex // lock of the watcher; guards the fields below
	stats   *counts
	reports []Report // not yet passed to OnReport
}

// report passes r to OnReport.
func (n *reporter) report(r Report) {
	if n.cfg.OnReport == nil {
		return
	}
	n.tell.Lock()
	defer n.tell.Unlock()
	n.cfg.OnReport(r)
}

// unreadable counts a file or folder that cannot be read and queues a report.
// The caller holds mu.
func (n *reporter) unreadable(path, detail string) {
	v := compress.Verdict{Kind: compress.Unreadable, Cut: true, Detail: detail}
	n.stats.verdicts[v.Kind.String()]++
	n.reports = append(n.reports, Report{Path: path, Verdict: v})
}

// flushReports passes the queued reports to OnReport.
func (n *reporter) flushReports() {
	n.mu.Lock()
	reports := n.reports
	n.reports = nil
	n.mu.Unlock()
	for _, r := range reports {
		n.report(r)
	}
}

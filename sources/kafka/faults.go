package kafka

import (
	"log/slog"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/observe/logging"
)

// faults are the reasons why the source, or a partition, cannot go on now.
type faults struct {
	mu    sync.Mutex
	all   map[string]*logging.Outage
	count map[string]int64 // all that were ever set, by class
}

func (f *faults) set(log *slog.Logger, where string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all, f.count = map[string]*logging.Outage{}, map[string]int64{}
	}
	f.count[kafka.ClassOf(err)]++
	o := f.all[where]
	if o == nil {
		o = logging.NewOutage(log, "kafka: cannot read: it is tried again", "kafka: read recovered", "where", strings.TrimSpace(where))
		f.all[where] = o
	}
	o.Set(err)
}

// clear says that it works there.
func (f *faults) clear(where string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.all[where]; o != nil {
		o.Clear()
	}
}

// forget drops what is known of a partition that is no longer this member's.
func (f *faults) forget(where string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, where)
}

// of returns how many faults there were of a class.
func (f *faults) of(class string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[class]
}

func (f *faults) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, first := "", error(nil)
	for n, o := range f.all {
		if err := o.Err(); err != nil && (first == nil || n < name) {
			name, first = n, err
		}
	}
	return first
}

package kafka

import (
	"log/slog"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/ground/logging"
)

// faults holds the current errors of the source and its partitions.
type faults struct {
	mu    sync.Mutex
	all   map[string]*logging.Outage
	count map[string]int64 // all errors ever set, by class
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
		o = logging.NewOutage(log, "read failed, retrying", "read recovered", "where", strings.TrimSpace(where))
		f.all[where] = o
	}
	o.Set(err)
}

// clear records that reading works again at where.
func (f *faults) clear(where string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.all[where]; o != nil {
		o.Clear()
	}
}

// forget drops the state of a partition that this member no longer owns.
func (f *faults) forget(where string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, where)
}

// of returns the number of errors of a class.
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

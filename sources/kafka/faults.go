package kafka

import (
	"log/slog"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/kafka"
)

// faults are the reasons why the source, or a partition, cannot go on now.
type faults struct {
	mu    sync.Mutex
	all   map[string]fault
	count map[string]int64 // all that were ever set, by class
}

type fault struct {
	err    error
	logged time.Time
}

// complainEvery is how often a fault that lasts is logged.
const complainEvery = 10 * time.Second

func (f *faults) set(log *slog.Logger, where string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all, f.count = map[string]fault{}, map[string]int64{}
	}
	f.count[kafka.ClassOf(err)]++
	now := fault{err, f.all[where].logged}
	if time.Since(now.logged) > complainEvery {
		now.logged = time.Now()
		log.Warn("kafka: cannot read: it is tried again", "error", err)
	}
	f.all[where] = now
}

func (f *faults) clear(where string) {
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
	name := ""
	for n := range f.all {
		if name == "" || n < name {
			name = n
		}
	}
	return f.all[name].err
}

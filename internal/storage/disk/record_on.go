//go:build faults

package disk

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// recording reports whether operations are recorded.
var recording = os.Getenv(RecordEnv) != ""

// A journal appends operations to a file. It runs one operation at a time, so
// that the order of the lines is the order in which the operations took effect.
type journal struct {
	mu   sync.Mutex
	once sync.Once
	f    *os.File
	last int64
}

var recorder journal

// begin starts an operation and returns a function that ends it.
func (j *journal) begin() func() {
	if !recording {
		return func() {}
	}
	j.mu.Lock()
	return j.mu.Unlock
}

// opened records that a file was opened and returns its id.
func (j *journal) opened(how, name string) int64 {
	if !recording {
		return 0
	}
	j.last++
	j.note(op{Op: how, ID: j.last, Path: name})
	return j.last
}

// note appends an operation. It panics if it cannot write, because an
// incomplete record proves nothing.
func (j *journal) note(o op) {
	if !recording {
		return
	}
	j.once.Do(func() {
		f, err := os.OpenFile(os.Getenv(RecordEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(RecordEnv + ": " + err.Error())
		}
		j.f = f
	})
	for _, p := range []*string{&o.Path, &o.To} {
		if abs, err := filepath.Abs(*p); err == nil && *p != "" {
			*p = abs
		}
	}
	line, err := json.Marshal(&o)
	if err == nil {
		_, err = j.f.Write(append(line, '\n'))
	}
	if err != nil {
		panic(RecordEnv + ": " + err.Error())
	}
}

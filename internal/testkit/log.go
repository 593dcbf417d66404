package testkit

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Log collects text that a process or a logger writes while a test reads it.
// The zero Log is empty.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns the text written until now.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Logger returns a logger that writes lines of text.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Has reports whether a single line contains all of the texts.
func (l *Log) Has(texts ...string) bool {
	for line := range strings.SplitSeq(l.String(), "\n") {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(line, text)
		}
		if all {
			return true
		}
	}
	return false
}

// wantsFor is how long Wants waits: what a test has seen, such as an error in Health, can
// happen before the line about it is written.
const wantsFor = 5 * time.Second

// Wants fails the test unless a single line contains all of the texts, or will soon.
func (l *Log) Wants(t testing.TB, texts ...string) {
	t.Helper()
	for end := time.Now().Add(wantsFor); !l.Has(texts...); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("no log line contains all of %q:\n%s", texts, l.String())
			return
		}
	}
}

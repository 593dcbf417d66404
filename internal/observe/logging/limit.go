package logging

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// componentKey names the attribute by which equal messages of different parts of
// the program are told apart.
const componentKey = "component"

// maxSeen is how many messages are remembered at a time. They are texts of the
// program, of which there are fewer; a new one beyond that passes unlimited.
const maxSeen = 1024

// A limiter is a slog.Handler that lets a message of a component through once in
// a while. What it holds back is counted, and the count is logged with the next
// such message, or alone if another message comes by after that time. Debug
// messages are not limited: who turns them on wants them all.
type limiter struct {
	next      slog.Handler
	component string
	grouped   bool // attributes are inside a group: none names the component
	s         *seen
}

// Enabled implements slog.Handler.
func (h *limiter) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// WithGroup implements slog.Handler.
func (h *limiter) WithGroup(name string) slog.Handler {
	c := *h
	c.next, c.grouped = h.next.WithGroup(name), h.grouped || name != ""
	return &c
}

// WithAttrs implements slog.Handler.
func (h *limiter) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.next = h.next.WithAttrs(attrs)
	for _, a := range attrs {
		c.note(a)
	}
	return &c
}

// note looks whether a names the component.
func (h *limiter) note(a slog.Attr) bool {
	if !h.grouped && a.Key == componentKey {
		h.component = a.Value.Resolve().String()
	}
	return true
}

// Handle implements slog.Handler.
func (h *limiter) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		return h.next.Handle(ctx, r)
	}
	of := *h
	if !h.grouped {
		r.Attrs(of.note)
	}
	held, ok, due := h.s.pass(message{r.Level, r.Message, of.component}, r.Time)
	err := h.s.report(ctx, r.Time, due)
	if !ok {
		return err
	}
	if held > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", held))
	}
	return h.next.Handle(ctx, r)
}

// A message is what is limited.
type message struct {
	level     slog.Level
	text      string
	component string
}

// A repeat says how often a message was held back.
type repeat struct {
	message
	held int64
}

// A window is the time in which a message passes once.
type window struct {
	begin time.Time
	held  int64
}

// A seen remembers which messages have passed. Handlers that were derived from one
// another share it.
type seen struct {
	every time.Duration
	root  slog.Handler // for counts that are logged alone

	mu    sync.Mutex
	at    map[message]window
	swept time.Time
}

func newSeen(every time.Duration, root slog.Handler) *seen {
	return &seen{every: every, root: root, at: make(map[message]window)}
}

// pass reports whether m may be logged now, and how often it was held back before.
// It returns also what else was held back in times that are over.
func (s *seen) pass(m message, now time.Time) (held int64, ok bool, due []repeat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, known := s.at[m]
	if known && now.Sub(w.begin) < s.every {
		w.held++
		s.at[m] = w
		return 0, false, s.sweep(now)
	}
	delete(s.at, m) // so that sweep does not count it again
	due = s.sweep(now)
	if len(s.at) < maxSeen {
		s.at[m] = window{begin: now}
	}
	return w.held, true, due
}

// sweep forgets messages whose time is over, at most once in that time, and
// returns those that were held back.
func (s *seen) sweep(now time.Time) (due []repeat) {
	if now.Sub(s.swept) < s.every {
		return nil
	}
	s.swept = now
	for m, w := range s.at {
		if now.Sub(w.begin) < s.every {
			continue
		}
		if w.held > 0 {
			due = append(due, repeat{m, w.held})
		}
		delete(s.at, m)
	}
	return due
}

// report logs how often messages were held back.
func (s *seen) report(ctx context.Context, now time.Time, due []repeat) error {
	for _, d := range due {
		r := slog.NewRecord(now, d.level, d.text, 0)
		if d.component != "" {
			r.AddAttrs(slog.String(componentKey, d.component))
		}
		r.AddAttrs(slog.Int64("suppressed", d.held))
		if err := s.root.Handle(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

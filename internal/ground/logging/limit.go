package logging

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// componentKey is the attribute that distinguishes equal messages of different
// components.
const componentKey = "component"

// maxSeen is the maximum number of messages that a limiter remembers. Messages
// are constant texts, so the program has fewer. Further messages are not
// limited.
const maxSeen = 1024

// A limiter is a slog.Handler that passes each message of a component at most
// once per interval. It counts the messages that it suppresses and logs the
// count with the next such message, or separately when any message arrives
// after the interval. Debug messages are not limited, and neither are errors:
// each line about lost records has its own number.
type limiter struct {
	next      slog.Handler
	component string
	grouped   bool // attributes are in a group, so none is the component
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

// note sets h.component if a is the component attribute.
func (h *limiter) note(a slog.Attr) bool {
	if !h.grouped && a.Key == componentKey {
		h.component = a.Value.Resolve().String()
	}
	return true
}

// Handle implements slog.Handler.
func (h *limiter) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo || r.Level >= slog.LevelError {
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

// A message is the unit of limiting.
type message struct {
	level     slog.Level
	text      string
	component string
}

// A repeat is a message with the number of times that it was suppressed.
type repeat struct {
	message
	held int64
}

// A window is an interval in which a message passes only once.
type window struct {
	begin time.Time
	held  int64
}

// A seen records which messages have passed. Handlers that are derived from one
// another share it.
type seen struct {
	every time.Duration
	root  slog.Handler // for counts that are logged separately

	mu    sync.Mutex
	at    map[message]window
	swept time.Time
}

func newSeen(every time.Duration, root slog.Handler) *seen {
	return &seen{every: every, root: root, at: make(map[message]window)}
}

// pass reports whether m may be logged now, and how often it has been
// suppressed since it last passed. due lists other messages whose windows have
// ended with suppressed repetitions.
func (s *seen) pass(m message, now time.Time) (held int64, ok bool, due []repeat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, known := s.at[m]
	if known && now.Sub(w.begin) < s.every {
		w.held++
		s.at[m] = w
		return 0, false, s.sweep(now)
	}
	delete(s.at, m) // so that sweep does not return it too
	due = s.sweep(now)
	if len(s.at) < maxSeen {
		s.at[m] = window{begin: now}
	}
	return w.held, true, due
}

// sweep removes the messages whose windows have ended, and returns those of
// them that were suppressed. It runs at most once per interval.
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

// report logs how often messages were suppressed.
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

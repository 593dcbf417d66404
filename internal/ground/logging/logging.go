// Package logging creates the logger of the daemon, with a level, a format, a
// rate limit for repeated messages, and masking of secrets.
//
// A record passes the rate limit, then the mask, then a handler of log/slog:
//
//	slog.Logger ──▶ limiter ──▶ slog.TextHandler or slog.JSONHandler, with the mask as ReplaceAttr
package logging

import (
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Options configures a logger. The zero Options means text, level info, and no
// rate limit.
type Options struct {
	Level     slog.Leveler  // minimum level; use a *slog.LevelVar to change it at run time
	JSON      bool          // write JSON lines instead of logfmt
	RateLimit time.Duration // interval in which a message of a component is logged once; 0: no limit
	Masker    *Masker       // masks secrets; nil: masks only the passwords in URLs
}

// New returns a logger that writes lines to w, with one Write per line.
func New(w io.Writer, o Options) *slog.Logger {
	m := o.Masker
	if m == nil {
		m = new(Masker)
	}
	ho := &slog.HandlerOptions{Level: o.Level, ReplaceAttr: m.replaceAttr}
	var h slog.Handler = slog.NewTextHandler(w, ho)
	if o.JSON {
		h = slog.NewJSONHandler(w, ho)
	}
	if o.RateLimit > 0 {
		h = &limiter{next: h, s: newSeen(o.RateLimit, h)}
	}
	return slog.New(h)
}

// replaceAttr masks the value of an attribute. Package slog also calls it for
// the message and for each member of a group.
func (m *Masker) replaceAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(m.Mask(a.Value.String()))
	case slog.KindAny:
		a.Value = m.maskAny(a.Value)
	}
	return a
}

// maskAny masks a value of any type. It returns a value without secrets
// unchanged, so that the handler can format its structure.
func (m *Masker) maskAny(v slog.Value) slog.Value {
	var text string
	switch x := v.Any().(type) {
	case slog.Level:
		return v
	case []byte:
		text = string(x)
	case error:
		return slog.StringValue(m.Mask(x.Error()))
	case encoding.TextMarshaler:
		b, err := x.MarshalText()
		if err != nil {
			return v
		}
		text = string(b)
	default:
		text = fmt.Sprintf("%+v", x)
	}
	if masked := m.Mask(text); masked != text {
		return slog.StringValue(masked)
	}
	return v
}

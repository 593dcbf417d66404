// Package logging sets up the log of the daemon: level and format, a limit on
// how often one message is repeated, and a mask over secrets.
//
// A record passes the limit, then the mask, then one of the handlers of log/slog:
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

// Options say how to log. The zero Options are text, from level info on, without a
// limit.
type Options struct {
	Level     slog.Leveler  // the least level that is logged; a *slog.LevelVar can change while the process runs
	JSON      bool          // JSON lines, not logfmt
	RateLimit time.Duration // one message of one component passes once in this time; 0: always
	Masker    *Masker       // hides secrets; nil: only the passwords of URLs
}

// New returns a logger that writes lines to w, one Write for each.
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

// replaceAttr masks the value of an attribute. It is called for the message too,
// and for each member of a group.
func (m *Masker) replaceAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(m.Mask(a.Value.String()))
	case slog.KindAny:
		a.Value = m.maskAny(a.Value)
	}
	return a
}

// maskAny masks a value of a type that only its own methods can print. One without
// a secret stays as it is, so that the format can show its structure.
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

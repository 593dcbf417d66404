package logging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

func TestMaskURLs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := new(Masker).Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("no URL: user:pass@host", "no URL: user:pass@host")
	f("https://example.com/a?b#c", "https://example.com/a?b#c")
	f("https://user:pass@example.com/", "https://user:***@example.com/")
	f("https://user:@example.com/", "https://user:***@example.com/")
	f("https://:pass@example.com/", "https://:***@example.com/")
	// The last '@' ends the userinfo (WHATWG, authority state).
	f("https://user:p@ss:w@example.com", "https://user:***@example.com")
	// A NATS token.
	f("nats://s3cr3t@10.0.0.1:4222", "nats://***@10.0.0.1:4222")
	// Several in one text, and in a list.
	f("dial nats://a:b@h1,nats://c:d@h2: refused", "dial nats://a:***@h1,nats://c:***@h2: refused")
	f(`Get "http://u:p@h/x": http://v:q@h`, `Get "http://u:***@h/x": http://v:***@h`)
	// An '@' after the authority is no userinfo (RFC 3986 §3.2).
	f("https://example.com:80/@name", "https://example.com:80/@name")
	f("https://example.com?a=b:c@d", "https://example.com?a=b:c@d")
	f("https://example.com#a:b@d", "https://example.com#a:b@d")
	f(`https://example.com\a:b@d`, `https://example.com\a:b@d`)
	f("see https://example.com or write to a:b@example.com", "see https://example.com or write to a:b@example.com")
	f("://", "://")
	f("://@", "://***@")
}

func TestMaskSecrets(t *testing.T) {
	var m Masker
	m.Add("hunter2", "hunter2-and-more", "a b/c", "abc")
	m.Add("later", "hunter2")
	f := func(in, want string) {
		t.Helper()
		if got := m.Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	f("x hunter2 y", "x *** y")
	f("hunter2-and-more", "***")
	f("q=a+b%2Fc&r=a%20b%2Fc&s=a b/c", "q=***&r=***&s=***")
	f("later", "***")
	f("abc", "abc") // shorter than 4
}

// holder has its secret in a field.
type holder struct{ Password string }

type texter struct{}

func (texter) MarshalText() ([]byte, error) { return []byte("text hunter2"), nil }

func TestLogMasked(t *testing.T) {
	var m Masker
	m.Add("hunter2")
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		log := New(&out, Options{JSON: asJSON, Masker: &m})
		f := func(want string, args ...any) {
			t.Helper()
			out.Reset()
			log.With("with", "hunter2").WithGroup("g").Error("say hunter2", args...)
			if got := out.String(); strings.Contains(got, "hunter2") || strings.Contains(got, "pass@") || !strings.Contains(got, want) {
				t.Errorf("%v: logged %s, want %s and no secret", args, got, want)
			}
		}
		f("***", "k", "hunter2")
		f("h://u:***@x", "k", "h://u:pass@x")
		f("wrapped: h://u:***@x", "k", fmt.Errorf("wrapped: %w", errors.New("h://u:pass@x")))
		f("{Password:***}", "k", holder{"hunter2"})
		f("text ***", "k", texter{})
		f("bytes ***", "k", []byte("bytes hunter2"))
		f("***", slog.Group("in", slog.String("k", "hunter2")))
		f("***", "k", field.Secret("hunter2"))
		f("17", "k", 17)
	}
}

func TestFormats(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		var out bytes.Buffer
		log := New(&out, o)
		log.Debug("low")
		log.Info("high", "n", 1, "v", []int{2, 3})
		if got := out.String(); !strings.HasSuffix(got, want) || strings.Contains(got, "low") || strings.Count(got, "\n") != 1 {
			t.Errorf("%+v: logged %q, want the end %q", o, got, want)
		}
	}
	f(Options{}, `level=INFO msg=high n=1 v="[2 3]"`+"\n")
	f(Options{JSON: true}, `"level":"INFO","msg":"high","n":1,"v":[2,3]}`+"\n")
	f(Options{JSON: true, RateLimit: time.Hour}, `"level":"INFO","msg":"high","n":1,"v":[2,3]}`+"\n")
}

// A level that is off costs nothing, with a limit or without.
func TestNoAllocs(t *testing.T) {
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	for _, limit := range []time.Duration{0, time.Second} {
		var out bytes.Buffer
		log := New(&out, Options{Level: level, RateLimit: limit}).With("component", "c")
		n := testing.AllocsPerRun(100, func() {
			log.LogAttrs(context.Background(), slog.LevelInfo, "off", slog.String("k", "v"), slog.Int("n", 1))
		})
		if n != 0 || out.Len() != 0 {
			t.Errorf("limit %v: %v allocations and %d bytes for what is not logged", limit, n, out.Len())
		}
	}
	var out bytes.Buffer
	log := New(&out, Options{Level: level})
	level.Set(slog.LevelDebug)
	log.Debug("now")
	if !strings.Contains(out.String(), "now") {
		t.Error("a level that was changed has no effect")
	}
}

func TestRateLimit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		root := New(&out, Options{Level: slog.LevelDebug, RateLimit: 10 * time.Second})
		a, b := root.With("component", "a"), root.With("component", "b")
		expect := func(want ...string) {
			t.Helper()
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			out.Reset()
			if len(lines) != len(want) {
				t.Fatalf("logged %q, want %d lines", lines, len(want))
			}
			for i, w := range want {
				if _, line, _ := strings.Cut(lines[i], "level="); line != w {
					t.Errorf("logged %q, want %q", line, w)
				}
			}
		}
		for i := range 5 {
			a.Warn("full", "i", i)
		}
		b.Warn("full", "i", 0)
		root.Warn("full", "component", "b", "i", 1) // the same component, named otherwise
		root.Warn("full", "component", "c")
		a.Error("full")
		expect("WARN msg=full component=a i=0", "WARN msg=full component=b i=0",
			"WARN msg=full component=c", "ERROR msg=full component=a")

		time.Sleep(9 * time.Second)
		a.Warn("full", "i", 5)
		a.Debug("detail")
		a.Debug("detail")
		expect("DEBUG msg=detail component=a", "DEBUG msg=detail component=a")

		time.Sleep(time.Second) // component b is silent: its count comes alone
		a.Warn("full", "i", 6)
		expect("WARN msg=full component=b suppressed=1", "WARN msg=full component=a i=6 suppressed=5")

		time.Sleep(time.Minute)
		a.Warn("full", "i", 7)
		expect("WARN msg=full component=a i=7")
	})
}

// Inside a group "component" is an attribute like others.
func TestRateLimitGroup(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, Options{RateLimit: time.Hour}).With("component", "a").WithGroup("g")
	log.Info("x", "component", "b")
	log.With("component", "c").Info("x")
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines, want 1: %s", n, &out)
	}
}

func TestRateLimitBounded(t *testing.T) {
	s := newSeen(time.Second, slog.DiscardHandler)
	now := time.Unix(1000, 0)
	for i := range 5 * maxSeen {
		if _, ok, _ := s.pass(message{text: fmt.Sprint(i)}, now); !ok {
			t.Fatalf("message %d was held back, though it is new", i)
		}
	}
	if len(s.at) != maxSeen {
		t.Errorf("%d messages are remembered, want %d", len(s.at), maxSeen)
	}
	now = now.Add(time.Second)
	s.pass(message{text: "x"}, now)
	if len(s.at) != 1 {
		t.Errorf("%d messages are remembered after their time, want 1", len(s.at))
	}
}

func BenchmarkMask(b *testing.B) {
	var m Masker
	m.Add("hunter2-and-more")
	b.ReportAllocs()
	for b.Loop() {
		m.Mask("commit failed, retrying")
	}
}

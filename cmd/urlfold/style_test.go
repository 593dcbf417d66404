package main

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/sources/file"
)

func TestNewStyle(t *testing.T) {
	f := func(want style, env ...string) {
		t.Helper()
		getenv := func(name string) string {
			for _, e := range env {
				if v, ok := strings.CutPrefix(e, name+"="); ok {
					return v
				}
			}
			return ""
		}
		if got := newStyle(&bytes.Buffer{}, getenv); got != want {
			t.Errorf("%v: %+v, want %+v", env, got, want)
		}
	}
	f(style{width: 80})
	f(style{width: 80, unicode: true}, "LANG=en_US.UTF-8")
	f(style{width: 80, unicode: true}, "LC_CTYPE=C.utf8", "LANG=C")
	f(style{width: 80}, "LC_ALL=C", "LANG=en_US.UTF-8") // the first that is set decides
	f(style{width: 100}, "COLUMNS=100")
	f(style{width: maxWidth}, "COLUMNS=1000")
	f(style{width: minWidth}, "COLUMNS=1")
	f(style{width: 80}, "COLUMNS=wide")
}

func TestPaint(t *testing.T) {
	if got := (style{color: true}).paint(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := (style{}).paint(red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	f := func(text string, width int, want ...string) {
		t.Helper()
		if got := wrap(text, width); !slices.Equal(got, want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", text, width, got, want)
		}
	}
	f("", 10, "")
	f("a b c", 3, "a b", "c")
	f("longer than it", 4, "longer", "than", "it")
	f("§ § §", 3, "§ §", "§") // a rune is a column
}

// The bar says how many files, bytes and records, and goes away.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := newBar(&out, file.Progress{Bytes: 4 << 20, Known: true})
	b.start = b.start.Add(-2 * time.Second)
	b.clear() // before it is drawn there is nothing to clear
	if out.Len() > 0 {
		t.Errorf("cleared %q", out.String())
	}
	b.draw(file.Progress{Files: 3, FilesDone: 1, Bytes: 4 << 20, BytesDone: 1 << 20, Known: true}, 100_000)
	text := out.String()
	for _, want := range []string{"1/3 files", "k records/s", "2s elapsed", "6s left", "25%", "MiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the bar lacks %q: %q", want, text)
		}
	}
	b.draw(file.Progress{Files: 1, BytesDone: 2 << 20}, 100_000)
	if text := out.String()[len(text):]; strings.Contains(text, "left") || strings.Contains(text, "%") || !strings.Contains(text, "MiB") {
		t.Errorf("nobody knows how much is to come: %q", text)
	}
	b.clear()
	if !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("the line is not cleared: %q", out.String())
	}
}

// What says that the reader of the output has gone is not logged.
func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, slog.LevelWarn)
	log.Error("the run fails", "error", errors.Join(errors.New("writing"), syscall.EPIPE))
	log.Info("not at this level")
	if out.Len() > 0 {
		t.Errorf("logged %q", out.String())
	}
	log.Warn("a sink is slow", "error", errors.New("busy"))
	if !strings.Contains(out.String(), "a sink is slow") {
		t.Errorf("logged %q", out.String())
	}
}

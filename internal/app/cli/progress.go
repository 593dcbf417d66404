package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// progressInterval is the time between two updates of the line: short enough to
// look continuous, long enough to cost nothing.
const progressInterval = 200 * time.Millisecond

// progressNever is the value of --progress without a progress bar.
const progressNever = "never"

// showProgress shows a line about the progress of a run on w, a terminal, until
// stop is called. stop clears the line.
func showProgress(w io.Writer, src *file.Source, p *engine.Pipeline) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		line := progressLine{w: terminal.File(w), width: terminal.NewStyle(w, os.Getenv).Width - 1}
		start := time.Now()
		t := time.NewTicker(progressInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				line.show(progressText(src.Progress(), p.Snapshot().Stats.Records, time.Since(start)))
			case <-quit:
				line.clear()
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// A progressLine is a line that replaces itself. It is empty at first, so that a very
// short run shows nothing.
type progressLine struct {
	w     io.Writer
	width int // columns that the line may fill
	shown int // columns that it fills
}

// show replaces the text, which is ASCII. A failure to write must not stop the run.
func (l *progressLine) show(text string) {
	text = text[:min(len(text), l.width)]
	_, _ = fmt.Fprintf(l.w, "\r%-*s", l.shown, text)
	l.shown = len(text)
}

// clear empties the line and leaves the cursor at its start.
func (l *progressLine) clear() {
	if l.shown > 0 {
		l.show("")
		_, _ = io.WriteString(l.w, "\r")
	}
}

// progressText returns the number of files and of input bytes (as stored), the rates, and
// the remaining time if it is known.
func progressText(p file.Progress, records int64, elapsed time.Duration) string {
	var parts []string
	if p.Files > 1 {
		parts = append(parts, fmt.Sprintf("%d/%d files", p.FilesDone, p.Files))
	}
	size := terminal.FormatSize(p.BytesDone)
	if p.Known {
		size = fmt.Sprintf("%d%% of %s", 100*p.BytesDone/max(p.Bytes, 1), terminal.FormatSize(p.Bytes))
	}
	rate := terminal.PerSecond(p.BytesDone, elapsed)
	parts = append(parts, size, terminal.FormatSize(rate)+"/s", formatRate(terminal.PerSecond(records, elapsed))+" records/s",
		formatTime(elapsed)+" elapsed")
	if rate > 0 && p.Known && p.Bytes > p.BytesDone {
		parts = append(parts, formatTime(time.Duration((p.Bytes-p.BytesDone)/rate)*time.Second)+" left")
	}
	return strings.Join(parts, ", ")
}

// formatTime writes a time to the second: "0s", "1m5s".
func formatTime(d time.Duration) string { return d.Truncate(time.Second).String() }

// formatRate formats a rate with at most three digits and a unit: "1.2M",
// "480k".
func formatRate(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return terminal.FormatCount(n)
}

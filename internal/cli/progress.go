package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// progressInterval is the time between two redraws of the bar: short enough to
// look continuous, long enough to cost nothing.
const progressInterval = 200 * time.Millisecond

// showProgress draws a progress bar on w until stop is called. stop clears the
// bar.
func showProgress(w io.Writer, src *file.Source, p *pipeline.Pipeline) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b := newBar(w, src.Progress())
		t := time.NewTicker(progressInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				b.draw(src.Progress(), p.Snapshot().Stats.Records)
			case <-quit:
				b.clear()
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// A bar is a progress bar. It appears at the first call of draw, so that a very
// short run shows none.
type bar struct {
	w     io.Writer
	start time.Time
	bar   *progressbar.ProgressBar
	total int64 // bytes; -1 if unknown
	drawn bool
}

// newBar returns a bar whose clock starts now.
func newBar(w io.Writer, p file.Progress) *bar {
	b := &bar{w: w, start: time.Now(), total: totalOf(p)}
	b.bar = newLine(w, b.total)
	return b
}

// totalOf returns the total number of bytes to read, or -1 if it is unknown.
func totalOf(p file.Progress) int64 {
	if !p.Known {
		return -1
	}
	return p.Bytes
}

// draw shows the number of files and of input bytes (as stored), the rate, and
// the remaining time if it is known.
func (b *bar) draw(p file.Progress, records int64) {
	if total := totalOf(p); total != b.total {
		b.clear()
		b.total, b.bar = total, newLine(b.w, total)
	}
	b.drawn = true
	b.bar.Describe(b.text(p, records, time.Since(b.start)))
	_ = b.bar.Set64(p.BytesDone) // a failure to draw must not stop the run
}

// text returns the text in front of the bar.
func (b *bar) text(p file.Progress, records int64, elapsed time.Duration) string {
	parts := []string{formatRate(terminal.PerSecond(records, elapsed)) + " records/s", formatTime(elapsed) + " elapsed"}
	if p.Files > 1 {
		parts = slices.Insert(parts, 0, fmt.Sprintf("%d/%d files", p.FilesDone, p.Files))
	}
	if rate := terminal.PerSecond(p.BytesDone, elapsed); rate > 0 && b.total > p.BytesDone {
		parts = append(parts, formatTime(time.Duration((b.total-p.BytesDone)/rate)*time.Second)+" left")
	}
	return strings.Join(parts, ", ")
}

// formatTime writes a time to the second: "0s", "1m5s".
func formatTime(d time.Duration) string { return d.Truncate(time.Second).String() }

func (b *bar) clear() {
	if b.drawn {
		_ = b.bar.Clear()
	}
}

// newLine returns a bar for total bytes, or a spinner if total is -1.
func newLine(w io.Writer, total int64) *progressbar.ProgressBar {
	w = terminal.File(w) // the bar returns the cursor to the start of its line
	theme := progressbar.ThemeASCII
	if terminal.NewStyle(w, os.Getenv).Unicode {
		theme = progressbar.ThemeDefault
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetPredictTime(false), // text shows the times, with labels
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetTheme(theme),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(false),
		progressbar.OptionSetSpinnerChangeInterval(0), // draw turns it; otherwise a goroutine would draw even after clear
	)
}

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

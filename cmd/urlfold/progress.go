package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// progressInterval is how often the bar is drawn: often enough to look alive,
// and too seldom to cost anything.
const progressInterval = 200 * time.Millisecond

// showProgress draws a bar on w until the function that it returns is called,
// which clears it.
func showProgress(w io.Writer, src *file.Source, p *pipeline.Pipeline) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b := bar{w: w, start: time.Now()}
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

// A bar is a progress bar that is made when it is first drawn: a run that is
// over at once shows none.
type bar struct {
	w     io.Writer
	start time.Time
	bar   *progressbar.ProgressBar
	total int64
}

// draw shows files, bytes of input as stored, the rate and the time that is
// left, as far as these can be known.
func (b *bar) draw(p file.Progress, records int64) {
	total := p.Bytes
	if !p.Known {
		total = -1
	}
	if b.bar == nil || total != b.total {
		b.clear()
		b.total = total
		b.bar = newBar(b.w, total)
	}
	b.bar.Describe(b.text(p, records))
	_ = b.bar.Set64(p.BytesDone) // a bar that cannot be drawn is no reason to stop
}

// text is what stands in front of the bar.
func (b *bar) text(p file.Progress, records int64) string {
	text := formatRate(perSecond(records, time.Since(b.start))) + " records/s"
	if p.Files > 1 {
		text = fmt.Sprintf("%d/%d files, %s", p.FilesDone, p.Files, text)
	}
	return text
}

func (b *bar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}

// newBar returns a bar of so many bytes, or a spinner if that is -1.
func newBar(w io.Writer, total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(20),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(false),
	)
}

// formatRate writes a rate with three digits at most: "1.2M", "480k".
func formatRate(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return formatCount(n)
}

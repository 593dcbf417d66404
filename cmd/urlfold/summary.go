package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// An outcome is what a run has come to.
type outcome struct {
	set         *settings
	format      string // that was read
	found       bool   // it was found, not given
	snap        pipeline.Snapshot
	reports     []file.Report
	elapsed     time.Duration
	interrupted bool     // a signal came before all was read or written
	parts       []string // unfinished outputs that are left behind
	err         error    // of the run
}

// damaged returns the reports of the inputs in which something is missing or
// may be wrong.
func (o *outcome) damaged() []file.Report {
	return slices.DeleteFunc(slices.Clone(o.reports), func(r file.Report) bool { return !r.Verdict.Damage() })
}

// exitCode is what the run means for a script.
func (o *outcome) exitCode() int {
	st := &o.snap.Stats
	fail := o.set.failOn
	switch {
	case o.interrupted:
		return exitCut
	case o.err != nil:
		return exitFatal
	case fail >= failDamage && len(o.damaged()) > 0,
		fail >= failRejects && st.Rejected > 0,
		fail >= failFlags && o.notable():
		return exitFailOn
	}
	return exitDone
}

// notable reports whether a URL has a flag other than relative. Most targets in
// access logs are relative: that says nothing about the URL.
func (o *outcome) notable() bool {
	for f, n := range o.snap.Stats.Flags {
		if n > 0 && codec.Flag(f) != codec.Relative {
			return true
		}
	}
	return false
}

// ledger returns the error that records are not accounted for. It cannot happen
// unless there is a bug.
func (o *outcome) ledger() error {
	l := o.snap.Ledger
	if l.Balanced() && o.snap.Stats.Balanced() && (l.InFlight == 0 || o.err != nil || o.interrupted) {
		return nil
	}
	return fmt.Errorf("BUG: %d records were read, %d emitted, %d dropped, %d dead-lettered, %d abandoned, %d are in flight: please report this",
		l.Read, l.Emitted, l.Dropped, l.Dead, l.Abandoned, l.InFlight)
}

// A summary is the text for people at the end of a run: rows of a name, a count
// and a remark.
type summary struct {
	style
	b strings.Builder
}

// The width of names and counts.
const (
	nameColumn  = 24
	countColumn = 14
)

// row writes a line.
func (s *summary) row(name string, n int64, remark string) {
	line := fmt.Sprintf("  %-*s%*s", nameColumn, name, countColumn, formatCount(n))
	if remark != "" {
		line += "  " + s.paint(dim, remark)
	}
	s.b.WriteString(line + "\n")
}

// some writes a line unless n is 0.
func (s *summary) some(name string, n int64, remark string) {
	if n != 0 {
		s.row(name, n, remark)
	}
}

// text returns the whole summary.
func (o *outcome) text(st style) string {
	s := &summary{style: st}
	s.b.WriteString(s.paint(bold, "urlfold: "+o.title()) + "\n")
	stats := &o.snap.Stats
	s.row("records", stats.Records, o.speed())
	s.row("URLs", stats.URLs, "")
	s.some("  changed", stats.Changed, "their normal form differs")
	s.some("  flagged", stats.Flagged, "")
	for _, c := range counts(stats.Flags[:], func(i int) string { return codec.Flag(i).String() }) {
		s.row("    "+c.name, c.n, o.flagRemark(c.name))
	}
	s.some("without URL", stats.NoURL, "")
	s.some("blank lines", stats.Blank, "")
	s.some("rejects", stats.Rejected, o.rejectRemark())
	for _, c := range counts(stats.Rejects[:], func(i int) string { return record.Reason(i).String() }) {
		s.row("  "+c.name, c.n, "")
	}
	s.some("oversize", stats.Oversize, "longer than --max-record, and not read")
	s.some("BUG: panics", stats.Panics, "records that the program failed on: please report this")
	o.writeOutput(s)
	o.writeVerdicts(s)
	s.b.WriteString("  " + s.paint(dim, o.how()) + "\n")
	return s.b.String()
}

// title says how the run ended.
func (o *outcome) title() string {
	switch {
	case o.interrupted:
		return "interrupted"
	case o.err != nil:
		return "failed"
	case len(o.damaged()) > 0:
		return "done, but there is damage in the input"
	case o.exitCode() == exitFailOn:
		return "done, but --fail-on " + o.set.options.failOn + " was met"
	}
	return "done"
}

// speed says how much text was read, and how fast.
func (o *outcome) speed() string {
	var text, stored int64
	packed := false
	for _, r := range o.reports {
		text += r.Bytes
		stored += r.CompressedBytes
		packed = packed || r.Format != compress.Plain
	}
	parts := []string{formatSize(text) + " of text"}
	if packed {
		parts = append(parts, formatSize(stored)+" compressed")
	}
	parts = append(parts, formatDuration(o.elapsed))
	if rate := perSecond(o.snap.Stats.Records, o.elapsed); rate > 0 {
		parts = append(parts, formatCount(rate)+" records/s", formatSize(perSecond(text, o.elapsed))+"/s")
	}
	return strings.Join(parts, ", ")
}

// flagRemark says what can be done about a flag.
func (o *outcome) flagRemark(name string) string {
	if name == codec.Relative.String() && o.set.base == "" {
		return "their host is not known; --base gives them one"
	}
	return ""
}

// rejectRemark says what became of the rejects.
func (o *outcome) rejectRemark() string {
	switch {
	case o.set.rejects != "":
		return "written to " + o.set.rejects
	case o.set.record.Render == record.RenderRewrite:
		return "passed through unchanged"
	case o.set.record.Render == record.RenderJSONL:
		return "written as objects with an error"
	}
	return "left out"
}

// writeOutput tells about an output that is not what was asked for.
func (o *outcome) writeOutput(s *summary) {
	for _, name := range o.parts {
		s.b.WriteString("  " + s.paint(yellow, name+": what was written of the output, which is not whole") + "\n")
	}
}

// writeVerdicts tells what was found out about the inputs, if it is not good.
func (o *outcome) writeVerdicts(s *summary) {
	for _, r := range o.reports {
		color := yellow
		switch {
		case r.Stopped:
			s.b.WriteString("  " + s.paint(color, shownPath(r.Path)+": not read to its end") + "\n")
		case r.Verdict.Kind != compress.OK:
			if r.Verdict.Damage() {
				color = red
			}
			s.b.WriteString("  " + s.paint(color, shownPath(r.Path)+": "+r.Verdict.String()) + "\n")
			s.b.WriteString("    " + verdictRemark(&r) + "\n")
		}
	}
}

// shownPath is the name of an input for people.
func shownPath(path string) string {
	if path == stdinPath {
		return "stdin"
	}
	return path
}

// verdictRemark says what could be read all the same.
func verdictRemark(r *file.Report) string {
	text := plural(recordsOf(r).Records, "complete record", "complete records") + " before that"
	if r.Lost > 0 {
		text += "; " + plural(r.Lost, "byte", "bytes") + " of a cut record left out"
	}
	return text
}

// recordsOf returns the counts of one input.
func recordsOf(r *file.Report) record.Stats {
	if r.Lane == nil {
		return record.Stats{}
	}
	return r.Lane.Stats()
}

// how says what the records were taken for, and what was done with them.
func (o *outcome) how() string {
	format := "format " + o.format
	if strings.ContainsAny(o.format, "$%") {
		format = "format as given"
	}
	if o.found {
		format += " (found)"
	}
	n, lv := o.set.record.Normalizer, o.set.record.Level
	p := n.Profile()
	text := fmt.Sprintf("%s, profile %s (reading %v), keys %s by %v", format, p.Name, p.Reading, n.KeyFunction(lv), o.set.hash)
	if lists := o.lists(); lists != "" {
		text += ", lists " + strings.ReplaceAll(lists, ";", ", ")
	}
	return text
}

// lists names the lists that the keys depend on, with their versions.
func (o *outcome) lists() string {
	if o.set.record.Level < codec.K2 {
		return ""
	}
	return o.set.record.Normalizer.Policy().Versions()
}

// A count is how often something happened.
type count struct {
	name string
	n    int64
}

// counts returns the counts that are not 0, the highest first.
func counts(ns []int64, name func(int) string) []count {
	var out []count
	for i, n := range ns {
		if n != 0 {
			out = append(out, count{name(i), n})
		}
	}
	slices.SortStableFunc(out, func(a, b count) int { return cmp.Compare(b.n, a.n) })
	return out
}

// write writes the summary. A failure has no better place to be told.
func (o *outcome) write(w io.Writer, st style) {
	text := o.text(st)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?") // a path may be any bytes
	}
	_, _ = io.WriteString(w, text)
}

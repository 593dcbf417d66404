package cli

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
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources/file"
)

// An outcome is what a run has come to.
type outcome struct {
	set         *settings
	formats     *formats
	snap        pipeline.Snapshot
	stats       record.Stats // what is in the outputs was made of; see count
	inputs      []string     // paths
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
	st := &o.stats
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
	for f, n := range o.stats.Flags {
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
	return fmt.Errorf("BUG: %d records were read, %d emitted, %d dropped, %d filtered, %d dead-lettered, %d abandoned, %d are in flight: please report this",
		l.Read, l.Emitted, l.Dropped, l.Filtered, l.Dead, l.Abandoned, l.InFlight)
}

// A summary is the text for people at the end of a run: rows of a name, a count
// and a remark, in columns, and lines of text. It is laid out when all of it is
// known, so that the columns hold the longest name.
type summary struct {
	terminal.Style
	lines []summaryLine
}

// A summaryLine is a row, or a text if it has no name.
type summaryLine struct {
	name   string
	n      int64
	remark string
	text   string
}

// The least width of names, and that of counts.
const (
	nameColumn  = 24
	countColumn = 14
)

// row adds a row.
func (s *summary) row(name string, n int64, remark string) {
	s.lines = append(s.lines, summaryLine{name: name, n: n, remark: remark})
}

// text adds a line of text.
func (s *summary) text(line string) { s.lines = append(s.lines, summaryLine{text: line}) }

// String returns all lines.
func (s *summary) String() string {
	width := nameColumn
	for _, l := range s.lines {
		width = max(width, len(l.name))
	}
	var b strings.Builder
	for _, l := range s.lines {
		line := l.text
		if l.name != "" {
			line = fmt.Sprintf("  %-*s%*s", width, l.name, countColumn, terminal.FormatCount(l.n))
		}
		if l.remark != "" {
			line += "  " + s.Paint(terminal.Dim, l.remark)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// some writes a line unless n is 0.
func (s *summary) some(name string, n int64, remark string) {
	if n != 0 {
		s.row(name, n, remark)
	}
}

// text returns the whole summary.
func (o *outcome) text(st terminal.Style) string {
	s := &summary{Style: st}
	s.text(s.Paint(terminal.Bold, "urlfold: "+o.title()))
	stats := &o.stats
	s.row("records", stats.Records, o.speed())
	s.row("URLs", stats.URLs, "")
	s.some("  changed", stats.Changed, "their normal form differs")
	s.some("  flagged", stats.Flagged, "")
	for _, c := range counts(stats.Flags[:], func(i int) string { return codec.Flag(i).String() }) {
		s.row("    "+c.name, c.n, o.flagRemark(c.name))
	}
	s.some("  unwritten", stats.Unwritten, "left as they were: the fields of their record cannot hold the normal form")
	s.some("filtered", stats.Filtered, "dropped by a filter")
	s.some("without URL", stats.NoURL, "")
	s.some("blank lines", stats.Blank, "")
	s.some("rejects", stats.Rejected, o.rejectRemark())
	for _, c := range counts(stats.Rejects[:], func(i int) string { return record.Reason(i).String() }) {
		s.row("  "+c.name, c.n, o.reasonRemark(c.name))
	}
	s.some("oversize", stats.Oversize, "longer than --max-record, and not read")
	s.some("BUG: panics", stats.Panics, "records that the program failed on: please report this")
	o.writeOutput(s)
	o.writeVerdicts(s)
	o.writeMisfits(s)
	s.text("  " + s.Paint(terminal.Dim, o.how()))
	return s.String()
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
	parts := []string{terminal.FormatSize(text) + " of text"}
	if packed {
		parts = append(parts, terminal.FormatSize(stored)+" compressed")
	}
	parts = append(parts, terminal.FormatDuration(o.elapsed))
	if rate := terminal.PerSecond(o.stats.Records, o.elapsed); rate > 0 {
		parts = append(parts, terminal.FormatCount(rate)+" records/s", terminal.FormatSize(terminal.PerSecond(text, o.elapsed))+"/s")
	}
	return strings.Join(parts, ", ")
}

// flagRemark says what can be done about a flag.
func (o *outcome) flagRemark(name string) string {
	if name == codec.Relative.String() {
		return o.baseRemark()
	}
	return ""
}

// reasonRemark says what can be done about a reason to reject records.
func (o *outcome) reasonRemark(name string) string {
	if name == codec.ErrRelative.Name() {
		return o.baseRemark()
	}
	return ""
}

// baseRemark says how relative URLs get a host.
func (o *outcome) baseRemark() string {
	switch {
	case o.set.base != "":
		return ""
	case o.formats.baseHint != "":
		return "their host is not known; --base '" + o.formats.baseHint + "' takes it from each record"
	}
	return "their host is not known; --base gives them one"
}

// rejectRemark says what became of the rejects.
func (o *outcome) rejectRemark() string {
	switch {
	case o.set.rejects != "":
		return "written to " + terminal.OneLine(o.set.rejects)
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
		s.text("  " + s.Paint(terminal.Yellow, terminal.OneLine(name)+": what was written of the output, which is not whole"))
	}
}

// writeVerdicts tells what was found out about the inputs, if it is not good.
func (o *outcome) writeVerdicts(s *summary) {
	for _, r := range o.reports {
		color := terminal.Yellow
		switch {
		case r.Stopped:
			s.text("  " + s.Paint(color, shownPath(r.Path)+": not read to its end"))
		case r.Verdict.Kind != compress.OK:
			if r.Verdict.Damage() {
				color = terminal.Red
			}
			s.text("  " + s.Paint(color, shownPath(r.Path)+": "+terminal.Printable(r.Verdict.String())))
			s.text("    " + verdictRemark(&r))
			if misfit := misfitRemark(&r); misfit != "" {
				s.text("    " + misfit)
			}
		}
		if r.Unsummed && o.set.onDamage == "quarantine" {
			s.text("  " + s.Paint(terminal.Yellow, shownPath(r.Path)+": "+r.Format.String()+" without checksums, its records count as unverified"))
		}
	}
}

// writeMisfits names the inputs of which most records do not fit their format.
func (o *outcome) writeMisfits(s *summary) {
	for i := range o.reports {
		r := &o.reports[i]
		st := recordsOf(r)
		misfits := st.Rejects[record.Unparsed] + st.Rejects[record.NoField]
		if misfits*2 <= st.Records-st.Blank {
			continue
		}
		text := fmt.Sprintf("%s: %s of %s do not fit format %s", shownPath(r.Path), terminal.FormatCount(misfits), terminal.Plural(st.Records, "record", "records"), o.formats.format(r.Path))
		s.text("  " + s.Paint(terminal.Yellow, text))
	}
}

// shownPath is the name of an input for people.
func shownPath(path string) string {
	if path == stdinPath {
		return "stdin"
	}
	return terminal.OneLine(path)
}

// recordsOf returns the counts of one input.
func recordsOf(r *file.Report) record.Stats {
	if r.Lane == nil {
		return record.Stats{}
	}
	if isWithdrawn(r) {
		return r.Lane.VerifiedStats()
	}
	return r.Lane.Stats()
}

// how says what the records were taken for, and what was done with them.
func (o *outcome) how() string {
	n, lv := o.set.record.Normalizer, o.set.record.Level
	p := n.Profile()
	text := fmt.Sprintf("%s, profile %s (standard %v), keys %s by %v", o.formats.describe(), p.Name, p.Standard, n.KeyFunction(lv), o.set.hash)
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
func (o *outcome) write(w io.Writer, st terminal.Style) {
	text := o.text(st)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?") // a path may be any bytes
	}
	_, _ = io.WriteString(w, text)
}

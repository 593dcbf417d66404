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
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// An outcome is the result of a run.
type outcome struct {
	set         *settings
	formats     *formats
	snap        engine.Snapshot
	stats       record.Stats // counts of the records that are in the outputs; see count
	inputs      []string     // paths
	columns     []string     // columns of a table that was written without a header
	reports     []file.Report
	elapsed     time.Duration
	interrupted bool         // a signal came before all was read or written
	parts       []string     // unfinished output files that remain
	err         error        // error of the run
	unique      uniqueFilter // nil without --dedupe
	skipped     []file.Skipped
	plan        map[string]string // of a dry run: the output of each input, if each has its own
	samples     *unique.Samples
	merged      *reportMerged // result of --dedupe
}

// damaged returns the reports of the inputs with missing or possibly wrong
// data.
func (o *outcome) damaged() []file.Report {
	return o.judged(func(v compress.Verdict) bool { return v.Damage() && !v.Unknown() })
}

// judged returns the reports of the inputs for whose verdict is returns true.
func (o *outcome) judged(is func(compress.Verdict) bool) []file.Report {
	return slices.DeleteFunc(slices.Clone(o.reports), func(r file.Report) bool { return !is(r.Verdict) })
}

// exitCode returns the exit code of the run.
func (o *outcome) exitCode() int {
	switch {
	case o.interrupted:
		return command.ExitCut
	case o.err != nil:
		return command.ExitFatal
	case len(o.failures()) > 0:
		return command.ExitFailOn
	}
	return command.ExitDone
}

// failures returns the conditions of --fail-on that were met.
func (o *outcome) failures() (names []string) {
	st := &o.stats
	for _, c := range []struct {
		name string
		met  bool
	}{
		{"damage", len(o.damaged()) > 0}, {"unknown", len(o.judged(compress.Verdict.Unknown)) > 0}, {"rejected", st.Rejected > 0}, {"flags", o.notable()}, {"no-url", o.lackURL() > 0},
		{"no-field", st.Rejects[record.NoField] > 0 || len(o.unmet()) > 0}, {"uninspected", o.uninspected() > 0},
	} {
		if c.met && slices.Contains(o.set.FailOn, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// unmet returns the fields of --where that no record had, although records that name
// their own fields could.
func (o *outcome) unmet() []string {
	if o.formats == nil || !o.formats.any((*record.Job).NamesFields) {
		return nil
	}
	return recordconf.Unmet(&o.set.record, &o.stats)
}

// writeUnmet adds a line for each field of --where that no record had.
func (o *outcome) writeUnmet(s *summary) {
	for _, field := range o.unmet() {
		text := "warning: --where: no record had the field " + field
		if o.formats.any((*record.Job).Maps) {
			text += "; --map " + field + "=NAME reads it from another member or column"
		}
		s.text("  " + s.Paint(terminal.Yellow, text))
	}
}

// uninspected returns the number of records that may show what the run should
// hide, because they were not read.
func (o *outcome) uninspected() int64 {
	if !o.set.hides() {
		return 0
	}
	return o.stats.Uninspected()
}

// notable reports whether a URL has a flag other than relative. Most request
// targets in access logs are relative, so that flag does not point to a defect.
func (o *outcome) notable() bool {
	for f, n := range o.stats.Flags {
		if n > 0 && codec.Flag(f) != codec.FlagRelative {
			return true
		}
	}
	return false
}

// ledger returns an error if the record counts do not add up, which only a bug
// can cause.
func (o *outcome) ledger() error {
	l := o.snap.Ledger
	if l.Balanced() && o.snap.Stats.Balanced() && (l.InFlight == 0 || o.err != nil || o.interrupted) {
		return nil
	}
	return fmt.Errorf("BUG: record counts do not add up: %d read, %d emitted, %d dropped, %d filtered, %d duplicates, %d dead-lettered, %d abandoned, %d in flight: please report this",
		l.Read, l.Emitted, l.Dropped, l.Filtered, l.Duplicates, l.Dead, l.Abandoned, l.InFlight)
}

// A summary is the human-readable report at the end of a run: rows of a name, a
// count and a remark in aligned columns, and lines of text. String computes the
// layout, because the first column is as wide as the longest name.
type summary struct {
	terminal.Style
	lines []summaryLine
}

// A summaryLine is a row, or a line of text if name is empty.
type summaryLine struct {
	name   string
	n      int64
	remark string
	text   string
}

// shownFlags is the number of flags in a summary.
const shownFlags = 5

const (
	nameColumn  = 24 // minimum width of the names
	countColumn = 14 // width of the counts
)

// row adds a row.
func (s *summary) row(name string, n int64, remark string) {
	s.lines = append(s.lines, summaryLine{name: name, n: n, remark: remark})
}

// text adds a line of text.
func (s *summary) text(line string) { s.lines = append(s.lines, summaryLine{text: line}) }

// String returns the laid-out summary.
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
		indent := len(l.text) - len(strings.TrimLeft(l.text, " ")) + 2
		if l.remark != "" {
			indent = 2 + width + countColumn + 2
			line += "  " + s.Paint(terminal.Dim, l.remark)
		}
		b.WriteString(s.Folded(line, indent) + "\n")
	}
	return b.String()
}

// some adds a row unless n is 0.
func (s *summary) some(name string, n int64, remark string) {
	if n != 0 {
		s.row(name, n, remark)
	}
}

// text returns the whole summary.
func (o *outcome) text(st terminal.Style) string {
	s := &summary{Style: st}
	title := o.title()
	if o.set.DryRun {
		title = "dry run, nothing was written: " + title
	}
	s.text(s.Paint(terminal.Bold, "urlfold: "+title))
	stats := &o.stats
	s.row("records", stats.Records, o.speed())
	s.row("URLs", stats.URLs, "")
	s.some("  changed", stats.Changed, "the normal form differs from the input")
	s.some("  flagged", stats.Flagged, "")
	flags := counts(stats.Flags[:], flagName)
	for _, c := range flags[:min(len(flags), shownFlags)] {
		s.row("    "+c.name, c.n, o.baseRemark(c.name == codec.FlagRelative.String()))
	}
	if more := len(flags) - shownFlags; more > 0 {
		s.text(fmt.Sprintf("    %d more; \"urlfold top --by flag\" counts them all", more))
	}
	s.some("  without key", stats.Flags[codec.FlagMaybeTruncated], "the log may have cut their end")
	s.some("  unwritten", stats.Unwritten, "left unchanged: the record's fields cannot hold the normal form")
	s.some("skipped", stats.Skipped, "links that are empty or lead to a fragment, javascript:, data:, mailto: and similar")
	s.some("filtered", stats.Filtered, "left out by --where")
	s.some(o.duplicateName(), stats.Duplicates, o.duplicateRemark())
	s.some("marked duplicates", o.marked(), o.duplicateRemark())
	for i, c := range o.mergingRules() {
		remark := ""
		if i == 0 {
			remark = "URLs that this rule changed for the key; \"urlfold collisions\" shows what it merged"
		}
		s.row("  "+c.name, c.n, remark)
	}
	o.writeMerged(s)
	s.some("without URL", stats.NoURL, "")
	s.some("without scheme", stats.Bare, "use --scheme https to add it")
	s.some("blank lines", stats.Blank, "")
	s.some("holes", stats.Hole, "bytes of NULs in front of lines, left by copytruncate: no records, copied as they are")
	s.some("rejects", stats.Rejected, o.rejectRemark())
	for _, c := range counts(stats.Rejects[:], reasonName) {
		s.row("  "+c.name, c.n, o.baseRemark(c.name == codec.ErrRelative.Name()))
	}
	s.some("uninspected", o.uninspected(), "not read: only text that looks like a secret or password is hidden")
	s.some("oversize", stats.Oversize, "longer than --max-record, not parsed")
	s.some("BUG: panics", stats.Panics, "urlfold crashed on these records: please report this")
	if o.set.resumed != nil {
		s.some("finished before", int64(len(o.set.resumed.finished)), "outputs of earlier runs, from the same inputs and settings")
	}
	o.writePlan(s)
	for _, name := range o.parts {
		s.text("  " + s.Paint(terminal.Yellow, terminal.OneLine(name)+": incomplete output"))
	}
	o.writePart(s)
	o.writeSkipped(s)
	for _, line := range o.set.renamed {
		s.text("  " + line)
	}
	o.writeVerdicts(s)
	o.writeMisfits(s)
	o.writeNoURL(s)
	if notice := o.formats.notice(); notice != "" && stats.Changed > 0 {
		s.text("  " + s.Paint(terminal.Yellow, notice))
	}
	o.writeUnmet(s)
	s.text("  " + s.Paint(terminal.Dim, o.how()))
	return s.String()
}

// title returns the first line of the summary: how the run ended.
func (o *outcome) title() string {
	switch {
	case o.interrupted:
		return "interrupted"
	case o.err != nil:
		return "failed"
	case slices.ContainsFunc(o.damaged(), func(r file.Report) bool { return r.Verdict.Kind != compress.Unreadable }):
		return "done, but the input is damaged"
	case len(o.judged(compress.Verdict.Damage)) > 0:
		return "done, but not all of the input can be read"
	case o.exitCode() == command.ExitFailOn:
		return "done, but --fail-on " + strings.Join(o.failures(), ",") + " matched"
	}
	return "done"
}

// speed returns how much text the run read, and how fast.
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

// baseRemark returns advice on how to give relative URLs a host, or "" if a count is not
// about them or --base is set.
func (o *outcome) baseRemark(relative bool) string {
	switch {
	case !relative || o.set.Base != "":
		return ""
	case o.formats.baseHint != "":
		return "host unknown; use --base '" + o.formats.baseHint + "' to take it from each record"
	}
	return "host unknown; use --base to set it"
}

// rejectRemark says where the rejected records are, and how to see them if the output
// does not show them.
func (o *outcome) rejectRemark() string {
	switch {
	case o.set.Rejects != "":
		return "written to " + terminal.OneLine(o.set.Rejects)
	case o.set.record.Render == record.RenderRewrite:
		return "passed through unchanged; use --dead-letter to see them"
	case o.set.record.Render.HasColumns() && (len(o.set.Fields) == 0 || slices.Contains(o.set.Fields, "error")):
		return "written as rows with an error"
	case o.set.record.Render == record.RenderJSONL:
		return "written as objects with an \"error\" member"
	}
	return "omitted; use --dead-letter to see them"
}

// writePlan adds a line for each output that a real run would write.
func (o *outcome) writePlan(s *summary) {
	line := func(path string, st record.Stats) {
		s.text(fmt.Sprintf("  would write %s: %s, %s of %s changed", terminal.OneLine(path), terminal.Plural(st.Emitted, "record", "records"),
			terminal.FormatCount(st.Changed), terminal.Plural(st.URLs, "URL", "URLs")))
	}
	switch {
	case !o.set.DryRun:
	case o.plan == nil:
		line(cmp.Or(o.set.Output, "stdout"), o.stats)
	default:
		for i := range o.reports {
			if r := &o.reports[i]; !r.Verdict.Refused() && (!o.set.InPlace || !r.Verdict.Damage()) {
				line(o.plan[r.Path], recordsOf(r))
			}
		}
	}
}

// writePart adds a line if not all records were read or taken.
func (o *outcome) writePart(s *summary) {
	if text := o.partText(); text != "" {
		s.text("  " + s.Paint(terminal.Yellow, text))
	}
}

// partText says why not all records were read or taken, or returns "".
func (o *outcome) partText() string {
	limited := slices.IndexFunc(o.reports, func(r file.Report) bool { return r.Limited })
	var parts []string
	if limited >= 0 {
		parts = append(parts, fmt.Sprintf("--limit %d ended the reading in %s; what follows was not checked for damage", o.set.Limit, shownPath(o.reports[limited].Path)))
	}
	if o.set.Sample != "" {
		parts = append(parts, "--sample "+o.set.Sample+" took only some of the records")
	}
	return strings.Join(parts, "; ")
}

// writeSkipped adds a line for each file that was left out.
func (o *outcome) writeSkipped(s *summary) {
	for _, f := range o.skipped {
		s.text("  " + s.Paint(terminal.Yellow, shownPath(f.Path)+": skipped: "+terminal.Printable(f.Why)))
	}
}

// writeVerdicts adds lines for the inputs that are damaged, unread or without
// checksums.
func (o *outcome) writeVerdicts(s *summary) {
	for _, r := range o.reports {
		color := terminal.Yellow
		switch {
		case r.Stopped:
			s.text("  " + s.Paint(color, shownPath(r.Path)+": not read to the end"))
		case r.Verdict.Kind != compress.OK:
			if r.Verdict.Damage() {
				color = terminal.Red
			}
			s.text("  " + s.Paint(color, shownPath(r.Path)+": "+terminal.Printable(r.Verdict.String())))
			s.text("    " + verdictRemark(&r, o.set.sample != nil))
			if o.set.InPlace && r.Verdict.Damage() {
				s.text("    the file is kept, because it is damaged")
			}
			if misfit := misfitRemark(&r); misfit != "" {
				s.text("    " + misfit)
			}
		}
		if r.Unsummed && o.set.OnDamage == "quarantine" {
			s.text("  " + s.Paint(terminal.Yellow, shownPath(r.Path)+": "+r.Format.String()+" without checksums; its records count as unverified"))
		}
	}
}

// writeMisfits adds a line for each input in which most records do not match
// the record format.
func (o *outcome) writeMisfits(s *summary) {
	for i := range o.reports {
		r := &o.reports[i]
		st := recordsOf(r)
		misfits := st.Rejects[record.Unparsed] + st.Rejects[record.NoField] + st.Rejects[record.ColumnCount]
		if misfits*2 <= st.Records-st.Blank {
			continue
		}
		text := fmt.Sprintf("%s: records that do not match the format %s: %s of %s", shownPath(r.Path), o.formats.format(r.Path), terminal.FormatCount(misfits), terminal.FormatCount(st.Records))
		s.text("  " + s.Paint(terminal.Yellow, text))
	}
}

// shownPath returns the name of an input for messages.
func shownPath(path string) string {
	if path == stdinPath {
		return "stdin"
	}
	return terminal.OneLine(path)
}

// recordsOf returns the record counts of one input, without records that were
// withdrawn from the output.
func recordsOf(r *file.Report) record.Stats {
	if r.Lane == nil {
		return record.Stats{}
	}
	if isWithdrawn(r) {
		return r.Lane.VerifiedStats()
	}
	return r.Lane.Stats()
}

// how returns the last line of the summary: format, profile, standard, key
// function and list versions.
func (o *outcome) how() string {
	n, lv := o.set.record.Normalizer, o.set.record.Level
	p := n.Profile()
	format := o.formats.describe()
	if o.stats.Records == 0 && len(o.formats.names()) == 0 {
		format = "format not detected"
	}
	text := fmt.Sprintf("%s, profile %s (standard %v), keys %s by %v", format, p.Name, p.Standard, n.KeyFunction(lv), o.set.Hash)
	if s := o.set.share; s.of > 0 {
		text += fmt.Sprintf(", shard %v by %s", s, s.by)
	}
	if lists := o.lists(); lists != "" {
		text += ", lists " + strings.ReplaceAll(lists, ";", ", ")
	}
	return text
}

// lists returns the names and versions of the lists that the keys depend on, or
// "" if their level is below fetch.
func (o *outcome) lists() string {
	return o.set.record.Normalizer.PolicyVersions(o.set.record.Level)
}

// A count is a number of occurrences with a name.
type count struct {
	name string
	n    int64
}

// counts returns the nonzero counts, the highest first.
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

func flagName(i int) string   { return codec.Flag(i).String() }
func ruleName(i int) string   { return codec.Rule(i).String() }
func reasonName(i int) string { return record.Reason(i).String() }

// write writes the summary. It ignores write errors, since w is stderr.
func (o *outcome) write(w io.Writer, st terminal.Style) {
	text := o.text(st)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?") // paths can contain arbitrary bytes
	}
	_, _ = io.WriteString(w, text)
}

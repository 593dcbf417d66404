package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/sources/file"
)

// This file handles and reports the records of damaged archives that no
// checksum verifies.

// withdraws reports whether records that were written can be removed from the
// end of the outputs again: each output must be a regular file with the records
// of a single input.
func (s *settings) withdraws(inputs []string) bool {
	switch {
	case s.Unique != "": // later records may have been dropped as duplicates of the withdrawn records
		return false
	case s.writesTables(), s.divided(): // the index at the end, or several outputs, cannot be cut back
		return false
	case s.DryRun, s.unordered() || len(inputs) > 1 && (!s.perInput() || s.Rejects != ""):
		return false
	case s.perInput() && objects.Is(s.OutputDir):
		return false
	case s.perInput():
		return isFileToBe(s.Rejects)
	}
	return s.Output != "" && s.Output != stdoutPath && isFileToBe(s.Output) && isFileToBe(s.Rejects)
}

// isFileToBe reports whether an output called name is or will be a regular
// file. It returns true for "", which means no output.
func isFileToBe(name string) bool {
	fi, err := os.Stat(name)
	return name == "" || err != nil && !objects.Is(name) || err == nil && fi.Mode().IsRegular()
}

// refusePipes returns an error if --on-damage or --dedupe needs to read the inputs
// twice and one is not a regular file.
func (s *settings) refusePipes(inputs []string) error {
	why := "--on-damage: " + s.OnDamage
	switch {
	case s.readsFiles():
	case s.twice():
		why = "--dedupe: " + s.Unique
	default:
		return nil
	}
	for _, name := range inputs {
		if fi, err := os.Stat(name); (err != nil || !fi.Mode().IsRegular()) && !objects.Is(name) {
			return fmt.Errorf("%s reads each input twice, and %s is not a regular file", why, name)
		}
	}
	return nil
}

// count sets o.stats. If the run finished, records that were withdrawn from an
// output do not count as read.
func (o *outcome) count() {
	o.stats = o.snap.Stats
	if o.err != nil || o.interrupted {
		return
	}
	withdrawn := false
	var all record.Stats
	for i := range o.reports {
		r := &o.reports[i]
		withdrawn = withdrawn || isWithdrawn(r)
		st := recordsOf(r)
		all.Add(&st)
	}
	if withdrawn {
		o.stats = all
	}
}

// isWithdrawn reports whether records of an input were written and then removed
// from the output.
func isWithdrawn(r *file.Report) bool { return r.Lane != nil && r.Lane.Withdrawn() != nil }

// verifiedOf returns the numbers of verified and unverified records of an
// input.
func verifiedOf(r *file.Report) (verified, unverified int64) {
	if r.Lane == nil {
		return 0, 0
	}
	all := r.Lane.Stats().Records
	switch {
	case r.Lane.Skipped():
		return r.Verified.Lines, r.Unverified.Lines
	case !r.Verdict.Damage() && !r.Unsummed && r.Format != compress.Plain:
		return all, 0
	}
	verified = r.Lane.VerifiedStats().Records
	if r.Withheld {
		return verified, r.Unverified.Lines
	}
	return verified, all - verified
}

// verdictRemark describes which records of a damaged input are verified and
// what happened to the others. For a sample, it names the range of lines from
// which the records were taken.
func verdictRemark(r *file.Report, sampled bool) string {
	if r.Format == compress.Plain || !r.Verdict.Damage() {
		text := terminal.Plural(recordsOf(r).Records, "record", "records") + " read"
		return text + lostRemark(r)
	}
	if sampled {
		text := terminal.Plural(recordsOf(r).Records, "record", "records") + ", a sample of lines 1 to " + terminal.FormatCount(r.Verified.Lines+r.Unverified.Lines)
		if r.Verified.Lines == 0 {
			return text + "; none of them is verified"
		}
		return text + "; verified" + linesRemark(1, r.Verified.Lines)
	}
	verified, unverified := verifiedOf(r)
	text := "no verified records"
	if verified > 0 {
		text = terminal.Plural(verified, "verified record", "verified records") + linesRemark(1, r.Verified.Lines)
	}
	if unverified > 0 {
		text += "; " + terminal.Plural(unverified, "unverified record", "unverified records") +
			linesRemark(r.Verified.Lines+1, r.Verified.Lines+r.Unverified.Lines)
	}
	if unverified > 0 || r.Lane.Skipped() {
		text += dispositionOf(r)
	}
	return text + lostRemark(r)
}

// linesRemark formats a range of lines, or returns "" if it is empty.
func linesRemark(first, last int64) string {
	switch {
	case last < first:
		return ""
	case last == first:
		return " (line " + terminal.FormatCount(first) + ")"
	}
	return " (lines " + terminal.FormatCount(first) + " to " + terminal.FormatCount(last) + ")"
}

// dispositionOf describes what happened to the unverified records of an input.
func dispositionOf(r *file.Report) string {
	switch files := r.Lane.UnverifiedFiles(); {
	case !r.Withheld:
		return ", included in the output (use --on-damage quarantine to keep them out)"
	case len(files) > 0:
		return ", written unchanged to " + strings.Join(files, ", ")
	case r.Lane.Skipped():
		return ", and the whole file is omitted from the output"
	}
	return ", omitted from the output"
}

// lostRemark reports the size of a record that was truncated by damage, or "".
func lostRemark(r *file.Report) string {
	if r.Lost == 0 || r.Withheld {
		return ""
	}
	return "; " + terminal.Plural(r.Lost, "byte", "bytes") + " of a truncated record omitted"
}

// misfitRemark names the line of the first record that looks damaged, or
// returns "".
func misfitRemark(r *file.Report) string {
	if r.Misfit == 0 {
		return ""
	}
	return "the first record that does not match the format is probably on line " + terminal.FormatCount(r.Misfit)
}

package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/sources/file"
)

// This file is what the one-shot does and says about records of damaged archives
// that no checksum verifies.

// withdraws reports whether what was written of an input can be cut off its outputs
// again: they are files, and of that input alone.
func (s *settings) withdraws(inputs []string) bool {
	switch {
	case s.unordered || len(inputs) > 1 && (s.outputDir == "" || s.rejects != ""):
		return false
	case s.outputDir != "":
		return isFileToBe(s.rejects)
	}
	return s.output != "" && s.output != stdoutPath && isFileToBe(s.output) && isFileToBe(s.rejects)
}

// isFileToBe reports whether an output of that name is a regular file, or becomes
// one; no name is no output.
func isFileToBe(name string) bool {
	fi, err := os.Stat(name)
	return name == "" || err != nil || fi.Mode().IsRegular()
}

// refusePipes refuses inputs that cannot be read twice if that is needed.
func (s *settings) refusePipes(inputs []string) error {
	if !s.readsFiles() {
		return nil
	}
	for _, name := range inputs {
		if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() {
			return fmt.Errorf("--on-damage %s reads inputs twice, and %s is no regular file", s.onDamage, name)
		}
	}
	return nil
}

// count finds out what the run did with records: of those that were withdrawn from an
// output it is as if they had not been read.
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

// isWithdrawn reports whether records of an input were written and cut off again.
func isWithdrawn(r *file.Report) bool { return r.Lane != nil && r.Lane.Withdrawn() != nil }

// verifiedOf returns how many records of an input are verified, and how many are not.
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

// verdictRemark says which records of a damaged input are verified, and what became
// of the others.
func verdictRemark(r *file.Report) string {
	if r.Format == compress.Plain || !r.Verdict.Damage() {
		text := terminal.Plural(recordsOf(r).Records, "complete record", "complete records") + " read"
		return text + lostRemark(r)
	}
	verified, unverified := verifiedOf(r)
	text := "no record is verified"
	if verified > 0 {
		text = terminal.Plural(verified, "record is", "records are") + " verified" + linesRemark(1, r.Verified.Lines)
	}
	if unverified > 0 {
		text += fmt.Sprintf("; %s not%s%s", terminal.Plural(unverified, "record is", "records are"),
			linesRemark(r.Verified.Lines+1, r.Verified.Lines+r.Unverified.Lines), dispositionOf(r))
	}
	return text + lostRemark(r)
}

// linesRemark names a range of lines.
func linesRemark(first, last int64) string {
	switch {
	case last < first:
		return ""
	case last == first:
		return " (line " + terminal.FormatCount(first) + ")"
	}
	return " (lines " + terminal.FormatCount(first) + " to " + terminal.FormatCount(last) + ")"
}

// dispositionOf says where the records of an input are that are not verified.
func dispositionOf(r *file.Report) string {
	switch files := r.Lane.UnverifiedFiles(); {
	case !r.Withheld:
		return ", and in the output all the same (--on-damage quarantine keeps them out)"
	case len(files) > 0:
		return ", and kept as they were read in " + strings.Join(files, ", ")
	case r.Lane.Skipped():
		return ", and nothing of the file is in the output"
	}
	return ", and left out"
}

// lostRemark tells of a record that was cut by damage.
func lostRemark(r *file.Report) string {
	if r.Lost == 0 || r.Withheld {
		return ""
	}
	return "; " + terminal.Plural(r.Lost, "byte", "bytes") + " of a cut record left out"
}

// misfitRemark names the first record that looks damaged, if one does.
func misfitRemark(r *file.Report) string {
	if r.Misfit == 0 {
		return ""
	}
	return "the first that does not fit its format is in line " + terminal.FormatCount(r.Misfit) + ", as far as that can be seen"
}

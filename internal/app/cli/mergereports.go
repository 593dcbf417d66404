package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/sources/file"
)

// This file implements report --merge, which turns the summaries of all shards
// into the summary of one run over the whole input.

// merge writes the merged summary of the shards in the files.
func (o *reportOptions) merge(cmd *cobra.Command, names []string) error {
	var bad command.Mistakes
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"merge", "output", "force"}, f.Name) {
			bad.Addf("--"+f.Name, "cannot be combined with --merge")
		}
	})
	if len(names) == 0 {
		bad.Addf("--merge", "missing argument: SUMMARY")
	}
	toFile := o.Out != "" && o.Out != stdoutPath
	if toFile {
		set := settings{options: &o.options, paths: names}
		set.Force = o.Replace
		bad.Add("--output", set.checkFile("--output", o.Out))
	}
	if err := bad.Err(); err != nil {
		return err
	}
	merged, err := mergeReportFiles(names)
	if err != nil {
		return command.Usage(err)
	}
	text, err := merged.text()
	switch {
	case err != nil:
	case toFile:
		err = writeFile(o.Out, text, names)
	default:
		_, err = cmd.OutOrStdout().Write(text)
	}
	return command.Wrote(err)
}

// mergeReportFiles returns the merged report of the shards in the files.
func mergeReportFiles(names []string) (*report, error) {
	var shards []*report
	var errs []error
	for _, name := range names {
		r, err := readReport(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", shownPath(name), err))
			continue
		}
		shards = append(shards, r)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(shards, func(a, b *report) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	if err := checkShards(shards); err != nil {
		return nil, err
	}
	m := &report{Version: shards[0].Version, Settings: mergeSettings(shards), Files: []reportFile{}}
	merge := (*report).addInputs
	if shards[0].Shard.By != byPath {
		merge = (*report).addRecords
	}
	m.Totals.reportCounts = countsOf(&noRecords)
	for _, s := range shards {
		m.ExitCode, m.Seconds = worseExit(m.ExitCode, s.ExitCode), max(m.Seconds, s.Seconds)
		m.Totals.reportCounts.add(&s.Totals.reportCounts)
		m.Totals.Abandoned += s.Totals.Abandoned
		m.Merged = m.Merged.add(s.Merged)
		m.Skipped = append(m.Skipped, s.Skipped...)
		if err := merge(m, s); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(m.Files, func(a, b reportFile) int { return cmp.Compare(*a.Position, *b.Position) })
	for i := range m.Files {
		m.Files[i].Position = nil
		m.Totals.addFile(&m.Files[i])
	}
	return m, nil
}

// readReport reads the report of a shard.
func readReport(name string) (*report, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		if path := new(fs.PathError); errors.As(err, &path) {
			err = path.Err // the caller adds the name
		}
		return nil, err
	}
	var r report
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, errors.New("not a summary (--summary FILE) of this version of urlfold")
	}
	if r.Shard == nil {
		return nil, errors.New("not the summary of a run with --shard")
	}
	if r.Shard.Of < 1 || r.Shard.Of > file.MaxShards || r.Shard.Index < 0 || r.Shard.Index >= r.Shard.Of {
		return nil, fmt.Errorf("invalid shard %d/%d", r.Shard.Index, r.Shard.Of)
	}
	return &r, nil
}

// checkShards returns an error unless shards, which are sorted by index, are
// all the shards of one run.
func checkShards(shards []*report) error {
	first := shards[0]
	var errs []error
	count := make(map[int]int, len(shards))
	for _, s := range shards {
		count[s.Shard.Index]++
		if of, by := first.Shard.Of, first.Shard.By; s.Shard.Of != of || s.Shard.By != by {
			return fmt.Errorf("the summaries belong to different runs: shard %d/%d by %s, and shard %d/%d by %s",
				first.Shard.Index, of, by, s.Shard.Index, s.Shard.Of, s.Shard.By)
		}
		a, b := first.Settings, s.Settings
		a.Format, a.FormatFound, b.Format, b.FormatFound = "", false, "", false
		switch {
		case s.Version != first.Version:
			errs = append(errs, fmt.Errorf("shard %d was written by urlfold %s, and shard %d by urlfold %s", s.Shard.Index, s.Version, first.Shard.Index, first.Version))
		case a != b:
			errs = append(errs, fmt.Errorf("shards %d and %d have different settings: run both with the same options", s.Shard.Index, first.Shard.Index))
		}
	}
	for i := range first.Shard.Of {
		switch n := count[i]; {
		case n == 0:
			errs = append(errs, fmt.Errorf("missing summary of shard %d/%d", i, first.Shard.Of))
		case n > 1:
			errs = append(errs, fmt.Errorf("%d summaries of shard %d/%d", n, i, first.Shard.Of))
		}
	}
	if n := len(errs); n > maxFormatErrors {
		errs = append(errs[:maxFormatErrors], fmt.Errorf("and %d more errors", n-maxFormatErrors))
	}
	return errors.Join(errs...)
}

// mergeSettings returns the settings of the whole run. Only the format can
// differ between shards, if it was detected.
func mergeSettings(shards []*report) reportSettings {
	s := shards[0].Settings
	formats := map[string]bool{}
	for _, r := range shards {
		s.FormatFound = s.FormatFound || r.Settings.FormatFound
		for i := range r.Files {
			if f := r.Files[i].Format; f != "" {
				formats[f] = true
			}
		}
	}
	if len(formats) > 1 {
		s.Format = "mixed"
	}
	for f := range formats {
		if len(formats) == 1 {
			s.Format = f
		}
	}
	return s
}

// worseExit returns the exit code of a run that consists of runs with the codes
// a and b.
func worseExit(a, b int) int {
	for _, code := range []int{command.ExitCut, command.ExitFatal, command.ExitUsage, command.ExitFailOn} {
		if a == code || b == code {
			return code
		}
	}
	return command.ExitDone
}

// addInputs adds the files of s, a shard that has read whole inputs.
func (r *report) addInputs(s *report) error {
	for _, f := range s.Files {
		if f.Position == nil {
			return fmt.Errorf("shard %d: a file has no position", s.Shard.Index)
		}
		if slices.ContainsFunc(r.Files, func(g reportFile) bool { return *g.Position == *f.Position }) {
			return fmt.Errorf("shard %d: %s was read by two shards: they started with different inputs", s.Shard.Index, shownPath(f.Path))
		}
		r.Files = append(r.Files, f)
	}
	return nil
}

// addRecords adds the files of s, a shard that has read a part of the records
// of each input.
func (r *report) addRecords(s *report) error {
	if s.Shard.Index == 0 {
		r.Files = s.Files
		for i := range r.Files {
			r.Files[i].Position = &i
		}
		return nil
	}
	if len(s.Files) != len(r.Files) {
		return fmt.Errorf("shard %d has read %d inputs, but shard 0 has read %d", s.Shard.Index, len(s.Files), len(r.Files))
	}
	for i := range s.Files {
		if err := r.Files[i].add(&s.Files[i]); err != nil {
			return fmt.Errorf("shard %d: %w", s.Shard.Index, err)
		}
	}
	return nil
}

// add adds the records of g, another shard of the same file.
func (f *reportFile) add(g *reportFile) error {
	switch {
	case f.Path != g.Path:
		return fmt.Errorf("has read %s instead of %s, which shard 0 has read", shownPath(g.Path), shownPath(f.Path))
	case f.Bytes != g.Bytes && !f.Stopped && !g.Stopped:
		return fmt.Errorf("%s had %d bytes of text, but %d bytes for shard 0", shownPath(f.Path), g.Bytes, f.Bytes)
	}
	f.reportCounts.add(&g.reportCounts)
	f.Bytes, f.CompressedBytes = max(f.Bytes, g.Bytes), max(f.CompressedBytes, g.CompressedBytes)
	f.LostBytes, f.Stopped = max(f.LostBytes, g.LostBytes), f.Stopped || g.Stopped
	if f.Verified != nil && g.Verified != nil {
		f.Verified.Records += g.Verified.Records
	}
	switch {
	case f.Unverified == nil:
		f.Unverified = g.Unverified
	case g.Unverified != nil:
		f.Unverified.Records += g.Unverified.Records
		f.Unverified.Files = append(f.Unverified.Files, g.Unverified.Files...)
	}
	return nil
}

// add adds o to c.
func (c *reportCounts) add(o *reportCounts) {
	from := reflect.ValueOf(o).Elem()
	for f, to := range reflect.ValueOf(c).Elem().Fields() {
		if to.CanInt() {
			to.SetInt(to.Int() + from.FieldByIndex(f.Index).Int())
		}
	}
	addMap(&c.Flags, o.Flags)
	addMap(&c.Rules, o.Rules)
	addMap(&c.Rejects, o.Rejects)
}

// addMap adds the counts in from to those in to.
func addMap(to *map[string]int64, from map[string]int64) {
	if *to == nil {
		*to = map[string]int64{}
	}
	for name, n := range from {
		(*to)[name] += n
	}
}

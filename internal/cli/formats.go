package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/sources/file"
)

// formats knows the record format of each input, and has a job for each format.
// After findFormats it does not change and may be shared.
type formats struct {
	config   record.Config // without a format
	given    string        // --format; empty: detected
	jobs     map[string]*record.Job
	byPath   map[string]string // format of an input; inputs without text have none
	fallback *record.Job       // of inputs that had no text when they were looked at
	baseHint string            // a --base that takes the host from a field of the records
}

// peekBytes is how much of an input is looked at to find its format: fifty
// records, unless they are long.
const peekBytes = 64 << 10

// maxFormatErrors is how many inputs are named whose format is a mistake.
const maxFormatErrors = 10

// findFormats looks into each input of source for its format, unless --format
// gives it, and checks that the flags fit it. The error names each input that
// cannot be read that way.
func findFormats(ctx context.Context, set *settings, source *file.Source) (*formats, error) {
	f := &formats{config: set.record, given: set.record.Format, jobs: map[string]*record.Job{}, byPath: map[string]string{}}
	if f.given != "" {
		if _, err := f.add(f.given); err != nil {
			return nil, usage(flagNames(err))
		}
	}
	defer f.fallBack()
	if !f.mustLook() {
		return f, nil
	}
	var errs []error
	err := source.Inspect(ctx, peekBytes, func(path string, head []byte, v compress.Verdict) {
		if err := f.inspect(path, head, v); err != nil {
			errs = append(errs, err)
		}
	})
	if err != nil {
		return nil, &exitError{code: exitCut, err: errors.New("interrupted while waiting for input")}
	}
	if n := len(errs); n > maxFormatErrors {
		errs = append(errs[:maxFormatErrors], fmt.Errorf("and %s more", terminal.Plural(int64(n-maxFormatErrors), "input", "inputs")))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, usage(err)
	}
	return f, nil
}

// mustLook reports whether the beginnings of the inputs can tell anything: their
// format, the columns of a header, the field of the host.
func (f *formats) mustLook() bool {
	return slices.Contains([]string{"", "csv", "tsv", "jsonl"}, f.given)
}

// inspect finds the format of one input. The error names the input, and damage in
// it before anything else, because damage may be why no format fits.
func (f *formats) inspect(path string, head []byte, v compress.Verdict) error {
	if len(head) == 0 {
		return nil // an empty input is of any format
	}
	name := shownPath(path)
	if v.Damage() {
		name += ": " + v.String()
	}
	format := f.given
	if format == "" {
		guess, ok := record.Detect(head, f.config.Formats...)
		if !ok {
			return fmt.Errorf("%s: %w", name, noFormat(head, f.config.Formats))
		}
		format = guess.Format
	}
	f.byPath[path] = format
	job, err := f.add(format)
	if err != nil {
		return prefixLines(fmt.Sprintf("%s: the records look like %s", name, format), explainJSON(flagNames(err), format, head))
	}
	if format == "jsonl" && f.baseHint == "" {
		f.baseHint = jsonBase(head)
	}
	return prefixLines(name, flagNames(job.CheckHead(head[:job.Framing().Head(head)])))
}

// add returns the job of a format.
func (f *formats) add(format string) (*record.Job, error) {
	if job := f.jobs[format]; job != nil {
		return job, nil
	}
	c := f.config
	c.Format = format
	job, err := record.New(c)
	if err == nil {
		f.jobs[format] = job
	}
	return job, err
}

// with returns the same formats for other settings.
func (f *formats) with(c record.Config) (*formats, error) {
	g := &formats{config: c, given: f.given, jobs: map[string]*record.Job{}, byPath: f.byPath, baseHint: f.baseHint}
	for format := range f.jobs {
		if _, err := g.add(format); err != nil {
			return nil, usage(flagNames(err))
		}
	}
	g.fallBack()
	return g, nil
}

// fallBack chooses the job of inputs whose format is not known: --format, else
// the most frequent format, else lines.
func (f *formats) fallBack() {
	if f.fallback = f.jobs[f.name()]; f.fallback != nil {
		return
	}
	if names := f.names(); len(names) > 0 {
		f.fallback = f.jobs[names[0].name]
	}
	if f.fallback == nil {
		// A normalizer is all that the plainest job needs.
		f.fallback, _ = record.New(record.Config{Format: "lines", Render: f.config.Render, Normalizer: f.config.Normalizer})
	}
}

// job returns the job of the input at path.
func (f *formats) job(path string) *record.Job {
	if job := f.jobs[f.format(path)]; job != nil {
		return job
	}
	return f.fallback
}

// framing returns the framing of the input at path.
func (f *formats) framing(path string) file.Framing { return f.job(path).Framing() }

// apart reports whether an input has records that say how long they are, and is
// rewritten.
func (f *formats) apart() bool {
	for _, job := range f.jobs {
		if job.Apart() {
			return true
		}
	}
	return false
}

// found reports whether formats were detected.
func (f *formats) found() bool { return f.given == "" && len(f.byPath) > 0 }

// format returns the format of the input at path, as reports have it.
func (f *formats) format(path string) string {
	if f.given != "" {
		return f.given
	}
	return f.byPath[path]
}

// name returns the one format of all inputs, "mixed" if they differ, and "lines"
// if none has any text.
func (f *formats) name() string {
	switch names := f.names(); len(names) {
	case 0:
		return "lines"
	case 1:
		return names[0].name
	}
	return "mixed"
}

// names returns the formats with the number of inputs of each, the most frequent
// first.
func (f *formats) names() []count {
	if f.given != "" {
		return []count{{f.given, int64(len(f.byPath))}}
	}
	all := slices.Sorted(func(yield func(string) bool) {
		for _, format := range f.byPath {
			if !yield(format) {
				return
			}
		}
	})
	unique := slices.Compact(slices.Clone(all))
	ns := make([]int64, len(unique))
	for _, format := range all {
		ns[slices.Index(unique, format)]++
	}
	return counts(ns, func(i int) string { return unique[i] })
}

// describe returns what the summary says about formats.
func (f *formats) describe() string {
	names := f.names()
	switch {
	case strings.ContainsAny(f.given, "$%"):
		return "format as given"
	case len(names) > 1:
		var parts []string
		for _, c := range names {
			parts = append(parts, fmt.Sprintf("%s (%s)", c.name, terminal.Plural(c.n, "input", "inputs")))
		}
		return "formats " + strings.Join(parts, ", ")
	case f.found():
		return "format " + f.name() + " (found)"
	}
	return "format " + f.name()
}

// recordFlags are the flags that set the fields of a record.Config and of a
// recordconf.Normalizer.
var recordFlags = map[string]string{
	"Profile": "--profile", "Standard": "--standard", "Hash": "--hash", "HMACKey": "--hmac-key-file", "QueryEncoding": "--query-encoding",
	"Format": "--format", "Dialect": "--dialect", "Target": "--target", "URLField": "--url-field", "BaseField": "--base-field",
	"Base": "--base", "Level": "--key", "KeyForm": "--key-format", "Repairs": "--repair", "Render": "--render", "Fields": "--fields", "Extend": "--extend",
}

// flagNames puts the flag in front of each error that is about one.
func flagNames(err error) error {
	var lines []error
	for _, e := range errlist.Flatten(err) {
		var c *record.ConfigError
		if errors.As(e, &c) {
			field, _, _ := strings.Cut(c.Field, "[")
			if flag := recordFlags[field]; flag != "" {
				e = fmt.Errorf("%s: %w", flag, e)
			}
		}
		lines = append(lines, e)
	}
	return errors.Join(lines...)
}

// prefixLines puts prefix in front of each error that err joins.
func prefixLines(prefix string, err error) error {
	var lines []error
	for _, e := range errlist.Flatten(err) {
		lines = append(lines, fmt.Errorf("%s: %w", prefix, e))
	}
	return errors.Join(lines...)
}

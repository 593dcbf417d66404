package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/sources/file"
)

// formats holds the record format of each input and a job for each format. It
// is immutable after findFormats and safe for concurrent use.
type formats struct {
	config   record.Config // Format is empty
	given    string        // --from; empty: detected
	jobs     map[variant]*record.Job
	byPath   map[string]variant // by input; empty inputs have none
	fallback *record.Job        // for inputs that were empty during detection
	tables   *tables
	baseHint string // suggested --base that takes the host from a field of the records
	heads    heads
}

// A variant is a format and the settings that differ between inputs of the
// format. These settings override formats.config.
type variant struct {
	format string
	quote  string // quote of a table
	where  place  // place of the URLs in JSON and tables
	again  bool   // the output has the header of the table already
}

// peekBytes is the number of bytes at the start of an input that are used to
// detect its format: at least fifty records of a typical log.
const peekBytes = 64 << 10

// maxPeek is the number of bytes for inputs that begin with long lines: two
// records of the default maximum length.
const maxPeek = 2 << 20

// maxFormatErrors is the maximum number of inputs that an error names.
const maxFormatErrors = 10

// findFormats detects the format of each input of source, unless --from gives
// it, and checks that the options are valid for it. The error names each input
// that fails.
func findFormats(ctx context.Context, set *settings, source *file.Source) (*formats, error) {
	f := newFormats(set)
	if f.given != "" {
		job, err := f.add(variant{format: f.given})
		if err == nil {
			err = f.checkConditions(job, f.given, nil)
		}
		if err != nil {
			return nil, command.Usage(flagNames(err))
		}
	}
	defer f.fallBack()
	if !f.mustLook() && !set.SkipUnknown {
		return f, nil
	}
	var errs []error
	leave := map[string]func(){} // inputs that are not read
	err := source.Inspect(ctx, peekBytes, maxPeek, func(path string, head []byte, v compress.Verdict) {
		err := f.inspect(path, head)
		_, binary := f.tables.find(path)
		message := strings.NewReplacer(shownPath(path)+": ", "", "\n", "; ")
		switch unknown, lacks := errors.Is(err, errNoFormat), f.lacksURL(err, head); {
		case err != nil && v.Damage() && !binary: // the damage may be the reason
			if !unknown {
				v.Detail += "; no record is read: " + message.Replace(err.Error())
			}
			leave[path] = func() { source.Judge(path, v) }
		case lacks && set.SkipUnknown:
			leave[path] = func() { source.Skip(path, "no URL: "+message.Replace(err.Error())) }
		case (unknown || v.Unknown()) && set.SkipUnknown:
			why := v.String()
			if unknown {
				why = whyNoFormat(head)
			}
			leave[path] = func() { source.Skip(path, "unknown format: "+why) }
		case err != nil:
			errs = append(errs, err)
		}
	})
	if err != nil {
		return nil, command.Cut("interrupted while waiting for input")
	}
	for _, path := range slices.Sorted(maps.Keys(leave)) {
		leave[path]()
	}
	if left, _ := source.Paths(); len(left) == 0 && len(leave) > 0 && errs == nil && !set.AllowEmpty {
		for _, s := range source.Skipped() {
			errs = append(errs, fmt.Errorf("%s: %w: %s", shownPath(s.Path), errNoFormat, s.Why))
		}
	}
	switch err := fewInputs(errs); {
	case errors.Is(err, errNoFormat):
		return nil, command.BadInput(err)
	case err != nil:
		return nil, command.Usage(err)
	}
	return f, nil
}

// lacksURL reports whether err says that the records of an input, of which head has the
// first ones and no URL, have no field for a URL.
func (f *formats) lacksURL(err error, head []byte) bool {
	var c *record.ConfigError
	return !namesFields(&f.config) && errors.As(err, &c) && (c.Field == "URLField" || c.Field == "Format") &&
		!slices.ContainsFunc(firstRecords(head), holdsURL)
}

// newFormats returns formats without inputs.
func newFormats(set *settings) *formats {
	return &formats{config: set.record, given: set.record.Format, jobs: map[variant]*record.Job{}, byPath: map[string]variant{}, tables: set.tables, heads: heads{on: set.copies && !set.perInput(), drop: set.OnDamage == file.OnDamageNames()[0]}}
}

// fewInputs joins errs, each of which is about one input. Beyond
// maxFormatErrors, it only counts the errors.
func fewInputs(errs []error) error {
	if n := len(errs); n > maxFormatErrors {
		errs = append(errs[:maxFormatErrors], fmt.Errorf("and %s more", terminal.Plural(int64(n-maxFormatErrors), "input", "inputs")))
	}
	return errors.Join(errs...)
}

// mustLook reports whether the beginnings of the inputs have to be inspected:
// for their format, the columns of a header, or the member that holds the host.
func (f *formats) mustLook() bool {
	_, isJSON := record.WithoutPrefix(f.given, nil)
	return isJSON || slices.Contains(append([]string{"", table.Parquet, table.Avro}, tableFormats...), f.given)
}

// inspect detects the format of one input. The error names the input.
func (f *formats) inspect(path string, head []byte) error {
	name := shownPath(path)
	if file, ok := f.tables.find(path); ok {
		if file.err != nil {
			return fmt.Errorf("%s: --url-field: %w", name, file.err)
		}
		f.byPath[path] = variant{format: file.format}
		_, err := f.add(f.byPath[path])
		return prefixLines(name, flagNames(err))
	}
	if len(bytes.TrimLeft(head, blanks)) == 0 {
		return nil // an input without records fits any format
	}
	format := f.given
	switch format {
	case table.Parquet, table.Avro:
		return fmt.Errorf("--from: %s is not a file of the format %s", name, format)
	case "":
		guess, ok := detectFormat(head, f.config)
		if !ok {
			return fmt.Errorf("%s: %w", name, noFormat(path, head))
		}
		switch format = guess.Format; {
		case record.IsJSONLog(format) && namesFields(&f.config):
			format = "jsonl"
		case guess.headerOnly && !namesFields(&f.config) && path != stdinPath: // the rows may come later
			format = rowless{}.Name()
		}
	}
	kind := variant{format: format}
	c := f.config
	if c.Format = format; c.QuoteOf(head) != c.Quote {
		kind.quote = c.QuoteOf(head)
	}
	lines, isJSON := record.WithoutPrefix(format, head)
	if isJSON && f.given == "" && !namesFields(&c) {
		kind.where = placeOf(lines, c.Render.KeepsRecords())
		if wrapped := lineFormat(jsonFields(lines)); kind.where == (place{}) && format == "jsonl" && wrapped != "" && !c.Render.KeepsRecords() {
			format, kind.format = wrapped, wrapped
		}
	}
	if separator := separators[format]; separator != 0 && f.given == "" && !namesFields(&c) && !c.NoHeader {
		kind.where = columnOf(head, separator, c.Render.KeepsRecords())
	}
	if old, twice := f.byPath[path]; twice {
		if h := &f.heads; h.on && h.drop && h.header != nil && h.differ == nil && f.jobs[old].Headed() {
			h.differ = fmt.Errorf("%s: named twice, so one output would have its header twice: name it once, or use --output-dir, or --to jsonl, urls or keys", name)
		}
		return nil
	}
	f.byPath[path] = kind
	job, err := f.add(kind)
	if err != nil {
		return prefixLines(fmt.Sprintf("%s: detected format %s", name, format), explainField(flagNames(err), format, head))
	}
	if isJSON && f.baseHint == "" {
		f.baseHint = jsonBase(lines)
	}
	header := headOf(job, head)
	if err := job.CheckHead(header); err != nil {
		if err = flagNames(err); separators[format] != 0 {
			err = explainHeader(err, head)
		}
		return prefixLines(name, err)
	}
	if err := f.checkConditions(job, format, header); err != nil {
		return prefixLines(name, flagNames(err))
	}
	if kind.again = f.heads.has(name, job, header); kind.again {
		f.byPath[path] = kind
		_, err = f.add(kind)
	}
	return err
}

// add returns the job for a variant of a format and creates it if necessary.
func (f *formats) add(v variant) (*record.Job, error) {
	if job := f.jobs[v]; job != nil {
		return job, nil
	}
	c := f.config
	c.Format, c.Quote, c.DropHeader = v.format, cmp.Or(v.quote, c.Quote), v.again
	v.where.set(&c)
	if v.format == (rowless{}).Name() && f.given == "" {
		c.Formats = append(slices.Clone(c.Formats), rowless{})
	}
	job, err := record.New(c)
	if err == nil {
		f.jobs[v] = job
	}
	return job, err
}

// with returns a copy of f whose jobs use the settings in c.
func (f *formats) with(c record.Config) (*formats, error) {
	g := &formats{config: c, given: f.given, jobs: map[variant]*record.Job{}, byPath: f.byPath, tables: f.tables, baseHint: f.baseHint, heads: f.heads}
	for v := range f.jobs {
		if _, err := g.add(v); err != nil {
			return nil, command.Usage(flagNames(err))
		}
	}
	g.fallBack()
	return g, nil
}

// fallBack sets the job for inputs of unknown format: the job of --from, else
// of the most frequent format, else of lines.
func (f *formats) fallBack() {
	if names := f.names(); len(names) > 0 {
		f.fallback = f.jobOf(names[0].name)
	}
	if f.fallback == nil {
		// Other settings may not be valid for lines, so only the essential ones are
		// set.
		f.fallback, _ = record.New(record.Config{Format: "lines", Render: f.config.Render, Fields: f.config.Fields, Normalizer: f.config.Normalizer})
	}
}

// job returns the job for the input at path.
func (f *formats) job(path string) *record.Job {
	if job := f.jobs[f.byPath[path]]; job != nil {
		return job
	}
	return f.fallback
}

// jobOf returns the job of the first input of a format, or nil.
func (f *formats) jobOf(format string) *record.Job {
	for _, path := range slices.Sorted(maps.Keys(f.byPath)) {
		if v := f.byPath[path]; v.format == format {
			return f.jobs[v]
		}
	}
	return f.jobs[variant{format: format}]
}

// notice returns a sentence about the output of one of the formats, or "".
func (f *formats) notice() string {
	for _, c := range f.names() {
		if job := f.jobOf(c.name); job != nil && job.Notice() != "" {
			return c.name + ": " + job.Notice()
		}
	}
	return ""
}

// checkConditions returns an error if --where reads a field that the records of
// a format, or the records below a header, never have.
func (f *formats) checkConditions(job *record.Job, format string, head []byte) error {
	c := f.config
	c.Format = format
	if c.Identity.Time && job.Lacks(slices.Index(record.FieldNames(), "time"), head) {
		return fmt.Errorf("--sort: records of the format %s never have the field time", format)
	}
	return recordconf.CheckConditions([]*record.Job{job}, []string{c.Format}, &c, head, "--map %s=NAME")
}

// any reports whether the job of an input satisfies is.
func (f *formats) any(is func(j *record.Job) bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(f.jobs)), is)
}

// found reports whether the formats were detected.
func (f *formats) found() bool { return f.given == "" && len(f.byPath) > 0 }

// format returns the name of the format of the input at path for reports, "" if
// the input is empty.
func (f *formats) format(path string) string {
	if f.given != "" {
		return f.given
	}
	return f.byPath[path].format
}

// name returns the common format of all inputs, "mixed" if they differ, or
// "lines" if all are empty.
func (f *formats) name() string {
	switch names := f.names(); len(names) {
	case 0:
		return "lines"
	case 1:
		return names[0].name
	}
	return "mixed"
}

// names returns the formats with their numbers of inputs, the most frequent
// first.
func (f *formats) names() []count {
	if f.given != "" {
		return []count{{f.given, int64(len(f.byPath))}}
	}
	byName := map[string]int64{}
	for _, v := range f.byPath {
		byName[v.format]++
	}
	unique, ns := slices.Sorted(maps.Keys(byName)), []int64(nil)
	for _, format := range unique {
		ns = append(ns, byName[format])
	}
	return counts(ns, func(i int) string { return unique[i] })
}

// describe returns the description of the formats for the summary.
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
		if places := f.places(); places != "" {
			parts = append(parts, "with "+places)
		}
		return "formats " + strings.Join(parts, ", ")
	case f.found():
		if places := f.places(); places != "" {
			return "format " + f.name() + " (detected, with " + places + ")"
		}
		return "format " + f.name() + " (detected)"
	}
	return "format " + f.name()
}

// places says where the URLs are in JSON records, if no option does.
func (f *formats) places() string {
	all := map[string]bool{}
	for _, v := range f.byPath {
		if flag := v.where.flag(); flag != "" {
			all[flag] = true
		}
	}
	switch flags := slices.Sorted(maps.Keys(all)); len(flags) {
	case 0:
		return ""
	case 1:
		return terminal.OneLine(flags[0])
	default:
		return fmt.Sprintf("another --url-field or --url for each of %d kinds of input", len(flags))
	}
}

// flagNames prefixes each error about an option with the option's name.
func flagNames(err error) error {
	var lines []error
	for _, e := range errlist.Flatten(err) {
		var c *record.ConfigError
		if errors.As(e, &c) {
			field, _, _ := strings.Cut(c.Field, "[")
			if flag := flagsByField()[field]; flag != "" {
				e = fmt.Errorf("%s: %w", flag, e)
			}
		}
		lines = append(lines, e)
	}
	return errors.Join(lines...)
}

// prefixLines adds prefix to each error that err joins.
func prefixLines(prefix string, err error) error {
	var lines []error
	for _, e := range errlist.Flatten(err) {
		lines = append(lines, fmt.Errorf("%s: %w", prefix, e))
	}
	return errors.Join(lines...)
}

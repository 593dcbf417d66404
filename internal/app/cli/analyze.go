package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/insight"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sources/file"
)

// This file contains the common parts of the commands that read all records and write a
// result about them: top, count, report and learn.

// An analysis holds the options of a command that analyzes: some of the
// one-shot's, and the options for its result.
type analysis struct {
	// Write the result in this format: {}. Default: parquet for an output named .parquet,
	// table on a terminal, or else tsv.
	Form string `flag:"to,r" for:"results" arg:"format"`
	// Write a line with the names of the columns at the beginning of tsv or csv: WHEN is auto
	// (only csv), yes or no. --header alone means yes.
	HeaderRow string `flag:"header" for:"results" enum:"auto,yes,no" alone:"yes" arg:"WHEN"`
	// Write to this file. Default: stdout.
	Out string `flag:"output,o" for:"results,report" arg:"file"`
	// Overwrite an existing output. Default: fail if it exists.
	Replace bool `flag:"force" for:"results,report"`
	// Count each period separately: {}. Records without a time form a separate period.
	Per string `flag:"per" for:"results" arg:"period"`
	// Count hours and days in this time zone: an IANA name such as Europe/Berlin, Local, or
	// an offset such as +02:00. Default: UTC.
	PerZone string `flag:"timezone-out" for:"results,report" arg:"zone"`
	options
}

// newAnalysis returns the options of an analysis with their defaults.
func newAnalysis(c *daemon.Catalog) analysis {
	a := analysis{HeaderRow: "auto", options: newOptions(c)}
	a.Redact = usualRedact
	return a
}

// register adds to cmd the options of all, a pointer to a struct that contains a.
func (a *analysis) register(cmd *cobra.Command, all any, uses ...string) {
	a.options.register(cmd, all, append(uses, "readers", "count")...)
	cmd.Flags().Lookup("max-memory").Usage = "limit the memory for the counts to this `size`; the rest goes to temporary files"
}

// prepare resolves the options for a run whose codecs write fields. bad holds the
// errors in the options of the command itself.
func (a *analysis) prepare(paths, fields []string, bad *command.Mistakes) (*settings, error) {
	o := a.options
	o.Render.Form, o.Fields = record.RenderTSV.String(), fields
	set, err := o.resolve(paths)
	bad.Add("", err)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	if a.Out == "" || a.Out == stdoutPath {
		return set, nil
	}
	set.Force = a.Replace
	bad.Add("--output", set.checkFile("--output", a.Out))
	return set, bad.Err()
}

// resolve returns the settings of the result. It is for the commands with the options of
// results.
func (a *analysis) resolve(stdout io.Writer, bad *command.Mistakes) (o insight.Options) {
	if a.Form != "" {
		_, err := suggest.Index("format", insight.Forms(), a.Form)
		bad.Add("--to", err)
	}
	switch {
	case hasExt(a.Out, parquetExt) && a.Form == "":
		a.Form = "parquet"
	case hasExt(a.Out, parquetExt) != (a.Form == "parquet") && hasExt(a.Out, parquetExt):
		bad.Addf("--output", "a file named %s requires --to parquet", parquetExt)
	case a.Form == "" && a.Out == "" && terminal.Is(stdout):
		a.Form = "table"
	case a.Form == "":
		a.Form = "tsv"
	case a.Form == "parquet" && a.Out == "" && terminal.Is(stdout):
		bad.Addf("--to", "parquet is binary data: name a file with --output, or redirect stdout")
	}
	_, err := suggest.Index("value", enumOf("header"), a.HeaderRow)
	bad.Add("--header", err)
	if a.Per != "" {
		i, err := suggest.Index("period", insight.PerNames(), a.Per)
		bad.Add("--per", err)
		o.Per = insight.Per(i + 1)
	}
	if a.PerZone != "" && a.Per == "" {
		bad.Addf("--timezone-out", "requires --per")
	}
	o.Zone = a.zoned(bad).Zone
	return o
}

// zoned returns the settings of a result for a command without the option
// --per.
func (a *analysis) zoned(bad *command.Mistakes) insight.Options {
	zone, err := recordconf.Location(a.PerZone)
	bad.Add("--timezone-out", err)
	if zone == nil {
		zone = time.UTC
	}
	return insight.Options{Zone: zone}
}

// analysisLimits completes o with the limits of memory in s.
func (s *settings) analysisLimits(o insight.Options) insight.Options {
	o.MaxMemory, o.Dir, o.Workers = int64(s.MaxMemory), s.TempDir, s.Jobs
	return o
}

// limitMemory limits the memory of the process to --max-memory plus the memory
// that batches, decompressors and the program itself need. Without the limit,
// garbage would take as much memory as the counts. If GOMEMLIMIT sets a limit,
// limitMemory does nothing. It returns a function that ends the limit.
func (s *settings) limitMemory() (end func()) {
	const least, beside = 64 << 20, 64 << 20
	usual := memory.FindLimit(0)
	if usual.From == "GOMEMLIMIT" {
		return func() {}
	}
	memory.FindLimit(max(int64(s.MaxMemory), least) + beside).Apply(nil)
	return func() { usual.Apply(nil) }
}

// An analysisRun is a run of an analysis.
type analysisRun struct {
	scan
	cmd *cobra.Command
	out outcome
}

// An analyzer collects the data of the result in the codecs of the workers.
type analyzer interface {
	NewCodecs(inner func() engine.Codec) func() engine.Codec
	Close() error
}

// run reads all inputs with x, which it closes. Then it calls write, and writes the
// summary, or with --quiet a line for each damaged input.
func (a *analysis) run(cmd *cobra.Command, set *settings, x analyzer, write func(r *analysisRun) error) (err error) {
	defer func() { err = errors.Join(err, x.Close()) }()
	stderr := cmd.ErrOrStderr()
	set.logTo(stderr)
	r := &analysisRun{scan: scan{set: set}, cmd: cmd}
	if !set.Quiet && set.Progress != progressNever && terminal.Is(stderr) {
		r.progress = stderr
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	start := time.Now()
	err = r.read(sig, cmd.InOrStdin(), func() (func() engine.Codec, error) {
		return x.NewCodecs(engine.NewRecordCodecs(r.formats.job)), nil
	})
	if err != nil {
		return err
	}
	r.out = outcome{set: set, formats: r.formats, snap: r.snap, reports: r.source.Reports(), skipped: r.source.Skipped(), elapsed: time.Since(start)}
	r.out.count()
	if err := write(r); err != nil {
		return err
	}
	if set.Quiet {
		r.out.writeDamage(stderr)
	} else {
		_, _ = io.WriteString(stderr, strings.ToValidUTF8(r.out.shortText(command.Style(cmd, stderr)), "?")) // an error of stderr cannot be reported
	}
	if err := r.out.ledger(); err != nil {
		return err
	}
	if code := r.out.exitCode(); code != command.ExitDone {
		return &command.Error{Code: code}
	}
	return nil
}

// shortText returns the summary of a run that writes no records: the numbers of counted
// and of other records, and the damaged inputs.
func (o *outcome) shortText(st terminal.Style) string {
	s := &summary{Style: st}
	parts := []string{terminal.Plural(o.stats.Records, "record", "records"), terminal.Plural(o.stats.URLs, "URL", "URLs"), o.speed()}
	if places := o.formats.places(); places != "" {
		parts = append(parts, "with "+places)
	}
	s.text(st.Paint(terminal.Dim, "urlfold: "+strings.Join(parts, ", ")))
	var left []string
	for _, c := range []count{
		{"left out by --where", o.stats.Filtered}, {"without URL", o.stats.NoURL}, {"blank", o.stats.Blank}, {"rejected", o.stats.Rejected},
	} {
		if c.n > 0 {
			left = append(left, terminal.FormatCount(c.n)+" "+c.name)
		}
	}
	if len(left) > 0 {
		s.text("  not counted: " + strings.Join(left, ", "))
	}
	o.writePart(s)
	if o.columns != nil {
		s.text("  columns: " + strings.Join(o.columns, ", ") + "; --header writes them")
	}
	o.writeSkipped(s)
	o.writeVerdicts(s)
	o.writeMisfits(s)
	o.writeNoURL(s)
	o.writeUnmet(s)
	return s.String()
}

// write writes the result that rows prints to the output.
func (a *analysis) write(r *analysisRun, columns []insight.Column, rows func(p insight.Printer) error) error {
	stdout := r.cmd.OutOrStdout()
	toFile := a.Out != "" && a.Out != stdoutPath
	var b bytes.Buffer
	p, err := insight.NewPrinter(&b, a.Form, columns, a.HeaderRow == "yes" || a.HeaderRow == "auto" && a.Form == "csv", !toFile && terminal.Is(stdout), command.Style(r.cmd, stdout))
	if err == nil {
		err = rows(p)
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if a.Form == "tsv" && a.HeaderRow == "auto" {
		for _, c := range columns {
			if !c.Table {
				r.out.columns = append(r.out.columns, c.Name)
			}
		}
	}
	return a.put(r, b.Bytes())
}

// put writes text to the output.
func (a *analysis) put(r *analysisRun, text []byte) error {
	if a.Out != "" && a.Out != stdoutPath {
		inputs, _ := r.source.Paths() // read has reported the error
		return writeResult(r.set.objects, a.Out, "", text, inputs)
	}
	stdout := r.cmd.OutOrStdout()
	if a.Form != "table" { // its cells are escaped, and its head is painted
		stdout = terminal.Writer(stdout)
	}
	if _, err := stdout.Write(text); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// A scan reads files for a report about them, and writes no records.
type scan struct {
	set      *settings
	source   *file.Source
	formats  *formats
	progress io.Writer       // a terminal for a progress bar; nil: none
	filter   engine.Filter   // may be nil
	snap     engine.Snapshot // state after read
}

// read reads the whole input. codecs returns the function that creates the codec
// of a worker; it is called when the formats are known.
func (s *scan) read(sig *command.Signals, stdin io.Reader, codecs func() (func() engine.Codec, error)) error {
	parallel, err := s.set.parallelInputs(disk.MaxOpen(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if s.source, err = s.set.openSource(stdin, func() *formats { return s.formats }, parallel); err != nil {
		return err
	}
	if s.formats, err = findFormats(sig.Soft, s.set, s.source); err != nil {
		return err
	}
	newCodecs, err := codecs()
	if err != nil {
		return err
	}
	p, err := s.set.drain(s.source, engine.Options{NewCodec: newCodecs, Filter: s.filter})
	if err != nil {
		return err
	}
	go sig.OnSecond(p.HardStop)
	if s.progress != nil {
		defer showProgress(s.progress, s.source, p)()
	}
	err = p.Run(sig.Soft)
	s.snap = p.Snapshot()
	if err == nil && sig.Soft.Err() != nil || errors.Is(err, engine.ErrDeadline) {
		return command.Cut("interrupted before the whole input was read")
	}
	return err
}

// drain returns a pipeline that reads source and writes nothing. opt holds its
// other options.
func (s *settings) drain(source *file.Source, opt engine.Options) (*engine.Pipeline, error) {
	opt.Sources, opt.Sinks, opt.Workers = []engine.Source{source}, []engine.Sink{discard.New(discard.Config{})}, s.Jobs
	return engine.New(opt)
}

// report reads the whole input, writes a line for each damaged input, and calls write.
// The command fails if an input is damaged, or if write says so.
func (s *scan) report(cmd *cobra.Command, codecs func() (func() engine.Codec, error), write func() (failed bool, err error)) error {
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	if err := s.read(sig, cmd.InOrStdin(), codecs); err != nil {
		return err
	}
	out := outcome{set: s.set, reports: s.source.Reports()}
	if part := out.partText(); part != "" {
		_, _ = io.WriteString(cmd.ErrOrStderr(), "urlfold: "+part+"\n") // an error of stderr cannot be reported
	}
	for _, f := range s.source.Skipped() {
		warn(cmd.ErrOrStderr(), f.Path, "skipped: "+f.Why)
	}
	out.writeDamage(cmd.ErrOrStderr())
	failed, err := write()
	fails := func(condition string) bool { return slices.Contains(s.set.FailOn, condition) }
	failed = failed || fails("damage") && len(out.damaged()) > 0 || fails("unknown") && len(out.judged(compress.Verdict.Unknown)) > 0
	if err == nil && failed {
		return &command.Error{Code: command.ExitFailOn}
	}
	return err
}

// warn writes a line about a file, folded to the width of the terminal.
func warn(stderr io.Writer, path, text string) {
	line := fmt.Sprintf("urlfold: %s: %s", shownPath(path), terminal.Printable(text))
	_, _ = io.WriteString(stderr, terminal.NewStyle(stderr, os.Getenv).Folded(line, 2)+"\n") // an error of stderr cannot be reported
}

// writeDamage writes a line for each input that is damaged, has an unknown format or,
// without --quiet, is followed by padding.
func (o *outcome) writeDamage(stderr io.Writer) {
	damaged := o.judged(func(v compress.Verdict) bool { return v.Damage() || v.Kind == compress.TrailingGarbage && !o.set.Quiet })
	for i := range damaged {
		warn(stderr, damaged[i].Path, damaged[i].Verdict.String())
	}
}

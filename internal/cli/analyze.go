package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/insight"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
)

// This file contains what the commands have in common that read all records and
// write a result about them: top, count, report and learn.

// An analysis holds the flags of such a command: some of the one-shot's, and
// those of the result.
type analysis struct {
	options
	form    string // of the result
	forms   []string
	header  bool
	out     string
	force   bool
	per     string
	perZone string
}

// register adds the flags to cmd, and calls own to add those of the command
// itself first.
func (a *analysis) register(cmd *cobra.Command, c *daemon.Catalog, own func(f *pflag.FlagSet)) {
	a.options = newOptions(c)
	a.Redact = usualRedact
	own(cmd.Flags())
	a.options.register(cmd, "readers", "count")
	cmd.Flags().Lookup("max-memory").Usage = "keep what is counted in at most this `size` of memory, and the rest in temporary files"
}

// resultFlags adds the flags of a result that is a table.
func (a *analysis) resultFlags(f *pflag.FlagSet) {
	a.forms = insight.Forms()
	f.StringVarP(&a.form, "render", "r", "", "write the result in this `form`: "+strings.Join(a.forms, ", ")+". Default: parquet for an output named .parquet, table on a terminal, or else tsv")
	f.BoolVar(&a.header, "header", false, "begin tsv with the names of the columns; csv always does")
	f.StringVarP(&a.out, "output", "o", "", "write to this `file`. Default: stdout")
	f.BoolVar(&a.force, "force", false, "overwrite an existing output. Default: fail if it exists")
	f.StringVar(&a.per, "per", "", "count each `period` apart: "+strings.Join(insight.PerNames(), ", ")+". Records without a time are a period of their own")
	f.StringVar(&a.perZone, "per-zone", "", "begin hours and days in this `zone`: an IANA name such as Europe/Berlin, Local, or an offset such as +02:00. Default: UTC")
}

// prepare resolves the flags for a run whose codecs write fields. bad holds the
// errors in the flags of the command itself.
func (a *analysis) prepare(paths, fields []string, bad *mistakes) (*settings, error) {
	o := a.options
	o.Render.Form, o.Fields = record.RenderTSV.String(), fields
	set, err := o.resolve(paths)
	bad.add("", err)
	if err := bad.err(); err != nil {
		return nil, err
	}
	if a.out == "" || a.out == stdoutPath {
		return set, nil
	}
	set.Force = a.force
	bad.add("--output", set.checkFile("--output", a.out))
	return set, bad.err()
}

// resolve returns the settings of the result. It is for the commands with
// resultFlags.
func (a *analysis) resolve(stdout io.Writer, bad *mistakes) (o insight.Options) {
	if a.form != "" {
		_, err := suggest.Index("form", a.forms, a.form)
		bad.add("--render", err)
	}
	switch {
	case hasExt(a.out, parquetExt) && a.form == "":
		a.form = "parquet"
	case hasExt(a.out, parquetExt) != (a.form == "parquet") && hasExt(a.out, parquetExt):
		bad.add("--output", fmt.Errorf("a file named %s requires --render parquet", parquetExt))
	case a.form == "" && a.out == "" && terminal.Is(stdout):
		a.form = "table"
	case a.form == "":
		a.form = "tsv"
	case a.form == "parquet" && a.out == "" && terminal.Is(stdout):
		bad.add("--render", errors.New("parquet is binary data: name a file with --output, or redirect stdout"))
	}
	if a.per != "" {
		i, err := suggest.Index("period", insight.PerNames(), a.per)
		bad.add("--per", err)
		o.Per = insight.Per(i + 1)
	}
	if a.perZone != "" && a.per == "" {
		bad.add("--per-zone", errors.New("requires --per"))
	}
	o.Zone = a.zoned(bad).Zone
	return o
}

// zoned returns the settings of a result that does not choose its periods.
func (a *analysis) zoned(bad *mistakes) insight.Options {
	zone, err := recordconf.Location(a.perZone)
	bad.add("--per-zone", err)
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

// An analysisRun is a run of an analysis.
type analysisRun struct {
	scan
	cmd *cobra.Command
	out outcome
}

// read reads all inputs. newCodecs wraps the codecs of the records.
func (a *analysis) read(cmd *cobra.Command, set *settings, newCodecs func(inner func() pipeline.Codec) func() pipeline.Codec) (*analysisRun, error) {
	set.log = newLogger(cmd.ErrOrStderr(), set.logLevel)
	r := &analysisRun{scan: scan{set: set}, cmd: cmd}
	if stderr := cmd.ErrOrStderr(); !set.Quiet && !set.NoProgress && terminal.Is(stderr) {
		r.progress = stderr
	}
	sig := watchSignals()
	defer sig.stop()
	start := time.Now()
	err := r.scan.read(sig, cmd.InOrStdin(), func() (func() pipeline.Codec, error) {
		return newCodecs(pipeline.NewRecordCodecs(r.formats.job)), nil
	})
	if err != nil {
		return nil, err
	}
	r.out = outcome{set: set, formats: r.formats, snap: r.snap, reports: r.source.Reports(), elapsed: time.Since(start)}
	r.out.count()
	return r, nil
}

// finish writes the summary, or with --quiet a line for each damaged input, and
// returns the error with the exit code.
func (r *analysisRun) finish() error {
	if stderr := r.cmd.ErrOrStderr(); r.set.Quiet {
		r.out.writeDamage(stderr)
	} else {
		_, _ = io.WriteString(stderr, strings.ToValidUTF8(r.out.shortText(terminal.NewStyle(stderr, os.Getenv)), "?")) // stderr is the last resort
	}
	if err := r.out.ledger(); err != nil {
		return err
	}
	if code := r.out.exitCode(); code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// shortText returns the summary of a run that writes no records: what was
// counted, what was not, and which inputs are damaged.
func (o *outcome) shortText(st terminal.Style) string {
	s := &summary{Style: st}
	parts := []string{terminal.Plural(o.stats.Records, "record", "records"), terminal.Plural(o.stats.URLs, "URL", "URLs"), o.speed()}
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
	o.writeVerdicts(s)
	o.writeMisfits(s)
	for _, warning := range o.formats.lacking() {
		s.text("  " + s.Paint(terminal.Yellow, warning))
	}
	return s.String()
}

// write writes the result that rows prints to the output.
func (a *analysis) write(cmd *cobra.Command, r *analysisRun, columns []insight.Column, rows func(p insight.Printer) error) error {
	stdout := cmd.OutOrStdout()
	toFile := a.out != "" && a.out != stdoutPath
	var b bytes.Buffer
	p, err := insight.NewPrinter(&b, a.form, columns, a.header || a.form == "csv", !toFile && terminal.Is(stdout), terminal.NewStyle(stdout, os.Getenv))
	if err == nil {
		err = rows(p)
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return a.put(stdout, r, b.Bytes(), toFile)
}

// put writes text to the output.
func (a *analysis) put(stdout io.Writer, r *analysisRun, text []byte, toFile bool) error {
	if toFile {
		inputs, _ := r.source.Paths() // read has reported the error
		return writeResult(a.out, "", text, inputs)
	}
	if a.form != "table" { // its cells are escaped, and its head is painted
		stdout = terminal.Writer(stdout)
	}
	if _, err := stdout.Write(text); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

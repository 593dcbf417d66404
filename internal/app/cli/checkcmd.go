package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/service"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/compress"
	sink "github.com/urlfold/urlfold/sinks/file"
)

const checkLong = `Read files to the end and report their compression and damage, their record format, the share of records that match
the format, the first record that does not, and a command line that normalizes the file. List the members of zip and tar
archives; to read one, name it as ARCHIVE:MEMBER. Write nothing. Search directories recursively.

  --integrity   read no records: check every member, frame and checksum of archives and outputs
  --keys        compare the first column of a CDX or CDXJ index with the key of each URL; without FILE, read stdin
  -c FILE       check a configuration, report all errors with file, line and column, and run its test cases

With --keys, print each wrong key with its file and line, the expected key and the key found. Replace passwords with ***
unless you pass --redact none.

Exit codes: 0 everything is fine, 1 fatal error or a failed test case, 2 usage error, no file to read, or an invalid
configuration, 3 interrupted, 4 a file is not intact, its format is unknown, or a key is wrong.`

const checkExamples = `  urlfold check access.log.gz
  urlfold check 'logs/**/*'                 diagnose every file of a directory
  urlfold check --to jsonl logs | jq .      write a JSON object for each file
  urlfold check --integrity --quiet /data   print only files that are not intact
  urlfold check --keys -f cdxj index.cdxj   check the keys of a web archive index
  urlfold check -c urlfold.yaml             check a configuration and run its test cases
  urlfold check -c urlfold.yaml --connect   also test brokers, servers and output directories
  urlfold check -c urlfold.yaml --show      print the effective configuration`

// checkOptions holds the options of check: some options of the one-shot, and options
// that only check has.
type checkOptions struct {
	options
	catalog         *daemon.Catalog
	integrity, keys bool
	quiet           bool // print only what is wrong
	form            string
	config          service.ConfigCheck
}

// checkForms are the values of --to.
var checkForms = []string{"text", "jsonl"}

func newCheckCmd(c *daemon.Catalog) *cobra.Command {
	o := &checkOptions{options: newOptions(c), catalog: c}
	cmd := &cobra.Command{
		Use:   "check [flags] [FILE|GLOB|DIR]...",
		Short: "Check whether files, indexes or a configuration are whole, and how they are read",
		Long:  checkLong, Example: checkExamples,
		RunE: o.run,
	}
	f := cmd.Flags()
	f.BoolVar(&o.integrity, "integrity", false, "check the integrity of files, and read no records")
	f.BoolVar(&o.keys, "keys", false, "check the keys of web archive indexes. Default of --profile: "+keyProfile)
	f.BoolVar(&o.quiet, "quiet", false, "print only files that are not intact or whose format is unknown; with --keys, only the number of wrong keys")
	f.StringVarP(&o.form, "to", "r", checkForms[0], "write the result in this `format`: "+strings.Join(checkForms, ", "))
	command.CompleteFrom(cmd, "to", checkForms)
	o.register(cmd, &o.options, "check")
	o.config.Register(cmd)
	return cmd
}

// run checks what the options name.
func (o *checkOptions) run(cmd *cobra.Command, paths []string) error {
	if err := o.conflict(cmd, paths); err != nil {
		return command.Usage(err)
	}
	form, err := suggest.Index("format", checkForms, o.form)
	switch {
	case err != nil:
		return command.Usagef("--to: %w", err)
	case o.config.File != "":
		return o.config.Run(cmd, o.catalog, printOldData)
	case o.keys:
		return o.checkKeys(cmd, paths)
	}
	// Set the options of a one-shot that writes no records.
	o.Render.Form, o.Quiet, o.LogLevel = "urls", true, "error"
	return o.checkFiles(cmd, paths, []func(*diagnosis, io.Writer) error{(*diagnosis).writeText, (*diagnosis).writeJSON}[form])
}

// conflict returns an error if options or arguments do not go together, or if nothing is
// to be checked.
func (o *checkOptions) conflict(cmd *cobra.Command, paths []string) (err error) {
	config := []string{"config", "connect", "show"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if (o.config.File != "") != slices.Contains(config, f.Name) {
			err = fmt.Errorf("--%s: cannot be combined with a check of %s", f.Name, map[bool]string{true: "a configuration", false: "files; name a configuration with -c FILE"}[o.config.File != ""])
		}
	})
	switch {
	case err != nil:
	case o.config.File != "":
		err = command.NoArgs(cmd, paths)
	case o.keys && o.integrity:
		err = errors.New("--integrity reads no records, but --keys needs records")
	case o.keys:
	case len(paths) == 0:
		err = errors.New("missing argument: FILE, GLOB or DIR, or -c FILE")
	case slices.Contains(paths, stdinPath):
		err = errors.New("cannot read stdin: name a file")
	}
	return err
}

// checkFiles diagnoses the files that paths name and writes each result.
func (o *checkOptions) checkFiles(cmd *cobra.Command, paths []string, write func(*diagnosis, io.Writer) error) error {
	files, skipped, missing, err := o.find(paths)
	if err != nil {
		return command.Usage(err)
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	for _, s := range skipped {
		if o.quiet {
			break
		}
		result := &diagnosis{File: s.Path, Skipped: s.Why}
		if o.integrity {
			result.Integrity = "skipped: " + s.Why
		}
		if err := write(result, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	read := o.diagnose
	if o.integrity {
		read = o.inspect
	}
	broken, unknown := 0, 0
	for _, path := range files {
		result, err := read(sig, path)
		if err != nil {
			return err
		}
		switch {
		case result.Damage != "" || result.State != "":
			broken++
		case result.Why != "":
			unknown++
		case o.quiet:
			continue
		}
		if err := write(result, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	err = failed([]finding{{broken, "file is not intact", "files are not intact"}, {unknown, "file cannot be read in a known format", "files cannot be read in a known format"}})
	if missing != nil {
		return inputError(errors.Join(missing, err))
	}
	return err
}

// inspect is like diagnose, but does not read the records of the file.
func (o *checkOptions) inspect(sig *command.Signals, path string) (*diagnosis, error) {
	rep, err := o.verify(sig, path)
	if err != nil {
		return nil, err
	}
	r := &diagnosis{File: path, State: stateOf(&rep), Integrity: integrityText(&rep)}
	r.setCompression(rep.Verdict.Format)
	r.setVerdict(rep.Verdict)
	return r, nil
}

// A finding is a number of files with the same problem, and the text of the problem for
// one file and for several.
type finding struct {
	n         int
	one, many string
}

// failed returns the error of a command that has found something wrong, or nil.
func failed(list []finding) error {
	var parts []string
	for _, f := range list {
		if f.n > 0 {
			parts = append(parts, terminal.Plural(int64(f.n), f.one, f.many))
		}
	}
	if parts == nil {
		return nil
	}
	return &command.Error{Code: command.ExitFailOn, Err: errors.New(strings.Join(parts, ", "))}
}

// writeJSON writes the diagnosis as one line of JSON.
func (r *diagnosis) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// writeText writes the diagnosis as human-readable text.
func (r *diagnosis) writeText(w io.Writer) error {
	var b strings.Builder
	name := terminal.OneLine(shownPath(r.File))
	if r.Integrity != "" {
		_, err := fmt.Fprintf(w, "%s: %s\n", name, terminal.Printable(r.Integrity))
		return err
	}
	b.WriteString(name + "\n")
	style := terminal.NewStyle(w, os.Getenv)
	row := func(name, text string) {
		line := fmt.Sprintf("  %-14s%s", name, terminal.Printable(text))
		if name != "command" { // do not fold the command, which people copy
			line = style.Folded(line, 16)
		}
		if text != "" {
			b.WriteString(line + "\n")
		}
	}
	row("compression", r.Compression)
	row("damage", r.Damage)
	row("state", r.State)
	row("skipped", r.Skipped)
	row("format", r.formatText())
	row("records", r.recordsText())
	if r.Misfit != nil {
		row("first misfit", fmt.Sprintf("line %s, byte %d of the record: %s", terminal.FormatCount(r.Misfit.Line), r.Misfit.At, r.Misfit.Reason))
	}
	row("escapes", r.Escapes)
	row("quotes", r.Quotes)
	for _, note := range r.Notes {
		row("note", note)
	}
	for _, m := range r.Members {
		row("member", fmt.Sprintf("%s, %s, %s, %s", m.Path, terminal.FormatSize(m.Size), cmp.Or(m.Format, "format unknown"), m.Verdict))
	}
	row("command", r.Command)
	_, err := io.WriteString(w, b.String())
	return err
}

// formatText returns the format and how sure it is.
func (r *diagnosis) formatText() string {
	switch {
	case r.blank:
		return "none: the first lines are blank"
	case r.Empty:
		return "none: the file is empty"
	case r.Format == "" && r.Why == "":
		return ""
	case r.Format == "":
		return "unknown: " + r.Why
	case r.Why != "":
		return r.Format + ": " + r.Why
	case r.byMagic:
		return r.Format + " (by its magic number)"
	case r.Sampled == 0:
		return r.Format + " (as given)"
	case r.headerOnly:
		return r.Format + " (a header without rows)"
	}
	if r.Sampled == 1 && r.Fit == 1 {
		return r.Format + " (the first record fits)"
	}
	return fmt.Sprintf("%s (%d of the first %s fit)", r.Format, r.Fit, terminal.Plural(int64(r.Sampled), "record", "records"))
}

// recordsText returns the numbers of records and URLs.
func (r *diagnosis) recordsText() string {
	if r.Records == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s recognized (%s)", terminal.FormatCount(r.Records), terminal.FormatCount(r.Recognized), percentOf(r.Recognized, r.Records))
	text += fmt.Sprintf("; %s", terminal.Plural(r.URLs, "URL", "URLs"))
	if r.NoURL > 0 {
		text += fmt.Sprintf(", %s without URL", terminal.Plural(r.NoURL, "record", "records"))
	}
	if r.Rejected > 0 {
		text += fmt.Sprintf(", %s cannot be parsed", terminal.Plural(r.Rejected, "URL", "URLs"))
	}
	if r.Truncated > 0 {
		text += fmt.Sprintf(", %s", terminal.Plural(r.Truncated, "truncated URL", "truncated URLs"))
	}
	return text
}

// percentOf returns n as a percentage of all, and 100 % only if they are equal.
func percentOf(n, all int64) string {
	tenths := n * 1000 / all
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// stateOf returns why a file that may be undamaged is not intact, or "".
func stateOf(r *sink.Report) string {
	switch {
	case r.Leftover:
		return "left over from a crash: safe to remove"
	case r.Unverified:
		return "unverified raw records of a damaged input"
	case r.PutAside:
		return "quarantined because it was damaged: inspect it before removing it"
	case r.Unfinished:
		return "unfinished"
	}
	return ""
}

// integrityText returns the one-line result for a file whose records are not read.
func integrityText(r *sink.Report) string {
	if r.Verdict.Kind == compress.Unreadable {
		return r.Verdict.String()
	}
	text := fmt.Sprintf("%s, %s, %s, %s, %s compressed", r.Verdict, terminal.Plural(r.Members, "member", "members"),
		terminal.Plural(r.Lines, "line", "lines"), terminal.Plural(r.Bytes, "byte", "bytes"), terminal.FormatCount(r.Compressed))
	if state := stateOf(r); state != "" {
		text += ", " + state
	}
	if r.TornBytes > 0 {
		text += ", " + terminal.Plural(r.TornBytes, "byte", "bytes") + " after the last complete member or line"
	}
	return text
}

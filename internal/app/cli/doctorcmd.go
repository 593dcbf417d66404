package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

const doctorLong = `Read files to the end. For each file, print its compression and damage, its record format, the share of records that
match the format, the first record that does not, and a command line that normalizes the file. Write nothing.

Exit codes: 0 all files can be read, 1 fatal error, 2 usage error or no file to read, 4 a file is damaged or its format is
unknown.`

const doctorExamples = `  urlfold doctor access.log.gz
  urlfold doctor 'logs/**/*'           diagnose every file of a directory
  urlfold doctor --to jsonl logs       write a JSON object for each file`

func newDoctorCmd(c *daemon.Catalog) *cobra.Command {
	var form command.Form
	d := &doctor{options: quietOptions(c)}
	cmd := &cobra.Command{
		Use:   "doctor [flags] FILE|GLOB|DIR...",
		Short: "Diagnose files: report their format, their damage and how to read them",
		Long:  doctorLong, Example: doctorExamples,
		Args: func(_ *cobra.Command, args []string) error { return namesFiles("doctor", args) },
		RunE: func(cmd *cobra.Command, paths []string) error {
			write := (*diagnosis).writeText
			if form.Name == "jsonl" {
				write = (*diagnosis).writeJSON
			}
			return d.run(cmd, paths, write)
		},
	}
	form.Register(cmd, "write this `format`: text, or jsonl for an object per file", "text", "jsonl")
	d.options.register(cmd, &d.options, "doctor")
	return cmd
}

// quietOptions returns the options of the one-shot for commands that write no records.
func quietOptions(c *daemon.Catalog) options {
	o := newOptions(c)
	o.Render.Form, o.Quiet, o.LogLevel = "urls", true, "error"
	return o
}

// run diagnoses the files that paths name and writes each result.
func (d *doctor) run(cmd *cobra.Command, paths []string, write func(*diagnosis, io.Writer) error) error {
	files, skipped, missing, err := d.find(paths)
	if err != nil {
		return command.Usage(err)
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	for _, s := range skipped {
		if err := write(&diagnosis{File: s.Path, Skipped: s.Why}, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	damaged, unknown := 0, 0
	for _, path := range files {
		result, err := d.diagnose(sig, path)
		if err != nil {
			return err
		}
		switch {
		case result.Damage != "":
			damaged++
		case result.Why != "":
			unknown++
		}
		if err := write(result, cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	err = failed([]finding{{damaged, "file is damaged", "files are damaged"}, {unknown, "file cannot be read in a known format", "files cannot be read in a known format"}})
	if missing != nil {
		return inputError(errors.Join(missing, err))
	}
	return err
}

// A finding is a number of files with what is wrong with them, for one and for several.
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

// writeText writes the diagnosis for people.
func (r *diagnosis) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", terminal.OneLine(shownPath(r.File)))
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-14s%s\n", name, terminal.Printable(text))
		}
	}
	row("compression", r.Compression)
	row("damage", r.Damage)
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
	row("command", r.Command)
	_, err := io.WriteString(w, b.String())
	return err
}

// formatText returns the format and how sure it is.
func (r *diagnosis) formatText() string {
	switch {
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
		text += fmt.Sprintf(", none in %s", terminal.Plural(r.NoURL, "record", "records"))
	}
	if r.Rejected > 0 {
		text += fmt.Sprintf(", %s cannot be parsed", terminal.FormatCount(r.Rejected))
	}
	if r.Truncated > 0 {
		text += fmt.Sprintf(", %s truncated", terminal.FormatCount(r.Truncated))
	}
	return text
}

// percentOf returns n as a percentage of all, and 100 % only if they are equal.
func percentOf(n, all int64) string {
	tenths := n * 1000 / all
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

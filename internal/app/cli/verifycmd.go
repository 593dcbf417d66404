package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/compress"
	sink "github.com/urlfold/urlfold/sinks/file"
)

const verifyLong = `Read files to the end and check every member, frame and checksum. The files may be outputs of urlfold or any other
files. For each file, print the number of members, lines and bytes, and the position of any damage. Search directories
recursively. A directory without files and a glob that matches no files are errors unless you pass --allow-empty.

Exit codes: 0 all files are intact, 1 fatal error, 2 no file to read, 4 a file is not intact.`

const verifyExamples = `  urlfold verify clean.log.zst
  urlfold verify --quiet /data/clean     print only files that are not intact`

func newVerifyCmd(c *daemon.Catalog) *cobra.Command {
	var quiet bool
	o := quietOptions(c)
	cmd := &cobra.Command{
		Use:   "verify [flags] FILE|GLOB|DIR...",
		Short: "Check the integrity of output files and archives",
		Long:  verifyLong, Example: verifyExamples,
		Args: func(_ *cobra.Command, args []string) error { return namesFiles("verify", args) },
		RunE: func(cmd *cobra.Command, paths []string) error {
			files, skipped, err := o.inputs(paths)
			if err != nil {
				return inputError(err)
			}
			sig := command.Watch(cmd.Context())
			defer sig.Stop()
			for _, s := range skipped {
				if !quiet {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s: skipped: %s\n", terminal.OneLine(s.Path), s.Why)
				}
			}
			bad, unknown := 0, 0
			for _, path := range files {
				r, err := o.verify(sig, path)
				if err != nil {
					return err
				}
				switch {
				case r.Verdict.Unknown():
					unknown++
				case !r.Intact():
					bad++
				case quiet:
					continue
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", terminal.OneLine(r.Path), terminal.Printable(reportText(&r))); err != nil {
					return err
				}
			}
			return failed([]finding{{bad, "file is not intact", "files are not intact"}, {unknown, "file has an unknown format", "files have an unknown format"}})
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only files that are not intact")
	o.register(cmd, &o, "verify")
	return cmd
}

// namesFiles returns an error unless args, those of the command name, are names
// of files.
func namesFiles(name string, args []string) error {
	switch {
	case len(args) == 0:
		return command.Usage(fmt.Errorf("%s: missing argument: FILE, GLOB or DIR", name))
	case slices.Contains(args, stdinPath):
		return command.Usage(fmt.Errorf("%s: cannot read stdin: name a file", name))
	}
	return nil
}

// reportText returns the one-line result for a file.
func reportText(r *sink.Report) string {
	if r.Verdict.Kind == compress.Unreadable {
		return r.Verdict.String()
	}
	text := fmt.Sprintf("%s, %s, %s, %s, %s compressed", r.Verdict, terminal.Plural(r.Members, "member", "members"),
		terminal.Plural(r.Lines, "line", "lines"), terminal.Plural(r.Bytes, "byte", "bytes"), terminal.FormatCount(r.Compressed))
	switch {
	case r.Leftover:
		text += ", left over from a crash: safe to remove"
	case r.Unverified:
		text += ", unverified raw records of a damaged input"
	case r.PutAside:
		text += ", quarantined because it was damaged: inspect it before removing it"
	case r.Unfinished:
		text += ", unfinished"
	}
	if r.TornBytes > 0 {
		text += ", " + terminal.Plural(r.TornBytes, "byte", "bytes") + " after the last complete member or line"
	}
	return text
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	sink "github.com/urlfold/urlfold/sinks/file"
)

const verifyLong = `Read files to the end and check every member, frame and checksum. The files may be outputs of urlfold or any other
files. For each file, print the number of members, lines and bytes, and the position of any damage. Search directories
recursively.

Exit codes: 0 all files are intact, 1 fatal error, 2 a path does not exist, 4 a file is not intact.`

const verifyExamples = `  urlfold verify clean.log.zst
  urlfold verify --quiet /data/clean     print only files that are not intact`

func newVerifyCmd() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify [flags] FILE|DIR...",
		Short: "Check the integrity of output files and archives",
		Long:  verifyLong, Example: verifyExamples,
		Args: verifyArgs,
		RunE: func(cmd *cobra.Command, paths []string) error {
			bad := 0
			err := sink.Verify(cmd.Context(), paths, func(r sink.Report) error {
				if !r.Intact() {
					bad++
				} else if quiet {
					return nil
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", terminal.OneLine(r.Path), terminal.Printable(reportText(&r)))
				return err
			})
			if err == nil && bad > 0 {
				err = &exitError{code: exitFailOn, err: fmt.Errorf("%s not intact", terminal.Plural(int64(bad), "file is", "files are"))}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only files that are not intact")
	return cmd
}

// verifyArgs rejects paths that do not exist, before anything is read. It does
// not repeat an argument that looks like a URL, which may contain a password.
func verifyArgs(_ *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return usage(errors.New("verify: missing argument: FILE or DIR"))
	}
	var bad mistakes
	for i, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.Contains(path, "://") {
			path = fmt.Sprintf("argument %d", i+1)
		}
		bad.add("", fmt.Errorf("no such input: %s: file does not exist", path))
	}
	return bad.err()
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

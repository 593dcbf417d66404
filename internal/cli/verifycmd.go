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

const verifyLong = `verify reads files that were written, or any others, to their ends: every member and frame, every checksum. It tells how
many members, lines and bytes there are, and where a file is damaged, torn or unfinished. Folders are read with all below
them. It exits with 4 if a file is not sound, and with 2 if there is none of a name.`

func newVerifyCmd() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR...",
		Short: "Check files that were written: checksums, members, records",
		Long:  verifyLong,
		Args:  verifyArgs,
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
				err = &exitError{code: exitFailOn, err: fmt.Errorf("%s not sound", terminal.Plural(int64(bad), "file is", "files are"))}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "tell only of files that are not sound")
	return cmd
}

// verifyArgs refuses paths of which nothing is there, before anything is read. One
// that looks like a URL is not repeated: it may hold a password.
func verifyArgs(_ *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return usage(errors.New("verify needs a FILE or DIR"))
	}
	var bad mistakes
	for i, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.Contains(path, "://") {
			path = fmt.Sprintf("argument %d", i+1)
		}
		bad.add("", fmt.Errorf("no such input: %s: no such file or folder", path))
	}
	return bad.err()
}

// reportText tells what was found out about a file, in one line.
func reportText(r *sink.Report) string {
	if r.Verdict.Kind == compress.Unreadable {
		return r.Verdict.String()
	}
	text := fmt.Sprintf("%s, %d members, %d lines, %d bytes, %d compressed", r.Verdict, r.Members, r.Lines, r.Bytes, r.Compressed)
	switch {
	case r.Leftover:
		text += ", left over: it can be removed"
	case r.Unverified:
		text += ", raw records of a damaged input that no checksum verifies"
	case r.PutAside:
		text += ", put aside because it was damaged: look at it before you remove it"
	case r.Unfinished:
		text += ", unfinished"
	}
	if r.TornBytes > 0 {
		text += fmt.Sprintf(", %d bytes behind the last complete member or line", r.TornBytes)
	}
	return text
}

package service

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

const stateLong = `Inspect or reset the checkpoints that "urlfold run" has stored. For each input file, a checkpoint contains the offset up
to which its records are durable in the outputs. For each output file, it contains the length.

"ls" and "show" only read, and you can use them while the daemon runs. "reset" locks the data directory, so stop the
daemon first.`

const stateExamples = `  urlfold state ls -c urlfold.yaml
  urlfold state show --data-dir /var/lib/urlfold | jq .entries
  urlfold state reset -c urlfold.yaml '/var/log/nginx/*.log'`

func newState(cat *daemon.Catalog) *cobra.Command {
	cmd := &cobra.Command{Use: "state", Short: "Inspect or reset stored checkpoints", Long: stateLong, Example: stateExamples}
	d := newDataFlags(cmd, cat)
	return command.WithCommands(cmd,
		&cobra.Command{
			Use: "ls", Short: "List files with their offsets", Args: command.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return d.show(cmd, listState) },
		},
		&cobra.Command{
			Use: "show", Short: "Print the stored state as JSON", Args: command.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return d.show(cmd, showState) },
		},
		&cobra.Command{
			Use: "reset PATH|GLOB", Short: "Delete the checkpoints of files, so that the next run reads them from the start",
			Args: oneGlob,
			RunE: func(cmd *cobra.Command, args []string) error {
				dir, err := d.open()
				if err != nil {
					return err
				}
				n, err := checkpoint.Reset(dir, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "reset %s\n", terminal.Plural(int64(n), "checkpoint", "checkpoints"))
				return err
			},
		},
	)
}

// dataFlags say where the data directory of a daemon is.
type dataFlags struct {
	cat       *daemon.Catalog
	file, dir string
}

// newDataFlags adds the flags to a command and its subcommands.
func newDataFlags(cmd *cobra.Command, cat *daemon.Catalog) *dataFlags {
	d := &dataFlags{cat: cat}
	cmd.PersistentFlags().StringVarP(&d.file, "config", "c", "", "read the path of the data directory from this configuration `FILE`")
	cmd.PersistentFlags().StringVar(&d.dir, "data-dir", "", "use this data `DIRECTORY` instead of the one in a configuration")
	_ = cmd.MarkPersistentFlagDirname("data-dir") // the flag exists
	return d
}

// open returns the data directory.
func (d *dataFlags) open() (string, error) {
	if d.dir != "" {
		if _, err := os.Stat(d.dir); err != nil {
			return "", command.Usage(fmt.Errorf("--data-dir: %w", err))
		}
		return d.dir, nil
	}
	if d.file == "" {
		return "", command.Usage(errors.New("missing required flag: -c/--config FILE, or --data-dir DIRECTORY"))
	}
	f, err := loadConfig(d.cat, d.file)
	if err != nil {
		return "", err
	}
	return f.DataDir, nil
}

// oneGlob requires exactly one argument: a path or a valid glob.
func oneGlob(_ *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return errors.New("reset: want one PATH or GLOB (see 'urlfold state ls' for the paths)")
	case !doublestar.ValidatePathPattern(args[0]):
		return fmt.Errorf("reset: invalid glob %q", args[0])
	}
	return nil
}

// show reads the stored state and passes it to a function that prints it.
func (d *dataFlags) show(cmd *cobra.Command, show func(io.Writer, checkpoint.Contents) error) error {
	dir, err := d.open()
	if err == nil {
		err = checkpoint.Readable(dir)
	}
	if err != nil {
		return err
	}
	c, warnings := checkpoint.List(dir)
	for _, w := range warnings {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "urlfold: %s\n", w); err != nil {
			return err
		}
	}
	return show(cmd.OutOrStdout(), c)
}

func listState(w io.Writer, c checkpoint.Contents) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) // Flush returns the error
	_, _ = fmt.Fprintln(tw, "STATE\tOFFSET\tNEXT LINE\tVERDICT\tSOURCE\tFILE")
	for _, e := range c.Entries {
		_, _ = fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s\n", e.State, e.Offset, e.Line, cmp.Or(e.Verdict, "-"), e.Source, terminal.OneLine(e.Path))
	}
	for _, m := range c.Extents {
		_, _ = fmt.Fprintf(tw, "output\t%d\t-\t-\t%s\t%s\n", m.Length, m.Sink, terminal.OneLine(m.Path))
	}
	return tw.Flush()
}

func showState(w io.Writer, c checkpoint.Contents) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	all := struct {
		Entries []checkpoint.Entry `json:"entries"`
		Extents []shownExtent      `json:"extents"`
		Keys    json.RawMessage    `json:"keys,omitempty"` // the set of dedupe
	}{append([]checkpoint.Entry{}, c.Entries...), []shownExtent{}, json.RawMessage(c.Keys)}
	for _, m := range c.Extents {
		all.Extents = append(all.Extents, shownExtent(m))
	}
	return enc.Encode(all)
}

// A shownExtent is a engine.Extent with JSON names in the style of the
// entries.
type shownExtent struct {
	Sink   string `json:"sink"`
	Lane   string `json:"lane,omitempty"` // the id of an entry
	Path   string `json:"path"`
	Length int64  `json:"length"`
}

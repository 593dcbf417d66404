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

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

const daemonLong = `Look at a daemon that "urlfold run" has started, or at its stored state. "tap" and "monitor" connect to a
running daemon. You can also run "state", which reads the data directory, while the daemon runs. "reset" locks the data
directory, so stop the daemon first. "enqueue" publishes a message about each object of a bucket to the queue of a
configuration.`

// newDaemon returns the command whose subcommands inspect a daemon.
func newDaemon(c *daemon.Catalog) *cobra.Command {
	return command.WithCommands(&cobra.Command{
		Use: "daemon", Short: "Look at a running daemon, or at its stored state", Long: daemonLong,
	}, newTap(c), newMonitor(c), newState(c), newReset(c), newEnqueue(c))
}

const stateLong = `List the checkpoints that "urlfold run" has stored. For each input file, a checkpoint contains the offset up to which its
records are durable in the outputs. For each output file, it contains the length.`

func newState(cat *daemon.Catalog) *cobra.Command {
	var form command.Form
	cmd := &cobra.Command{
		Use: "state [flags]", Short: "List the stored checkpoints of files", Long: stateLong, Args: command.NoArgs,
		Example: `  urlfold daemon state -c urlfold.yaml
  urlfold daemon state --to json --data-dir /var/lib/urlfold | jq .entries`,
	}
	d := newDataFlags(cmd, cat)
	form.Register(cmd, "write this `format`: table, or json, which has everything", "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if form.Name == "json" {
			return d.show(cmd, showState)
		}
		return d.show(cmd, listState)
	}
	return cmd
}

const resetLong = `Delete the checkpoints of the files that match a path or pattern, so that the next run reads them from the start, and
empty the set of keys that dedupe has stored. A relative path is relative to the working directory. With --dedupe-only,
only empty the set of keys: then the next record of each key is written again, although an earlier run has written the
key.

If the configuration has dedupe.changelog, --dedupe-only is an error: stop all instances, and delete the topic of the
changelog or name another one.`

func newReset(cat *daemon.Catalog) *cobra.Command {
	var keys bool
	cmd := &cobra.Command{
		Use: "reset [flags] PATH|GLOB", Short: "Delete stored checkpoints, or the stored set of keys", Long: resetLong,
		Example: `  urlfold daemon reset -c urlfold.yaml '/var/log/nginx/*.log'
  urlfold daemon reset -c urlfold.yaml --dedupe-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			if keys {
				return command.NoArgs(cmd, args)
			}
			return oneGlob(cmd, args)
		},
	}
	d := newDataFlags(cmd, cat)
	cmd.Flags().BoolVar(&keys, "dedupe-only", false, "empty the set of dedupe keys, and keep the checkpoints")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := d.open()
		if err != nil {
			return err
		}
		var text string
		if keys {
			text, err = d.resetKeys(dir)
		} else {
			var n int
			n, err = checkpoint.Reset(dir, args[0])
			text = "reset " + terminal.Plural(int64(n), "checkpoint", "checkpoints")
		}
		if err == nil {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		}
		return err
	}
	return cmd
}

// resetKeys empties the set of keys in a data directory and returns a sentence about
// the result.
func (d *dataFlags) resetKeys(dir string) (string, error) {
	if err := d.elsewhere(); err != nil {
		return "", err
	}
	found, err := checkpoint.ResetKeys(dir)
	if found {
		return "set of keys emptied", err
	}
	return "no set of keys is stored", err
}

// dataFlags name the data directory of a daemon.
type dataFlags struct {
	cat       *daemon.Catalog
	cmd       *cobra.Command
	file, dir string
	conf      *config.File // set by load
}

// load returns the configuration.
func (d *dataFlags) load() (_ *config.File, err error) {
	if d.conf == nil {
		d.conf, err = loadConfig(d.cat, d.file, d.cmd.InOrStdin())
	}
	return d.conf, err
}

// newDataFlags adds the options to a command.
func newDataFlags(cmd *cobra.Command, cat *daemon.Catalog) *dataFlags {
	d := &dataFlags{cat: cat, cmd: cmd}
	cmd.Flags().StringVarP(&d.file, "config", "c", "", "read the path of the data directory from this configuration `FILE`")
	cmd.Flags().StringVar(&d.dir, "data-dir", "", "use this data `DIRECTORY` instead of the data directory of a configuration")
	_ = cmd.MarkFlagDirname("data-dir") // the flag exists
	return d
}

// open returns the data directory.
func (d *dataFlags) open() (string, error) {
	if d.dir != "" {
		if _, err := os.Stat(d.dir); err != nil {
			return "", command.Usagef("--data-dir: cannot read %s: %w", d.dir, errors.Unwrap(err))
		}
		return d.dir, nil
	}
	if configFile(d.file) == "" {
		return "", command.Usagef("missing required option: -c/--config FILE, or --data-dir DIRECTORY")
	}
	f, err := d.load()
	if err != nil {
		return "", err
	}
	return f.DataDir, nil
}

// oneGlob requires exactly one argument: a path or a valid glob.
func oneGlob(_ *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return errors.New("reset: want one PATH or GLOB (see 'urlfold daemon state' for the paths)")
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
		Keys    json.RawMessage    `json:"keys,omitempty"` // the dedupe keys
	}{append([]checkpoint.Entry{}, c.Entries...), []shownExtent{}, json.RawMessage(c.Keys)}
	for _, m := range c.Extents {
		all.Extents = append(all.Extents, shownExtent(m))
	}
	return enc.Encode(all)
}

// A shownExtent is an engine.Extent with JSON names in the style of the
// entries.
type shownExtent struct {
	Sink   string `json:"sink"`
	Lane   string `json:"lane,omitempty"` // the id of an entry
	Path   string `json:"path"`
	Length int64  `json:"length"`
	End    string `json:"end,omitempty"`
	Begin  int64  `json:"begin,omitempty"`
}

// elsewhere returns an error if the configuration stores the dedupe keys in a
// bucket or a topic.
func (d *dataFlags) elsewhere() error {
	if configFile(d.file) == "" {
		return nil
	}
	f, err := d.load()
	switch {
	case err != nil || f.Dedupe == nil:
		return err
	case f.Dedupe.Bucket != "" && d.dir == "":
		bucket := f.Dedupe.Bucket
		return fmt.Errorf("the keys are in the bucket %q: delete it with nats kv rm %s, or name another bucket in dedupe.bucket", bucket, bucket)
	case f.Dedupe.Changelog != nil:
		return f.ErrorAt("dedupe.changelog.topic", fmt.Errorf("the keys are in the topic %s: stop all instances, and delete the topic or name another one", f.Dedupe.Changelog.Topic))
	}
	return nil
}

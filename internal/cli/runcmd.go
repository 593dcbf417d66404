package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
)

const runLong = `run reads records from the sources of a configuration and writes them to its sinks until it is told to stop, or until
the sources are at their end. SIGTERM and SIGINT stop it when all that was read is durable; a second one stops it at once.
SIGHUP reads the configuration again: what changes rules is put in force between two batches, what changes sources or sinks
drains the pipeline and starts the next one. A configuration with a mistake changes nothing.`

// runFlags are the flags of urlfold run.
type runFlags struct {
	file     string
	untilEOF bool
	watch    bool
	dryRun   bool
}

func newRunCmd(c *daemon.Catalog) *cobra.Command {
	o := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run -c FILE",
		Short: "Run a configuration: the daemon",
		Long:  runLong,
		Example: `  urlfold run -c urlfold.yaml
  urlfold run -c urlfold.yaml --until-eof    what is there, and no more
  urlfold run -c urlfold.yaml --dry-run      read files as it would, write nothing, say what it would do`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDaemon(cmd, c, o) },
	}
	configFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.untilEOF, "until-eof", false, "end when all that is there was read: files, partitions and streams to their ends")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "read the configuration again when its file changes, as on SIGHUP; profiles, lists and ${file:} that it names are not watched")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "read all files to their ends with sinks that write nothing, store no progress, and tell the figures; the exit code is that of a run")
	return cmd
}

// configFlag adds the flag for the configuration, which is required.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", "", "the configuration `FILE`")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // the flag exists
}

// loadConfig reads a configuration.
func loadConfig(c *daemon.Catalog, file string) (*config.File, error) {
	if file == "" {
		return nil, usage(errors.New("missing required flag: -c/--config FILE"))
	}
	f, err := c.Load(file)
	if err != nil {
		return nil, badConfig(err)
	}
	return f, nil
}

// runDaemon runs a configuration.
func runDaemon(cmd *cobra.Command, c *daemon.Catalog, o *runFlags) error {
	sig := watchSignals()
	defer sig.stop()
	var d *daemon.Daemon
	there := make(chan struct{}) // closed when d is
	defer onHangup(func() {
		select {
		case <-there:
			d.Reload()
		case <-sig.quit:
		}
	})()
	loaded := stampOf(o.file) // before it is read: a change meanwhile is seen
	f, err := loadConfig(c, o.file)
	if err != nil {
		return err
	}
	if o.dryRun {
		return dryRun(sig.soft, cmd, c, f)
	}
	d, err = c.New(f, daemon.Options{
		Load:     func() (*config.File, error) { return c.Load(o.file) },
		UntilEOF: o.untilEOF, Version: version(), Log: terminal.Writer(cmd.ErrOrStderr()),
		Stdin: cmd.InOrStdin(), Stdout: terminal.Writer(cmd.OutOrStdout()),
	})
	var few *daemon.LimitError
	switch {
	case errors.As(err, &few):
		return &exitError{code: exitUsage, err: err, see: "docs/operations.md, Sizing, says what descriptors are needed for."}
	case err != nil:
		return err
	}
	close(there)
	go sig.onSecond(d.HardStop)
	if o.watch {
		ctx, cancel := context.WithCancel(sig.soft)
		defer cancel()
		go watchFile(ctx, o.file, loaded, d.Reload)
	}
	err = d.Run(sig.soft)
	return daemonExit(d, err, sig.soft.Err() != nil)
}

// daemonExit is the exit code of a run, as an error. One that was told to stop has
// done what it was told, whatever became of files before.
func daemonExit(d *daemon.Daemon, err error, told bool) error {
	var mistake *config.Error
	switch {
	case errors.Is(err, sinkfile.ErrClosedPipe):
		return nil // the reader of stdout has seen enough, as in "urlfold run … | head"
	case errors.As(err, &mistake):
		return badConfig(err)
	case errors.Is(err, pipeline.ErrDeadline):
		return &exitError{code: exitCut, err: err}
	case err != nil:
		return atStart(err)
	case !told:
		return lossExit(droppedExit(d.Dropped()), damageExit(d.Damaged()))
	}
	return nil
}

// atStart gives an error the exit code of a mistake in the configuration, if it is
// one that only a connection could show, and nothing has run yet.
func atStart(err error) error {
	if errors.As(err, new(*pipeline.OpenError)) && errors.As(err, new(interface{ Misconfigured() })) {
		return badConfig(err)
	}
	return err
}

// lossExit makes one error of two, either of which may be nil.
func lossExit(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &exitError{code: exitFailOn, err: fmt.Errorf("%w; %w", a, b)}
}

// droppedExit is the exit code of a run that has come to the end of its input, and
// has dropped so many records that sinks refused.
func droppedExit(records int64) error {
	if records == 0 {
		return nil
	}
	return &exitError{code: exitFailOn, err: fmt.Errorf("%s dropped: sinks refused them for good (pipeline.on_refused: drop)", terminal.Plural(records, "record was", "records were"))}
}

// damageExit is the exit code of a run that has come to the end of its input, with so
// many damaged files in it.
func damageExit(files int64) error {
	if files == 0 {
		return nil
	}
	return &exitError{code: exitFailOn, err: fmt.Errorf("%s damaged: the log has the verdicts", terminal.Plural(files, "file was", "files were"))}
}

// watchFile calls changed when the file has another time or size than last, and again
// at each change after that. It looks once a second: that is soon enough, and works on
// every file system.
func watchFile(ctx context.Context, name string, last stamp, changed func()) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		if now := stampOf(name); now != last && now != (stamp{}) {
			last = now
			changed()
		}
	}
}

// A stamp changes when a file is written.
type stamp struct {
	mtime int64
	size  int64
}

func stampOf(name string) stamp {
	fi, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{fi.ModTime().UnixNano(), fi.Size()}
}

// dryRun tells what a run would do with the files that are there, and ends as that
// would.
func dryRun(ctx context.Context, cmd *cobra.Command, c *daemon.Catalog, f *config.File) error {
	r, err := c.DryRun(ctx, f, cmd.ErrOrStderr())
	var mistake *config.Error
	switch {
	case errors.As(err, &mistake):
		return badConfig(err)
	case err != nil:
		return err
	}
	w := cmd.OutOrStdout()
	s := r.Snapshot
	_, err = fmt.Fprintf(w, "read %d records with %d URLs; %d URLs would change, %d have flags\n"+
		"%d records would go on, %d be dropped, %d go to the dead letter\n",
		s.Ledger.Read, s.Stats.URLs, s.Stats.Changed, s.Stats.Flagged, s.Ledger.Emitted, s.Ledger.Dropped, s.Ledger.Dead)
	for _, file := range r.Files {
		if file.Verdict.Kind != compress.OK && err == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", terminal.OneLine(file.Path), terminal.Printable(file.Verdict.String()))
		}
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	return damageExit(r.Damaged())
}

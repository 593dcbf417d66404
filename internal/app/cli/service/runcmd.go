// Package service has the commands of the daemon: run, commands for its
// configuration and its stored state, and commands that query a running daemon.
//
// # Files
//
//	runcmd.go, watch.go               run; when its configuration changes
//	runoptions.go                     where its configuration is
//	hangup_unix.go, hangup_other.go   the signal to reload it
//	initcmd.go, initconfig.go         init: options, and the text that it writes
//	configcheck.go                    check -c
//	daemoncmd.go                      daemon, and its commands for stored state
//	enqueuecmd.go                     daemon enqueue
//	adminclient.go                    requests to a running daemon
//	monitorcmd.go, tapcmd.go          commands that show a running daemon
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
)

// Commands returns the commands for a daemon with the components of c. detect finds the
// format of files.
func Commands(c *daemon.Catalog, version string, detect Detector) []command.Sub {
	return []command.Sub{
		{Name: "run", Create: func() *cobra.Command { return newRun(c, version, detect) }},
		{Name: "init", Create: func() *cobra.Command { return newInit(c, detect) }},
		{Name: "daemon", Create: func() *cobra.Command { return newDaemon(c) }},
	}
}

const runLong = `Run the pipeline of a configuration as a daemon: read records from its sources, normalize their URLs, and write them to
its sinks. Stop when the sources end or a signal arrives. The default of --config is $URLFOLD_CONFIG, or else
/etc/urlfold/urlfold.yaml.

INPUT and options can take the place of a configuration. run then uses the configuration that "urlfold init" would write,
and stores checkpoints and dead letters below $XDG_STATE_HOME/urlfold.

On SIGTERM or SIGINT, stop reading, and exit when every record that was read is durable. On a second SIGINT, or a SIGTERM
at least 5 s after the first signal, exit without waiting. Signals within 500 ms count as one. On SIGHUP, reload the
configuration: apply new rules from the next batch on, and replace changed sources or sinks after the pipeline has drained.
If the new configuration is invalid, log its errors and keep the old one.`

// runFlags are the options of urlfold run.
type runFlags struct {
	plan     // of a run without a file
	file     string
	untilEOF bool
	watch    bool
	dryRun   bool
}

// newRun returns the command that runs the daemon of a program with this version.
func newRun(c *daemon.Catalog, version string, detect Detector) *cobra.Command {
	o := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [-c FILE | INPUT -o PLACE]",
		Short: "Run the pipeline of a configuration as a daemon",
		Long:  runLong,
		Example: `  urlfold run -c urlfold.yaml
  urlfold run -c urlfold.yaml --until-eof    process the existing input, then exit
  urlfold run -c urlfold.yaml --dry-run      read the files, write nothing, print the counts
  urlfold run --follow access.log -o kafka://localhost:9092/web`,
		Args: command.WantArgs(0, 1, "run: takes one INPUT; quote a glob, so that the shell does not expand it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			load, err := o.loader(cmd, c, detect, args)
			if err == nil {
				err = runDaemon(cmd, c, o, load, version)
			}
			if e := new(command.Error); errors.As(err, &e) && e.Code == command.ExitUsage && len(args) == 0 && o.file != "" {
				e.Code = command.ExitConfig
			}
			return err
		},
	}
	configFlag(cmd, &o.file)
	cmd.Flags().BoolVar(&o.untilEOF, "until-eof", false, "exit when all files, partitions and streams have been read to their current ends")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "reload the configuration, as on SIGHUP, when the configuration file or a file that it names changes: a profile, a list, or ${file:PATH}")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "read all files to the end, write nothing, store no checkpoints, and print the counts. The exit code is the same as for a real run")
	cmd.Flags().BoolVar(&o.follow, "follow", false, "with INPUT, keep reading files as they grow. Default: read each file once, then exit")
	o.register(cmd.Flags(), "a folder below $XDG_STATE_HOME/urlfold for this INPUT and --output")
	return cmd
}

// configFlag adds the --config option.
func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", "", "read the configuration from this YAML `FILE`; - is stdin. Default: $URLFOLD_CONFIG, or else "+systemConfig)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // the flag exists
}

// runDaemon runs the daemon until its sources end or a signal stops it.
func runDaemon(cmd *cobra.Command, c *daemon.Catalog, o *runFlags, load loader, version string) (err error) {
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	var d *daemon.Daemon
	there := make(chan struct{}) // closed when d is set
	defer onHangup(cmd.Context(), func() {
		select {
		case <-there:
			d.Reload()
		case <-sig.Quit:
		}
	})()
	w := &watched{load: load}
	f, err := loader(w.Load).load()
	if err != nil {
		return err
	}
	if o.dryRun {
		return dryRun(sig.Soft, cmd, c, f)
	}
	defer func() { err = inLog(cmd, f, err) }()
	d, err = c.New(f, daemon.Options{
		Load:     w.Load,
		UntilEOF: o.untilEOF, Version: version, Config: cmp.Or(o.file, "options"), Log: terminal.Writer(cmd.ErrOrStderr()),
		Stdin: cmd.InOrStdin(), Stdout: terminal.Writer(cmd.OutOrStdout()),
	})
	var few *daemon.LimitError
	switch {
	case errors.As(err, &few):
		return &command.Error{Code: command.ExitUsage, Err: err, See: "'urlfold help operations', Sizing, says what descriptors are needed for."}
	case errors.As(err, new(*daemon.StateError)):
		return &command.Error{Code: command.ExitConfig, Err: err}
	case err != nil:
		return err
	}
	close(there)
	go sig.OnSecond(d.HardStop)
	if o.watch {
		ctx, cancel := context.WithCancel(sig.Soft)
		defer cancel()
		go w.watch(ctx, d.Reload)
	}
	return runError(sig.Soft, d, d.Run(sig.Soft))
}

// inLog returns err, the reason why the process exits. If the log has JSON lines, inLog
// writes err to the log, and the result has only the exit code.
func inLog(cmd *cobra.Command, f *config.File, err error) error {
	if err == nil || f.Log.Format != "json" {
		return err
	}
	e := &command.Error{Code: command.ExitFatal}
	if errors.As(err, &e); e.Code == command.ExitUsage {
		e.Code = command.ExitConfig
	}
	daemon.LogExit(f, terminal.Writer(cmd.ErrOrStderr()), e.Code, err)
	return &command.Error{Code: e.Code}
}

// runError returns err, the result of d.Run, with its exit code.
func runError(stop context.Context, d *daemon.Daemon, err error) error {
	var mistake *config.Error
	switch {
	case errors.Is(err, sinkfile.ErrClosedPipe):
		return nil // the reader of stdout has gone, as in "urlfold run … | head"
	case errors.As(err, &mistake):
		return command.BadConfig(err)
	case errors.Is(err, engine.ErrDeadline):
		return &command.Error{Code: command.ExitCut, Err: err}
	case errors.As(err, new(*engine.OpenError)) && errors.As(err, new(interface{ Misconfigured() })):
		return command.BadConfig(err) // for example, a topic does not exist
	case err != nil || stop.Err() != nil: // after a signal, damaged files do not count as an error
		return err
	}
	dropped, damaged := droppedExit(d.Dropped()), damageExit(d.Damaged())
	if dropped == nil || damaged == nil {
		return cmp.Or(dropped, damaged)
	}
	return &command.Error{Code: command.ExitFailOn, Err: fmt.Errorf("%w; %w", dropped, damaged)}
}

// droppedExit returns the error for a finished run that dropped records which
// sinks refused, or nil if it dropped none.
func droppedExit(records int64) error {
	if records == 0 {
		return nil
	}
	return &command.Error{Code: command.ExitFailOn, Err: fmt.Errorf("%s dropped after a sink refused them permanently (on_error.refused: drop)", terminal.Plural(records, "record", "records"))}
}

// damageExit returns the error for a finished run that met damaged files, or
// nil if there were none.
func damageExit(files int64) error {
	if files == 0 {
		return nil
	}
	return &command.Error{Code: command.ExitFailOn, Err: fmt.Errorf("%s damaged; see the log for details", terminal.Plural(files, "input file is", "input files are"))}
}

// dryRun prints what a run would do with the existing files. The result has the
// exit code of that run.
func dryRun(ctx context.Context, cmd *cobra.Command, c *daemon.Catalog, f *config.File) error {
	r, err := c.DryRun(ctx, f, cmd.ErrOrStderr())
	var mistake *config.Error
	switch {
	case errors.As(err, &mistake):
		return command.BadConfig(err)
	case err != nil:
		return err
	}
	w := cmd.OutOrStdout()
	s := r.Snapshot
	_, err = fmt.Fprintf(w, "read %d records with %d URLs: %d URLs would change, %d URLs have flags\n"+
		"%d records would be written, %d dropped, %d dead-lettered\n",
		s.Ledger.Read, s.Stats.URLs, s.Stats.Changed, s.Stats.Flagged, s.Ledger.Emitted, s.Ledger.Dropped, s.Ledger.Dead)
	if f.Dedupe != nil && err == nil {
		_, err = fmt.Fprintf(w, "%d duplicates would be dropped\n", s.Ledger.Duplicates)
	}
	for _, sink := range s.Sinks {
		if len(f.Route) > 0 && !sink.Dead && err == nil {
			_, err = fmt.Fprintf(w, "%s: %d records\n", sink.Name, sink.Records)
		}
	}
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

package service

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// A ConfigCheck holds the options of a check of a configuration.
type ConfigCheck struct {
	File          string
	connect, show bool
}

// Register adds the options to a command.
func (o *ConfigCheck) Register(cmd *cobra.Command) {
	configFlag(cmd, &o.File)
	f := cmd.Flags()
	f.Lookup("config").Usage = "check this configuration `FILE` and run its test cases"
	f.BoolVar(&o.connect, "connect", false, "also connect to the brokers and servers, and check that the output files can be created")
	f.BoolVar(&o.show, "show", false, "print the configuration, with all defaults filled in and secrets redacted")
}

// Run checks the configuration and runs its test cases. It passes the parameter
// lists of the configuration to warnOld, in the form that params.Matcher.Versions
// returns. warnOld prints a warning for each list that is outdated.
func (o *ConfigCheck) Run(cmd *cobra.Command, c *daemon.Catalog, warnOld func(cmd *cobra.Command, lists string) error) error {
	f, err := loadConfig(c, o.File, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if err := printWarnings(cmd, daemon.Warnings(f)); err != nil {
		return err
	}
	_, policy := f.Codec.Resolve()
	if err := warnOld(cmd, policy.Params.Versions()); err != nil {
		return err
	}
	if o.connect {
		if err := checkConnect(cmd, c, f); err != nil {
			return err
		}
	}
	text := o.File + ": configuration is valid\n"
	if len(f.Tests) > 0 {
		if err := runTests(c, f); err != nil {
			return err
		}
		text += fmt.Sprintf("%s: %s\n", o.File, terminal.Plural(int64(len(f.Tests)), "test case passed", "test cases passed"))
	}
	if o.show {
		text = f.String()
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// runTests runs the test cases of a configuration.
func runTests(c *daemon.Catalog, f *config.File) error {
	failed, err := c.RunTests(f)
	if err == nil {
		return nil
	}
	e := &command.Error{Code: command.ExitFatal, Err: err}
	if failed > 0 {
		e.Head = fmt.Sprintf("%d of %s failed", failed, terminal.Plural(int64(len(f.Tests)), "test case", "test cases"))
	}
	return e
}

// checkConnect connects to all sources and sinks of f and prints the warnings.
func checkConnect(cmd *cobra.Command, c *daemon.Catalog, f *config.File) error {
	warnings, err := c.Check(cmd.Context(), f)
	if e := printWarnings(cmd, warnings); e != nil {
		return e
	}
	if errors.As(err, new(interface{ Misconfigured() })) {
		return command.BadConfig(err)
	}
	return err
}

// printWarnings writes warnings to stderr.
func printWarnings(cmd *cobra.Command, warnings []*config.Error) error {
	for _, w := range warnings {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "urlfold: warning: %s\n", terminal.Printable(w.Error())); err != nil {
			return err
		}
	}
	return nil
}

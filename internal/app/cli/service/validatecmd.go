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

// newValidate returns the command that checks a configuration. warnOld warns of lists
// of parameters, given by their versions, that are old.
func newValidate(c *daemon.Catalog, warnOld func(cmd *cobra.Command, lists string) error) *cobra.Command {
	var file string
	var connect, show bool
	cmd := &cobra.Command{
		Use:   "validate -c FILE",
		Short: "Check a configuration and report all errors in it",
		Long: `Check a configuration and report all errors in it, each with its file, line and column. Without --connect, read only the
configuration and the files that it refers to, and write nothing.`,
		Example: `  urlfold validate -c urlfold.yaml
  urlfold validate -c urlfold.yaml --connect    also test brokers, servers and output directories
  urlfold validate -c urlfold.yaml --show       print the effective configuration`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadConfig(c, file)
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
			if connect {
				if err := checkConnect(cmd, c, f); err != nil {
					return err
				}
			}
			if show {
				_, err = io.WriteString(cmd.OutOrStdout(), f.String())
			} else {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: configuration is valid\n", file)
			}
			return err
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&connect, "connect", false, "also connect to the brokers and servers, and check that the output files can be created")
	cmd.Flags().BoolVar(&show, "show", false, "print the configuration, with all defaults filled in and secrets masked")
	return cmd
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

func newTest(c *daemon.Catalog) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "test -c FILE",
		Short: "Run the test cases of a configuration",
		Long: `Run the test cases under "tests" in a configuration: normalize each input and compare the result with the expected one.
Read only the configuration and the files that it refers to, and write nothing.`,
		Example: `  urlfold test -c urlfold.yaml`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadConfig(c, file)
			if err != nil {
				return err
			}
			if failed, err := c.RunTests(f); err != nil {
				e := &command.Error{Code: command.ExitFatal, Err: err}
				if failed > 0 {
					e.Head = fmt.Sprintf("%d of %s failed", failed, terminal.Plural(int64(len(f.Tests)), "test case", "test cases"))
				}
				return e
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", file, terminal.Plural(int64(len(f.Tests)), "test case passed", "test cases passed"))
			return err
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func newSchema(c *daemon.Catalog) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configurations",
		Long: `Print the JSON Schema (2020-12) of configuration files. Editors use it for completion and validation: save it as
urlfold.schema.json and make "# yaml-language-server: $schema=urlfold.schema.json" the first line of a configuration.`,
		Example: `  urlfold schema > urlfold.schema.json`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := config.Schema(c.Types())
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/terminal"
)

func newValidateCmd(c *daemon.Catalog) *cobra.Command {
	var file string
	var connect, show bool
	cmd := &cobra.Command{
		Use:   "validate -c FILE",
		Short: "Check a configuration and report all mistakes in it",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadConfig(c, file)
			if err != nil {
				return err
			}
			if err := printWarnings(cmd, daemon.Warnings(f)); err != nil {
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
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: all is well\n", file)
			}
			return err
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&connect, "connect", false, "connect to brokers and servers, too, and look whether files can be made where they are to be")
	cmd.Flags().BoolVar(&show, "show", false, "print the configuration with all defaults, without secrets")
	return cmd
}

// checkConnect connects to all that f names, and tells what could be better.
func checkConnect(cmd *cobra.Command, c *daemon.Catalog, f *config.File) error {
	warnings, err := c.Check(cmd.Context(), f)
	if e := printWarnings(cmd, warnings); e != nil {
		return e
	}
	if errors.As(err, new(interface{ Misconfigured() })) {
		return badConfig(err)
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

func newTestCmd(c *daemon.Catalog) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "test -c FILE",
		Short: "Run the cases inside a configuration",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadConfig(c, file)
			if err != nil {
				return err
			}
			if failed, err := c.RunTests(f); err != nil {
				e := &exitError{code: exitFatal, err: err}
				if failed > 0 {
					e.head = fmt.Sprintf("%d of %s failed", failed, terminal.Plural(int64(len(f.Tests)), "case", "cases"))
				}
				return e
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", file, terminal.Plural(int64(len(f.Tests)), "case holds", "cases hold"))
			return err
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func newSchemaCmd(c *daemon.Catalog) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configurations",
		Long: `schema prints the JSON Schema (2020-12) of configurations, made of the same structs that read them. Editors use it to
complete and to check: write "# yaml-language-server: $schema=urlfold.schema.json" into the first line of a configuration.`,
		Args: noArgs,
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

// dataDir returns the data directory that is meant: that of a configuration, or the
// one given.
func dataDir(c *daemon.Catalog, file, dir string) (string, error) {
	if dir != "" {
		_, err := os.Stat(dir)
		if err != nil {
			return "", usage(err)
		}
		return dir, nil
	}
	if file == "" {
		return "", usage(errors.New("missing required flag: -c/--config FILE, or --data-dir DIRECTORY"))
	}
	f, err := loadConfig(c, file)
	if err != nil {
		return "", err
	}
	return f.DataDir, nil
}

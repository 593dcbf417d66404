package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// A Sub creates a subcommand, which has the given name.
type Sub struct {
	Name   string
	Create func() *cobra.Command
}

// NoArgs rejects any positional argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if cmd.Flag("config") != nil {
		hint = "; pass the configuration with -c FILE"
	}
	return fmt.Errorf("%s: takes no arguments, got %d%s", cmd.Name(), len(args), hint)
}

// WantArgs returns a check of the number of arguments, which must be from least
// to most. The error of the check has the given text.
func WantArgs(least, most int, text string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return errors.New(text)
		}
		return nil
	}
}

// WithCommands makes cmd a command that only contains others.
func WithCommands(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.Args = func(cmd *cobra.Command, args []string) error { // each argument is an unknown command
		if len(args) == 0 {
			return nil
		}
		_, err := suggest.Index("command", Names(cmd), args[0])
		return err
	}
	cmd.AddCommand(subs...)
	return cmd
}

// AsUsage turns the errors of the argument checks of the commands below c into usage
// errors.
func AsUsage(c *cobra.Command) {
	for _, sub := range c.Commands() {
		AsUsage(sub)
		if check := sub.Args; check != nil {
			sub.Args = func(cmd *cobra.Command, args []string) error {
				err := check(cmd, args)
				if err == nil || errors.As(err, new(*Error)) {
					return err
				}
				return Usage(err)
			}
		}
	}
}

// Names returns the names of the subcommands of c.
func Names(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

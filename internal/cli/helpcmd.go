package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/suggest"
)

// strictHelp makes the commands that cobra adds, help and completion, fail on
// unknown names. By default, cobra prints a usage text and exits with 0.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error { return knownCommand(root, args) }
			asUsage(c)
		case "completion":
			shells := commandNames(c)
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(_ *cobra.Command, args []string) error {
				if len(args) == 0 {
					return usage(errors.New("completion: missing argument: the shell (" + strings.Join(shells, ", ") + ")"))
				}
				_, err := suggest.Index("shell", shells, args[0])
				return usage(err)
			}
		}
	}
}

// knownCommand returns an error unless args name a command or subcommand.
func knownCommand(root *cobra.Command, args []string) error {
	c := root
	for _, name := range args {
		next, _, err := c.Find([]string{name})
		if err != nil || next == c {
			_, err := suggest.Index("command", commandNames(c), name)
			if err == nil {
				err = fmt.Errorf("command %s has no subcommands", c.Name())
			}
			return err
		}
		c = next
	}
	return nil
}

// commandNames returns the names of the subcommands of c.
func commandNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

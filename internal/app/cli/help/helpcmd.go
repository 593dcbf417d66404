// Package help shows the commands, their options and the pages of the documents: as
// help texts, and as man pages.
package help

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/manual"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

const helpLong = `Show the help of a command, or a page of the documents. Without an argument, list the commands and the topics.

On a terminal, show pages with the program that the environment variable PAGER names, if it is set. With --to jsonl,
write only the tables of a page, with a JSON object for each row.

With --man, write a man page for each command and each topic: DIR/man1/urlfold-COMMAND.1 and DIR/man7/urlfold-TOPIC.7.
Create DIR if it does not exist, and replace existing pages.`

// Install adds the commands help and completion and the options --help and
// --version to root, which must have all other commands already. It also sets
// the help of all commands: -h shows one screen, and --help shows everything.
// version is the version of the program. write writes a man page.
func Install(root *cobra.Command, version string, write WriteFile) {
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		text := Short
		if !slices.Contains(args, "-h") {
			text = func(c *cobra.Command) string {
				return fullText(c, cmp.Or(command.Style(c, c.OutOrStdout()).Fold, terminal.MaxWidth))
			}
		}
		_, err := io.WriteString(c.OutOrStdout(), text(c))
		root.SetContext(context.WithValue(root.Context(), failure{}, err)) // cobra's help function returns no error
	})
	root.SetHelpCommand(newHelp(version, write))
	root.InitDefaultHelpCmd()
	command.AsUsage(root)
	strictCompletion(root)
	ownHelpFlags(root)
}

// failure is the key of the error of a help text in the context of the root command.
type failure struct{}

// Failed returns the error of the last help text that an option asked for.
func Failed(root *cobra.Command) error {
	err, _ := root.Context().Value(failure{}).(error)
	return command.Wrote(err)
}

// ownHelpFlags adds --help and --version to cmd and its subcommands, worded like
// all other options. Cobra adds them only to the command that it runs, too late
// for man pages.
func ownHelpFlags(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = "print this help"
	if cmd.Version != "" {
		cmd.InitDefaultVersionFlag()
		cmd.Flags().Lookup("version").Usage = "print the version"
	}
	for _, c := range cmd.Commands() {
		ownHelpFlags(c)
	}
}

// newHelp returns the command that replaces the help command of cobra, which
// knows no topics.
func newHelp(version string, write WriteFile) *cobra.Command {
	var form, dir string
	cmd := &cobra.Command{
		Use:   "help [flags] [COMMAND|TOPIC]",
		Short: "Show the help of a command, or a page of the documents",
		Long:  helpLong,
		Example: `  urlfold help
  urlfold help explain
  urlfold help first-log
  urlfold help formats | less
  urlfold help flags --to jsonl | jq .flag
  urlfold help --man ~/.local/share/man && man urlfold-explain`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dir != "" && (form != "" || len(args) > 0):
				return command.Usagef("--man: takes no command, no topic and no --to")
			case dir != "":
				return writeManPages(cmd.Root(), dir, version, write)
			case form != "":
				return writeTables(cmd.OutOrStdout(), form, args)
			}
			return showHelp(cmd, args)
		},
	}
	cmd.Flags().StringVarP(&form, "to", "r", "", "write the tables of a page in this `format`: jsonl")
	cmd.Flags().StringVar(&dir, "man", "", "write the man pages below this `DIR`, such as /usr/local/share/man")
	command.CompleteFrom(cmd, "to", []string{"jsonl"})
	_ = cmd.MarkFlagDirname("man") // the flag exists
	return cmd
}

// writeTables writes the tables of the topic that args name.
func writeTables(w io.Writer, form string, args []string) error {
	if _, err := suggest.Index("format", []string{"jsonl"}, form); err != nil {
		return command.Usagef("--to: %w", err)
	}
	topic, ok := findTopic(args)
	if !ok {
		return command.Usagef("--to: name one topic whose tables to write, such as flags")
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, row := range topic.Rows() {
		if err := e.Encode(row); err != nil {
			return command.Wrote(err)
		}
	}
	return nil
}

// showHelp writes what args name: a command, a topic, or first the help of the
// command and then the page if a command and a topic share the name.
func showHelp(cmd *cobra.Command, args []string) error {
	c, unknown := findCommand(cmd.Root(), args)
	topic, ok := findTopic(args)
	if unknown != nil && !ok {
		return command.Usage(unknown)
	}
	if unknown == nil {
		if err := c.Help(); err != nil || !ok {
			return err
		}
	}
	w := cmd.OutOrStdout()
	text := topic.Text(command.Style(cmd, w))
	if unknown == nil {
		text = "\n" + text
	}
	return command.Wrote(showPage(w, text, os.Getenv))
}

// findCommand returns the command or subcommand that args name. Its error
// suggests a command or a topic.
func findCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	c := root
	for _, name := range args {
		next, _, err := c.Find([]string{name})
		if err == nil && next != c && !next.Hidden {
			c = next
			continue
		}
		switch names := command.Names(c); {
		case len(names) == 0:
			return nil, fmt.Errorf("command %s has no subcommands", c.Name())
		case c == root:
			return nil, unknownTopic(names, name)
		default:
			_, err = suggest.Index("command", names, name)
			return nil, err
		}
	}
	return c, nil
}

// unknownTopic returns the error for a name that is neither one of the commands
// nor a topic.
func unknownTopic(commands []string, name string) error {
	near := suggest.Nearest(append(commands, topicNames()...), name)
	if near == "" {
		return fmt.Errorf("unknown command or topic %q ('urlfold help' lists both)", name)
	}
	return fmt.Errorf("unknown command or topic %q (did you mean %q?)", name, near)
}

// findTopic returns the topic that args name.
func findTopic(args []string) (t manual.Topic, ok bool) {
	topics := manual.Topics()
	i := slices.IndexFunc(topics, func(t manual.Topic) bool { return len(args) == 1 && t.Name == args[0] })
	if i < 0 {
		return t, false
	}
	return topics[i], true
}

// topicNames returns the names of all topics.
func topicNames() (names []string) {
	for _, t := range manual.Topics() {
		names = append(names, t.Name)
	}
	return names
}

// completeHelp makes shells complete commands and topics.
func completeHelp(cmd *cobra.Command, args []string, typed string) (found []string, _ cobra.ShellCompDirective) {
	c, err := findCommand(cmd.Root(), args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	add := func(name, about string) {
		if strings.HasPrefix(name, typed) {
			found = append(found, name+"\t"+about)
		}
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			add(sub.Name(), sub.Short)
		}
	}
	for _, t := range manual.Topics() {
		if next, _, err := c.Find([]string{t.Name}); len(args) == 0 && (err != nil || next == c) {
			add(t.Name, terminal.Capital(t.About))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// strictCompletion makes the completion command that cobra adds fail on unknown
// shells. By default, cobra prints a usage text and exits with 0.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Short = "Generate a completion script for a shell"
		c.Long = "Generate a completion script for a shell. The help of each subcommand explains how to install the script."
		shells := command.Names(c)
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("completion: missing argument: the shell (%s)", strings.Join(shells, ", "))
			}
			_, err := suggest.Index("shell", shells, args[0])
			return command.Usage(err)
		}
	}
}

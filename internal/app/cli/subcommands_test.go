package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

func TestRootNames(t *testing.T) {
	if got, want := rootNames(), command.Names(newRootCmd(testCatalog(t))); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNeededSubcommands: a command line gets the commands that it names, and one
// that may list commands gets all.
func TestNeededSubcommands(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		args := strings.Fields(line)
		root := newRootCmdFor(testCatalog(t), args, listsCommands(args))
		got := strings.Join(slices.DeleteFunc(command.Names(root), func(n string) bool { return n == "help" || n == "completion" }), " ")
		if all := len(subcommands(nil)); want == "all" && len(strings.Fields(got)) != all || want != "all" && got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	f("", "")
	f("access.log", "")
	f("--quiet -r keys access.log", "")
	f("top -n 3 access.log", "top")
	f("--quiet top -n 3 access.log", "top")
	f("-o top access.log", "top")
	f("--help", "all")
	f("-qh", "all")
	f("help top", "all")
	f("top --help", "all")
	f("help --man /tmp", "all")
	f("__complete to", "all")
	f("completion bash", "all")
}

package command

import (
	"strings"

	"github.com/spf13/cobra"
)

// The callers of these functions have just defined the option, so the only possible
// error, an unknown option, does not occur.

// CompleteFrom makes shells complete the option with one of values.
func CompleteFrom(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteList makes shells complete the option with values separated by commas.
func CompleteList(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var found []string
		for _, value := range values {
			found = append(found, before+value)
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

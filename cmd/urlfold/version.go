package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
)

// newVersionCmd returns the command that says what this binary is.
func newVersionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, and which key functions it has",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprint(cmd.OutOrStdout(), versionText()); err != nil {
				return fmt.Errorf("writing: %w", err)
			}
			return nil
		},
	}
}

// versionText is what "urlfold version" writes. The key functions are part of
// it: keys can be compared exactly if these are equal.
func versionText() string {
	var keys []string
	for _, rd := range []codec.Reading{codec.RFC, codec.WHATWG} {
		for lv := range codec.Level(codec.NumLevels) {
			keys = append(keys, codec.KeyFunction(rd, lv))
		}
	}
	return fmt.Sprintf("urlfold %s\n%s %s/%s\nkeys %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(keys, ", "))
}

// version is the module's version, and the revision it was built from where
// that is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]):
			v += " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.HasSuffix(v, "dirty"):
			v += " (modified)"
		}
	}
	return v
}

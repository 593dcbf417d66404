package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// newVersionCmd returns the command that prints the version.
func newVersionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of urlfold, its key functions and its data",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprint(cmd.OutOrStdout(), versionText()); err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			return printOldData(cmd, builtin.Parameters)
		},
	}
}

// versionText returns the output of "urlfold version". The keys of two binaries
// are comparable if their key functions and data editions are equal.
func versionText() string {
	var keys []string
	for _, rd := range []codec.Standard{codec.RFC, codec.WHATWG} {
		for _, lv := range []codec.Level{codec.K0, codec.K1, codec.K2, codec.K3, codec.KSurface} {
			keys = append(keys, codec.KeyFunction(rd, lv))
		}
	}
	var matching []string
	for _, p := range codec.Profiles() {
		if n, err := codec.New(p); err == nil && p.Match != "" {
			matching = append(matching, n.KeyFunction(codec.KMatch))
		}
	}
	e := builtin
	return fmt.Sprintf("urlfold %s\n%s %s/%s\nkeys %s\nmatching keys %s\ndata URL Standard %s, Unicode %s, public suffix list %s, parameter list %s\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(keys, ", "), strings.Join(matching, ", "),
		e.SpecDate, e.Unicode, e.PublicSuffixes, e.Parameters)
}

// editions holds the editions of the built-in data that changes over time.
type editions struct {
	SpecDate       string `json:"spec_date"` // of the URL Standard
	Unicode        string `json:"unicode"`
	PublicSuffixes string `json:"public_suffix_list"`
	Parameters     string `json:"parameter_list"` // the built-in one; reportSettings.Policy names those in use
}

var builtin = editions{
	SpecDate: codec.SpecDate, Unicode: codec.UnicodeVersion,
	PublicSuffixes: codec.SiteListVersion(), Parameters: "default@" + params.DefaultVersion,
}

// version returns the version of the module and, if known, the revision from
// which it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if info.Main.Path != module {
		return dependencyVersion(info)
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

const module = "github.com/urlfold/urlfold"

// dependencyVersion returns the version of urlfold in a program whose main
// package is in another module, followed by the path of that package.
func dependencyVersion(info *debug.BuildInfo) string {
	v := "(devel)"
	for _, d := range info.Deps {
		if d.Path == module && d.Replace == nil {
			v = d.Version
		}
	}
	return v + " in " + info.Path
}

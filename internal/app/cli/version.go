package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// newVersionCmd returns the command that prints the version.
func newVersionCmd(c *daemon.Catalog) *cobra.Command {
	var form command.Form
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of urlfold, its key functions and its data",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions(versionOf(c))
			text := command.Style(cmd, cmd.OutOrStdout()).FoldedLines(v.String())
			if form.Name == "json" {
				b, err := json.MarshalIndent(v, "", "  ")
				if err != nil {
					return err
				}
				text = string(b) + "\n"
			}
			if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
				return command.Wrote(err)
			}
			return printOldData(cmd, builtin.Parameters)
		},
	}
	form.Register(cmd, "write this `format`: text, or json for one object", "text", "json")
	return cmd
}

// A versionInfo is what "urlfold version" prints. The keys of two binaries are
// comparable if their key functions and data editions are equal.
type versionInfo struct {
	Version  string   `json:"version"` // without the commit
	Commit   string   `json:"commit,omitempty"`
	Date     string   `json:"date,omitempty"` // date of the commit
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Keys     []string `json:"keys"`
	Matching []string `json:"matching_keys"`
	Data     editions `json:"data"`

	text string // version and commit
}

func versions(text string) *versionInfo {
	number, _, _ := strings.Cut(text, " ")
	v := &versionInfo{Version: number, Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Data: builtin, text: text}
	if info, ok := debug.ReadBuildInfo(); ok && v.Commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			}
		}
	}
	for _, standard := range []codec.Standard{codec.RFC3986, codec.WHATWG} {
		for _, level := range []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage, codec.LevelShape} {
			v.Keys = append(v.Keys, codec.KeyFunction(standard, level))
		}
	}
	for _, p := range codec.Profiles() {
		if n, err := codec.New(p); err == nil && p.Match != "" {
			v.Matching = append(v.Matching, n.KeyFunction(codec.LevelMatch))
		}
	}
	return v
}

// String returns the lines of the command.
func (v *versionInfo) String() string {
	return fmt.Sprintf("urlfold %s\n%s %s\nkeys %s\nmatching keys %s\ndata URL Standard %s, Unicode %s, public suffix list %s, parameter list %s\n",
		v.text, v.Go, v.Platform, strings.Join(v.Keys, ", "), strings.Join(v.Matching, ", "),
		v.Data.SpecDate, v.Data.Unicode, v.Data.PublicSuffixes, v.Data.Parameters)
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

// The linker sets these in the artefacts of a release, which are built without the
// repository so that they are the same everywhere: see .goreleaser.yaml.
var release, commit, date string

// versionOf returns the version of a program that states one, or else the
// version of the module.
func versionOf(c *daemon.Catalog) string {
	if c != nil && c.Version != "" {
		return c.Version
	}
	return version()
}

// version returns the version of the module and, if known, the revision from
// which it was built.
func version() string {
	if release != "" {
		return strings.TrimSpace(release + " " + commit[:min(12, len(commit))])
	}
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

// Ages in days. A list that is older is reported. Parameters come and go faster
// than public suffixes.
const (
	maxAgeParams   = 180
	maxAgeSuffixes = 365
)

// oldData returns a warning for each list that is old at the time now. lists
// has the form of params.Matcher.Versions; it ignores lists whose version is
// not a date. Only "version" and "check" look at the clock: keys never depend
// on it.
func oldData(lists, suffixes string, now time.Time) (warnings []string) {
	add := func(what, version string, limit int) {
		date, err := time.Parse(time.DateOnly, version)
		if err != nil {
			return
		}
		if days := int(now.Sub(date).Hours() / 24); days > limit {
			warnings = append(warnings, fmt.Sprintf("%s is %d days old: get a newer one to recognize what was added since %s", what, days, version))
		}
	}
	for list := range strings.SplitSeq(lists, ",") {
		name, version, _ := strings.Cut(list, "@")
		add("the parameter list "+name, version, maxAgeParams)
	}
	add("the public suffix list", suffixes, maxAgeSuffixes)
	return warnings
}

// printOldData writes a warning to stderr for each list that is old: the lists
// of parameters, given by their versions, and the public suffixes.
func printOldData(cmd *cobra.Command, lists string) error {
	for _, w := range oldData(lists, builtin.PublicSuffixes, time.Now()) {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "urlfold: warning: %s\n", terminal.Printable(w)); err != nil {
			return err
		}
	}
	return nil
}

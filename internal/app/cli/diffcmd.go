package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// diffOptions holds the options of diff: some options of the one-shot, and options that
// only diff has.
type diffOptions struct {
	options
	// Compare with this profile (B): a name that 'urlfold help profiles' lists, or a YAML file.
	Against string `flag:"against" for:"diff" arg:"name"`
	// For A, use this list of parameters instead of the profile's: default or
	// KIND:FILE with the kind adguard, brave, clearurls, firefox or plain, or
	// robots:HOST:FILE.
	List string `flag:"list" for:"diff" arg:"list"`
	// For B, use this list.
	AgainstList string `flag:"against-list" for:"diff" arg:"list"`
	// Show up to N groups of each merge or split, with one URL each.
	Examples int `flag:"examples" for:"diff" arg:"N"`
	// Show up to N merges and up to N splits.
	Count int `flag:"count,n" for:"diff" arg:"N"`
	form  command.Form
}

// newDiffCmd returns the command that compares the keys under two profiles.
func newDiffCmd(c *daemon.Catalog) *cobra.Command {
	o := diffOptions{options: newOptions(c), Examples: 3, Count: 10}
	cmd := &cobra.Command{
		Use:   "diff [flags] {--against PROFILE|--list LIST --against-list LIST} [FILE|GLOB|DIR|-]...",
		Short: "Compare two profiles: show which groups of URLs merge or split",
		Long: `Compute the key of each URL under two profiles, A (--profile) and B (--against). URLs with equal keys form a group. Report
which groups merge (several groups of A become one group of B) and which split (one group of A becomes several groups
of B). The largest merges and splits come first, with examples and with the rules that cause them. Use this command
before you change a profile.

With --list and --against-list, A and B are one profile with different lists of parameters: --list for A, and
--against-list for B. The profile's own rules stay in force. Use this before you adopt a new edition of a list.

Keys have the level of their profile unless you pass --key. To find the rules, urlfold examines a sample of the URLs; for
a relative URL, it examines the normal form. Each group takes about 150 bytes of memory, plus one URL. urlfold keeps at
most 256 MiB of URLs. It replaces passwords with *** unless you pass --redact none.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 an input is damaged or, with --fail-on differ, a
group merges or splits.`,
		Example: `  urlfold diff --profile equiv --against crawler urls.txt
  urlfold diff --profile crawler --against shop.yaml access.log.gz
  urlfold diff -p shop.yaml --against shop-new.yaml --fail-on differ 'logs/**/*.zst'
  urlfold diff -p crawler --list default --against-list clearurls:data.min.json access.log.gz
  urlfold diff -p analytics --against shop.yaml --to json urls.txt | jq '.merges.top[].rules'`,
		RunE: o.run,
	}
	o.Redact = usualRedact
	o.register(cmd, &o, "readers", "diff")
	o.form.Register(cmd, "write this `format`: text, or json for one object", "text", "json")
	o.failOn(cmd, "damage, unknown, differ. unknown means an unknown format; differ means that a group merges or splits", "damage", "unknown", "differ", "none")
	return cmd
}

// run reads the input and writes the report.
func (o *diffOptions) run(cmd *cobra.Command, paths []string) error {
	var bad command.Mistakes
	flag, err := o.checkSides()
	bad.Add(flag, err)
	bad.Within("--examples", o.Examples, maxShown)
	bad.Within("--count", o.Count, maxShown)
	a, b := o.options, o.options
	if o.Against != "" {
		b.Profile = o.Against
	}
	a.list, a.listFlag = o.List, "--list"
	b.list, b.listFlag = o.AgainstList, "--against-list"
	setA, err := a.resolveKeys(paths, keydiff.Fields, &bad)
	if err != nil {
		return err
	}
	setB, err := b.resolveKeys(paths, keydiff.Fields, &bad)
	if err != nil {
		return err
	}
	d, err := keydiff.New(sideOf(setA), sideOf(setB), o.Examples, o.Redact)
	if err != nil {
		return err
	}
	run := scan{set: setA}
	codecs := func() (func() engine.Codec, error) {
		inB, err := run.formats.with(setB.record)
		if err != nil {
			return nil, err
		}
		return d.NewCodecs(engine.NewRecordCodecs(run.formats.job), engine.NewRecordCodecs(inB.job)), nil
	}
	return run.report(cmd, codecs, func() (failed bool, err error) {
		w, r := cmd.OutOrStdout(), d.Report(run.formats.name(), o.Count)
		if o.form.Name == "json" {
			err = keydiff.WriteJSON(w, r)
		} else {
			err = keydiff.WriteText(w, command.Style(cmd, w), r)
		}
		return slices.Contains(o.FailOn, "differ") && r.Merges.Groups+r.Splits.Groups > 0, err
	})
}

// resolveKeys resolves the options of a command that compares the keys of
// records, whose codecs write fields. bad holds the errors in the options of
// the command itself. The result redacts nothing, because keys depend on
// passwords. The command itself hides the passwords in its report.
func (o options) resolveKeys(paths, fields []string, bad *command.Mistakes) (*settings, error) {
	checkRedact(bad, o.Redact)
	o.Render.Form, o.Fields, o.Redact = record.RenderTSV.String(), fields, nil
	set, err := o.resolve(paths)
	bad.Add("", err)
	return set, bad.Err()
}

// checkSides checks the options that select what is compared. flag is the
// option that the error is about.
func (o *diffOptions) checkSides() (flag string, err error) {
	switch {
	case o.List == "" && o.AgainstList == "":
		if o.Against == "" {
			return "--against", errors.New("missing required option: name the profile to compare with, or two lists with --list and --against-list")
		}
	case o.Against != "":
		return "--against", errors.New("cannot be used with --list and --against-list, which compare lists under one profile")
	case o.List == "":
		return "--list", errors.New("missing: --against-list needs a list to compare with; for the built-in list, pass --list default")
	case o.AgainstList == "":
		return "--against-list", errors.New("missing: --list needs a list to compare with; for the built-in list, pass --against-list default")
	default:
		return "", nil
	}
	_, _, err = findProfile(o.Against)
	return "--against", err
}

// maxShown is the maximum of --examples and --count. Everything that is shown is
// held in memory twice.
const maxShown = 1000

func sideOf(s *settings) keydiff.Side {
	return keydiff.Side{Normalizer: s.record.Normalizer, Level: s.record.Level}
}

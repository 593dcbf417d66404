package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline"
)

// diffOptions holds the flags of diff: some of the one-shot's, and its own.
type diffOptions struct {
	options
	// Compare with this profile (B): a name that 'urlfold profiles' lists, or a YAML file.
	Against string `flag:"against" for:"diff" arg:"name"`
	// For A, use this list of parameters in place of those of the profile: default or
	// KIND:FILE with the kind adguard, brave, clearurls, firefox or plain, or
	// robots:HOST:FILE.
	List string `flag:"list" for:"diff" arg:"list"`
	// For B, use this list.
	AgainstList string `flag:"against-list" for:"diff" arg:"list"`
	// Show up to N groups of each merge or split, with one URL each.
	Examples int `flag:"examples" for:"diff" arg:"N"`
	// Show up to N merges and up to N splits.
	Top int `flag:"top" for:"diff" arg:"N"`
	// Write the report as one JSON object.
	JSON bool `flag:"json" for:"diff"`
	// Exit with code 4 if a group merges or splits.
	Fail bool `flag:"fail" for:"diff"`
}

// newDiffCmd returns the command that compares the keys under two profiles.
func newDiffCmd(c *daemon.Catalog) *cobra.Command {
	o := diffOptions{options: newOptions(c), Examples: 3, Top: 10}
	cmd := &cobra.Command{
		Use:   "diff [flags] {--against PROFILE|--list LIST --against-list LIST} [FILE|GLOB|DIR|-]...",
		Short: "Compare two profiles: show which groups of URLs merge or split",
		Long: `Compute the key of each URL under two profiles, A (--profile) and B (--against). URLs with equal keys form a group. Report
which groups merge (several groups of A become one group of B) and which split (one group of A becomes several groups
of B). The largest merges and splits come first, with examples and with the rules that cause them. Use this command
before you change a profile.

With --list and --against-list, A and B are the same profile with two lists of parameters in place of its lists. The own
rules of the profile stay. Use this before you adopt a new edition of a list.

Keys have the level of their profile unless you pass --key. To find the rules, urlfold examines a sample of the URLs; for
a relative URL, it examines the normal form. Each group takes about 150 bytes of memory, plus one URL. urlfold keeps at
most 256 MiB of URLs. It replaces passwords with *** unless you pass --redact none.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 an input is damaged or, with --fail, a group merges
or splits.`,
		Example: `  urlfold diff --profile equiv --against crawler urls.txt
  urlfold diff --profile crawler --against shop.yaml access.log.gz
  urlfold diff -p shop.yaml --against shop-new.yaml --fail 'logs/**/*.zst'
  urlfold diff -p crawler --list default --against-list clearurls:data.min.json access.log.gz
  urlfold diff -p analytics --against shop.yaml --json urls.txt | jq '.merges.top[].rules'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.Redact = usualRedact
	o.register(cmd, &o, "readers", "diff")
	return cmd
}

// run reads the input and writes the report.
func (o *diffOptions) run(cmd *cobra.Command, paths []string) error {
	d, err := o.prepare(paths)
	if err != nil {
		return err
	}
	sig := watchSignals()
	defer sig.stop()
	if err := d.read(sig, cmd.InOrStdin()); err != nil {
		return err
	}
	damaged := d.writeDamage(cmd.ErrOrStderr())
	r := d.Report(d.formats.name(), o.Top)
	if err := o.write(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	if damaged || o.Fail && r.Merges.Groups+r.Splits.Groups > 0 {
		return &exitError{code: exitFailOn}
	}
	return nil
}

// write writes the report as text or JSON.
func (o *diffOptions) write(w io.Writer, r *keydiff.Report) error {
	if o.JSON {
		return keydiff.WriteJSON(w, r)
	}
	return keydiff.WriteText(w, terminal.NewStyle(w, os.Getenv), r)
}

// A diffRun is a comparison in progress.
type diffRun struct {
	*keydiff.Diff
	scan
	setB *settings
}

// prepare validates the flags. Its error joins all errors in them.
func (o *diffOptions) prepare(paths []string) (*diffRun, error) {
	var bad mistakes
	flag, err := o.checkSides()
	bad.add(flag, err)
	if o.Examples < 1 || o.Examples > maxShown {
		bad.add("--examples", fmt.Errorf("must be between 1 and %d", maxShown))
	}
	if o.Top < 1 || o.Top > maxShown {
		bad.add("--top", fmt.Errorf("must be between 1 and %d", maxShown))
	}
	checkRedact(&bad, o.Redact)
	a := o.options
	a.Render.Form, a.Fields, a.Redact = record.RenderTSV.String(), keydiff.Fields, nil
	b := a
	if o.Against != "" {
		b.Profile = o.Against
	}
	a.list, a.listFlag = o.List, "--list"
	b.list, b.listFlag = o.AgainstList, "--against-list"
	setA, err := a.resolve(paths)
	bad.add("", err)
	if err := bad.err(); err != nil {
		return nil, err
	}
	setB, err := b.resolve(paths)
	if err != nil {
		return nil, err
	}
	d, err := keydiff.New(sideOf(setA), sideOf(setB), o.Examples, o.Redact)
	return &diffRun{Diff: d, scan: scan{set: setA}, setB: setB}, err
}

// checkSides checks the flags that name what is compared. flag is the one that an
// error is about.
func (o *diffOptions) checkSides() (flag string, err error) {
	switch {
	case o.List == "" && o.AgainstList == "":
		if o.Against == "" {
			return "--against", errors.New("missing required flag: name the profile to compare with, or two lists with --list and --against-list")
		}
	case o.Against != "":
		return "--against", errors.New("cannot be used with --list and --against-list, which compare lists under one profile")
	case o.List == "":
		return "--list", errors.New("missing: --against-list needs a list to compare with (the built-in one is default)")
	case o.AgainstList == "":
		return "--against-list", errors.New("missing: --list needs a list to compare with (the built-in one is default)")
	default:
		return "", nil
	}
	_, _, err = findProfile(o.Against)
	return "--against", err
}

// maxShown is the maximum of --examples and --top. Everything that is shown is
// held in memory twice.
const maxShown = 1000

func sideOf(s *settings) keydiff.Side {
	return keydiff.Side{Normalizer: s.record.Normalizer, Level: s.record.Level}
}

// read reads the whole input into the graph.
func (d *diffRun) read(sig *signals, stdin io.Reader) error {
	return d.scan.read(sig, stdin, func() (func() pipeline.Codec, error) {
		b, err := d.formats.with(d.setB.record)
		if err != nil {
			return nil, err
		}
		return d.NewCodecs(pipeline.NewRecordCodecs(d.formats.job), pipeline.NewRecordCodecs(b.job)), nil
	})
}

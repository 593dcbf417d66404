package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/keydiff"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sources/file"
)

// diffOptions is the flags of diff: some of the one-shot's, and its own.
type diffOptions struct {
	options
	against       string
	examples, top int
	json, fail    bool
}

// diffShared are the flags that diff has from the one-shot.
var diffShared = []string{
	"profile", "key", "standard", "query-encoding", "format", "dialect", "target", "url-field", "base-field", "base",
	"max-record", "max-url", "max-decompressed", "max-ratio", "max-window", "jobs",
}

// newDiffCmd returns the command that shows what a change of rules does.
func newDiffCmd(c *daemon.Catalog) *cobra.Command {
	var o diffOptions
	o.formats = c.Formats()
	cmd := &cobra.Command{
		Use:   "diff [flags] --against PROFILE [FILE|GLOB|DIR|-]...",
		Short: "Show which groups of URLs a change of rules merges or splits",
		Long: `Diff reads URLs as urlfold itself does, and computes the key of each under two profiles: A (--profile) and B
(--against). URLs of one key are a group. It tells which groups of A are one under B (merges) and which are several
(splits), those with the most URLs first, with examples and the rules that did it: before the change is rolled out.

A key is of the level of its profile, unless --key says otherwise. Rules of a group are told from some of its URLs; for a
relative URL, from its normal form. Memory grows with the number of groups, by some 150 bytes and one URL for each;
at most 256 MiB of URLs are remembered. Passwords are shown as ***, but with --redact=false.

Exit codes: 0 done, 1 fatal, 2 usage, 3 interrupted, 4 an input is damaged or, with --fail, something merges or splits.`,
		Example: `  urlfold diff --profile equiv --against crawler urls.txt
  urlfold diff --profile crawler --against shop.yaml access.log.gz
  urlfold diff -p shop.yaml --against shop-new.yaml --fail 'logs/**/*.zst'
  urlfold diff -p analytics --against shop.yaml --json urls.txt | jq '.merges.top[].rules'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	shared := &cobra.Command{}
	o.register(shared) // for the defaults of what diff has no flags for
	cmd.Flags().SortFlags = false
	for _, name := range diffShared {
		cmd.Flags().AddFlag(shared.Flags().Lookup(name))
		if complete, ok := shared.GetFlagCompletionFunc(name); ok {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // the flag is there
		}
	}
	f := cmd.Flags()
	f.StringVar(&o.against, "against", "", "the profile B: a `name`, or a YAML file")
	f.IntVar(&o.examples, "examples", 3, "how `many` URLs to show of a group")
	f.IntVar(&o.top, "top", 10, "how `many` merges, and splits, to show")
	f.BoolVar(&o.json, "json", false, "write one JSON object")
	f.BoolVar(&o.redact, "redact", true, "show *** for passwords")
	f.BoolVar(&o.fail, "fail", false, "exit with 4 if a group merges or splits")
	completeFrom(cmd, "against", config.ProfileNames())
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
	r := d.Report(d.formats.name(), o.top)
	if err := o.write(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	if damaged || o.fail && r.Merges.Groups+r.Splits.Groups > 0 {
		return &exitError{code: exitFailOn}
	}
	return nil
}

// write writes the report in the form that is asked for.
func (o *diffOptions) write(w io.Writer, r *keydiff.Report) error {
	if o.json {
		return keydiff.WriteJSON(w, r)
	}
	return keydiff.WriteText(w, terminal.NewStyle(w, os.Getenv), r)
}

// A diffRun is a comparison under way.
type diffRun struct {
	*keydiff.Diff
	setA, setB *settings
	source     *file.Source
	formats    *formats
}

// prepare checks the flags. The error tells all mistakes.
func (o *diffOptions) prepare(paths []string) (*diffRun, error) {
	var bad mistakes
	_, _, err := findProfile(o.against)
	if o.against == "" {
		err = errors.New("diff needs a second profile")
	}
	bad.add("--against", err)
	if o.examples < 1 || o.examples > maxShown {
		bad.add("--examples", fmt.Errorf("the number must be from 1 to %d", maxShown))
	}
	if o.top < 1 || o.top > maxShown {
		bad.add("--top", fmt.Errorf("the number must be from 1 to %d", maxShown))
	}
	a := o.options
	a.render, a.fields, a.redact = record.RenderTSV.String(), keydiff.Fields, false
	b := a
	b.profile = o.against
	setA, err := a.resolve(paths)
	bad.add("", err)
	if err := bad.err(); err != nil {
		return nil, err
	}
	setB, err := b.resolve(paths)
	if err != nil {
		return nil, err
	}
	d, err := keydiff.New(sideOf(setA), sideOf(setB), o.examples, o.redact)
	return &diffRun{Diff: d, setA: setA, setB: setB}, err
}

// maxShown is the most examples and groups: all of them are held in memory twice.
const maxShown = 1000

func sideOf(s *settings) keydiff.Side {
	return keydiff.Side{Normalizer: s.record.Normalizer, Level: s.record.Level}
}

// read reads all of the input into the graph.
func (d *diffRun) read(sig *signals, stdin io.Reader) error {
	formats := func() *formats { return d.formats }
	parallel, err := d.setA.parallelInputs(disk.MaxOpen(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if d.source, err = d.setA.newSource(stdin, formats, parallel); err != nil {
		return usage(err)
	}
	if _, err := d.source.Paths(); err != nil {
		return usage(err)
	}
	if d.formats, err = findFormats(sig.soft, d.setA, d.source); err != nil {
		return err
	}
	b, err := d.formats.with(d.setB.record)
	if err != nil {
		return err
	}
	p, err := pipeline.New(pipeline.Options{
		Sources:  []pipeline.Source{d.source},
		Sinks:    []pipeline.Sink{discard.New(discard.Config{})},
		NewCodec: d.NewCodecs(pipeline.NewRecordCodecs(d.formats.job), pipeline.NewRecordCodecs(b.job)),
		Workers:  d.setA.jobs,
	})
	if err != nil {
		return err
	}
	go sig.onSecond(p.HardStop)
	err = p.Run(sig.soft)
	if err == nil && sig.soft.Err() != nil || errors.Is(err, pipeline.ErrDeadline) {
		return &exitError{code: exitCut, err: errors.New("interrupted before all was read")}
	}
	return err
}

// writeDamage says what is missing in the input, and reports whether anything is.
func (d *diffRun) writeDamage(stderr io.Writer) bool {
	out := outcome{set: d.setA, reports: d.source.Reports()}
	damaged := out.damaged()
	for i := range damaged {
		_, _ = fmt.Fprintf(stderr, "urlfold: %s: %s\n", shownPath(damaged[i].Path), terminal.Printable(damaged[i].Verdict.String())) // there is no other way to say it
	}
	return len(damaged) > 0
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/explain"
)

// explainOptions holds the options of explain.
type explainOptions struct {
	options
	// Compare each key with the key of this URL.
	VS   string `flag:"vs" for:"explain" arg:"URL"`
	form command.Form
	// Draw with ASCII characters only. Default: true if the locale is not UTF-8.
	ASCII bool `flag:"ascii" for:"explain"`
}

// newExplainCmd returns the command that explains single URLs.
func newExplainCmd() *cobra.Command {
	o := explainOptions{options: newOptions(nil)}
	cmd := &cobra.Command{
		Use:   "explain [flags] URL...",
		Short: "Explain a URL: its components, defects, normal form and keys",
		Long: `Label the components of each URL, point out each defect, list the rules that produced the normal form, and print the
keys. If URL is "-", read URLs from standard input, one per line.

With --vs, compare two URLs: show the level at which their keys become equal, and how they differ at the levels below.

The output contains passwords unless you pass --redact.`,
		Example: `  urlfold explain 'HTTP://Ex%41mple.com:0080/a/../b%zz?q=1#x'
  urlfold explain 'http://example.com' --vs 'HTTP://example.com:80/'
  urlfold explain --base http://example.com/a/b ../c
  urlfold explain --to jsonl 'http://example.com/%7euser' | jq .norm
  tail -1 urls.txt | urlfold explain -`,
		Args: command.WantArgs(1, math.MaxInt, "explain: missing argument: URL, or - to read URLs from standard input"),
		RunE: o.run,
	}
	o.register(cmd, &o, "explain")
	o.form.Register(cmd, "write this `format`: text, or jsonl for an object per line", "text", "jsonl")
	o.failOn(cmd, "rejected, differ. rejected means that a URL cannot be parsed; differ means that, with --vs, the keys differ at the level of the profile", "rejected", "differ", "none")
	cmd.Flags().Lookup("base").Usage = "resolve relative URLs against this `URL`"
	return cmd
}

// explainWriter is the interface of the text and JSON writers of package
// explain.
type explainWriter interface {
	Write(*explain.Explanation)
	WritePair(*explain.Pair)
	Flush() error
}

// run explains each argument.
func (o *explainOptions) run(cmd *cobra.Command, args []string) error {
	x, err := o.explainer()
	if err != nil {
		return err
	}
	urls, err := expandArgs(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	if o.VS != "" && len(urls) != 1 {
		return command.Usagef("--vs: want exactly one URL to compare with, got %d", len(urls))
	}
	w := o.writer(cmd, x)
	failed, cause := false, "rejected"
	if o.VS != "" {
		cause = "differ"
	}
	for _, url := range urls {
		if o.VS != "" {
			p := x.Compare(url, []byte(o.VS))
			failed = failed || !p.SharesKey()
			w.WritePair(p)
			continue
		}
		e := x.Explain(url)
		failed = failed || e.Err() != nil
		w.Write(e)
	}
	err = command.Wrote(w.Flush())
	if err == nil && failed && slices.Contains(o.FailOn, cause) {
		err = &command.Error{Code: command.ExitFailOn}
	}
	return err
}

// writer returns the text or JSON writer.
func (o *explainOptions) writer(cmd *cobra.Command, x *explain.Explainer) explainWriter {
	w := cmd.OutOrStdout()
	if o.form.Name == "jsonl" {
		return explain.NewJSONWriter(w, x)
	}
	s := command.Style(cmd, w)
	s.Unicode = s.Unicode && !o.ASCII
	return explain.NewTextWriter(w, s, x)
}

// explainer validates the options and returns the Explainer that they describe.
func (o *explainOptions) explainer() (*explain.Explainer, error) {
	var bad command.Mistakes
	p, policy, profileErr := findProfile(o.Profile)
	bad.Add("--profile", profileErr)
	p, rulesErr := changeRules(p, o.Changes)
	bad.Add("--rule", rulesErr)
	form, err := suggest.Index("key format", recordconf.KeyFormats(), o.KeyFormat)
	bad.Add("--key-format", err)
	lv, err := findLevel(o.Key, p)
	bad.Add("--key", err)
	bad.Add("--base", checkBase(o.Base))
	checkRedact(&bad, o.Redact)
	bad.Add("--fail-on", o.checkFailOn(o.FailOn))
	if profileErr != nil || rulesErr != nil {
		p = codec.Profile{}
	}
	p.MaxDiagnostics = explain.MaxDiagnostics
	n, err := o.newNormalizer(p, policy, nil)
	bad.Add("", err)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return explain.New(explain.Options{Normalizer: n, Level: lv, KeyForm: codec.KeyForm(form), Base: []byte(o.Base), Redact: o.Redact}), nil
}

// checkBase returns an error if base is neither empty nor a valid base URL.
func checkBase(base string) error {
	if base == "" {
		return nil
	}
	_, err := codec.Resolve(nil, []byte(base), nil)
	return errors.Unwrap(err) // without the offset, which says nothing here
}

// maxExplain is the maximum size of standard input, which is held in memory.
const maxExplain = 16 << 20

// expandArgs returns args with each "-" replaced by the lines of in.
func expandArgs(in io.Reader, args []string) ([][]byte, error) {
	var urls [][]byte
	for _, a := range args {
		if a != "-" {
			urls = append(urls, []byte(a))
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, maxExplain+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("read standard input: %w", err)
		case len(text) > maxExplain:
			return nil, command.Usagef("standard input is longer than %s, the limit of explain; use 'urlfold -r jsonl' for large inputs", terminal.FormatSize(maxExplain))
		}
		for line := range bytes.Lines(text) {
			urls = append(urls, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		}
	}
	return urls, nil
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/explain"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
)

// explainOptions is the flags of explain.
type explainOptions struct {
	profile  string
	rules    []string
	key      string
	keyForm  string
	queries  string // how they are encoded
	standard string
	base     string
	vs       string
	json     bool
	redact   bool
	ascii    bool
	fail     bool
}

// newExplainCmd returns the command that explains single URLs.
func newExplainCmd() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [flags] URL...",
		Short: "Show what a URL is, what is wrong with it, and what was done about it",
		Long: `Explain draws the components under the URL, puts a caret under each defect, tells rule by rule what made the
normal form, and shows the keys. "-" reads URLs from the standard input, one a line.

With --vs it shows for two URLs at which level their keys meet, and what keeps them apart below it.
A password is shown, since you typed it; --redact hides it.`,
		Example: `  urlfold explain 'HTTP://Ex%41mple.com:0080/a/../b%zz?q=1#x'
  urlfold explain 'http://example.com' --vs 'HTTP://example.com:80/'
  urlfold explain --base http://example.com/a/b ../c
  urlfold explain --json 'http://example.com/%7euser' | jq .norm
  tail -1 urls.txt | urlfold explain -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("explain needs a URL, or - to read URLs from the standard input"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "the `name` of the profile: "+strings.Join(config.ProfileNames(), ", "))
	f.StringSliceVar(&o.rules, "rule", nil, "`rules` to add to the profile or to remove from it: +rfc-clean,-frag-drop")
	f.StringVarP(&o.key, "key", "k", "", "the `level` of the key: "+strings.Join(levelNames(), ", ")+". Default: the profile's")
	f.StringVar(&o.standard, "standard", "", "the `standard` that keys are computed by: "+strings.Join(standardNames, ", ")+". Default: the profile's")
	f.StringVar(&o.queries, "query-encoding", "utf-8", "the `label` of the encoding that browsers would write queries in, such as windows-1252")
	f.StringVar(&o.keyForm, "key-format", keyFormNames[0], "how keys are `written`: "+strings.Join(keyFormNames, ", "))
	f.StringVar(&o.base, "base", "", "resolve the URL against this `URL` first")
	f.StringVar(&o.vs, "vs", "", "compare the keys with those of this `URL`")
	f.BoolVar(&o.json, "json", false, "write one JSON object a line")
	f.BoolVar(&o.redact, "redact", false, "show *** for passwords")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII only (the default unless the locale is UTF-8)")
	f.BoolVar(&o.fail, "fail", false, "exit with 4 if a URL cannot be parsed or, with --vs, the keys of the profile differ")
	completeFrom(cmd, "profile", config.ProfileNames())
	completeFrom(cmd, "rule", signedRuleNames())
	completeFrom(cmd, "key", levelNames())
	completeFrom(cmd, "key-format", keyFormNames)
	completeFrom(cmd, "query-encoding", charset.Names())
	completeFrom(cmd, "standard", standardNames)
	return cmd
}

// explainWriter is what the writers of package explain have in common.
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
	if o.vs != "" && len(urls) != 1 {
		return usage(errors.New("--vs compares one URL with another"))
	}
	w := o.writer(cmd.OutOrStdout(), x)
	failed := false
	for _, url := range urls {
		if o.vs != "" {
			p := x.Compare(url, []byte(o.vs))
			failed = failed || !p.SharesKey()
			w.WritePair(p)
			continue
		}
		e := x.Explain(url)
		failed = failed || e.Err() != nil
		w.Write(e)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if failed && o.fail {
		return &exitError{code: exitFailOn}
	}
	return nil
}

// writer returns the writer for the form that is asked for.
func (o *explainOptions) writer(w io.Writer, x *explain.Explainer) explainWriter {
	if o.json {
		return explain.NewJSONWriter(w, x)
	}
	s := terminal.NewStyle(w, os.Getenv)
	s.Unicode = s.Unicode && !o.ascii
	return explain.NewTextWriter(w, s, x)
}

// explainer checks the flags.
func (o *explainOptions) explainer() (*explain.Explainer, error) {
	var bad mistakes
	p, policy, profileErr := findProfile(o.profile)
	bad.add("--profile", profileErr)
	p, rulesErr := changeRules(p, o.rules)
	bad.add("--rule", rulesErr)
	form, err := suggest.Index("key format", keyFormNames, o.keyForm)
	bad.add("--key-format", err)
	lv, err := findLevel(o.key, p)
	bad.add("--key", err)
	bad.add("--base", checkBase(o.base))
	if profileErr != nil || rulesErr != nil {
		p = codec.Profile{}
	}
	p.MaxDiagnostics = explain.MaxDiagnostics
	r := recordconf.Normalizer{Profile: p, Policy: policy, Standard: o.standard, QueryEncoding: o.queries}
	n, err := newNormalizer(&r, o.rules)
	bad.add("", err)
	if err := bad.err(); err != nil {
		return nil, err
	}
	return explain.New(explain.Options{Normalizer: n, Level: lv, KeyForm: codec.KeyForm(form), Base: []byte(o.base), Redact: o.redact}), nil
}

// checkBase refuses a base that nothing can be resolved against.
func checkBase(base string) error {
	if base == "" {
		return nil
	}
	_, err := codec.Resolve(nil, []byte(base), nil)
	return err
}

// maxExplain is how much of the standard input is read: it is held in memory.
const maxExplain = 16 << 20

// expandArgs replaces "-" by the lines of in.
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
			return nil, fmt.Errorf("reading: %w", err)
		case len(text) > maxExplain:
			return nil, usage(fmt.Errorf("the standard input is longer than %s; explain is for single URLs", terminal.FormatSize(maxExplain)))
		}
		for line := range bytes.Lines(text) {
			urls = append(urls, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		}
	}
	return urls, nil
}

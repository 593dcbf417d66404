package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/charset"
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

// newExplainCmd returns the command that tells about single URLs.
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
	f.StringVarP(&o.profile, "profile", "p", defaultProfile, "the `name` of the profile: "+strings.Join(profileNames(), ", "))
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
	f.BoolVar(&o.fail, "fail", false, "exit with 4 if a URL has no reading or, with --vs, the keys of the profile differ")
	completeFrom(cmd, "profile", profileNames())
	completeFrom(cmd, "rule", signedRuleNames())
	completeFrom(cmd, "key", levelNames())
	completeFrom(cmd, "key-format", keyFormNames)
	completeFrom(cmd, "query-encoding", charset.Names())
	completeFrom(cmd, "standard", standardNames)
	return cmd
}

// run explains each argument.
func (o *explainOptions) run(cmd *cobra.Command, args []string) error {
	x, err := o.explainer(cmd)
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
	w := bufio.NewWriter(cmd.OutOrStdout())
	failed := false
	for i, u := range urls {
		x.secrets = x.secrets[:0]
		e := x.explain(u)
		failed = failed || e.err != nil
		if i > 0 && !o.json {
			_ = w.WriteByte('\n') // Flush tells
		}
		if o.vs != "" {
			other := x.explain([]byte(o.vs))
			failed = failed || !x.sharesKey(e, other)
			x.writePair(w, e, other, o.json)
			continue
		}
		x.write(w, e, o.json)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if failed && o.fail {
		return &exitError{code: exitFailOn}
	}
	return nil
}

// explainDiagnostics is how many places are shown: as many as there are letters.
const explainDiagnostics = 52

// explainer checks the flags.
func (o *explainOptions) explainer(cmd *cobra.Command) (*explainer, error) {
	var bad mistakes
	p, policy, err := findProfile(o.profile)
	bad.add("--profile", err)
	p, err = changeRules(p, o.rules)
	bad.add("--rule", err)
	form, err := choice("key format", keyFormNames, o.keyForm)
	bad.add("--key-format", err)
	encoding, err := findQueryEncoding(o.queries, p)
	bad.add("--query-encoding", err)
	lv, err := findLevel(o.key, p)
	bad.add("--key", err)
	rd, err := findStandard(o.standard, p)
	bad.add("--standard", err)
	bad.add("--base", checkBase(o.base))
	if err := bad.err(); err != nil {
		return nil, err
	}
	p.MaxDiagnostics = explainDiagnostics
	n, err := codec.New(p, codec.WithPolicy(policy), codec.WithStandard(rd), codec.WithQueryEncoding(encoding))
	if err != nil {
		return nil, usage(err)
	}
	s := newStyle(cmd.OutOrStdout(), os.Getenv)
	s.unicode = s.unicode && !o.ascii
	return &explainer{style: s, norm: n, level: lv, form: codec.KeyForm(form), base: []byte(o.base), redact: o.redact}, nil
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
			return nil, usage(fmt.Errorf("the standard input is longer than %s; explain is for single URLs", formatSize(maxExplain)))
		}
		for line := range bytes.Lines(text) {
			urls = append(urls, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		}
	}
	return urls, nil
}

// An explainer explains URLs.
type explainer struct {
	style
	norm   *codec.Normalizer
	level  codec.Level // of the key that is compared
	form   codec.KeyForm
	base   []byte
	redact bool

	secrets []string // passwords that are to be hidden wherever they stand
}

// An explanation is all there is to say about one URL.
type explanation struct {
	src    []byte
	norm   []byte
	res    codec.Result
	err    error
	change codec.Change
	keys   [codec.NumLevels]explainedKey
	walk   []codec.Step
	rfc    view
	whatwg view
}

// explain finds out about src.
func (x *explainer) explain(src []byte) *explanation {
	e := &explanation{src: src, rfc: x.rfcView(src).rate(), whatwg: x.browserView(src).rate()}
	e.norm, e.err = x.norm.AppendRef(nil, x.base, src, &e.res)
	x.keepSecrets(string(src), string(e.norm), e.rfc.k1, e.whatwg.raw, e.whatwg.k1)
	if e.err != nil {
		return e
	}
	e.change = x.norm.Change(src, e.norm, &e.res)
	e.noteEmptyPair()
	x.explainKeys(e)
	e.walk = x.norm.Trace(x.base, src)
	return e
}

// noteEmptyPair adds the diagnostic of an empty field in the query, which the codec
// leaves to those who read parameters.
func (e *explanation) noteEmptyPair() {
	query := e.res.In.Span(codec.Query)
	n := params.EmptyPair(query.In(e.src))
	if n < 0 {
		return
	}
	at := query.Start + uint32(n)
	i := slices.IndexFunc(e.res.Diagnostics, func(m codec.Diagnostic) bool { return m.At > at })
	if i < 0 {
		i = len(e.res.Diagnostics)
	}
	e.res.Flags = e.res.Flags.With(codec.EmptyPair)
	e.res.Diagnostics = slices.Insert(e.res.Diagnostics, i, codec.Diagnostic{At: at, Flag: codec.EmptyPair, Component: codec.Query, Action: codec.Kept})
}

// keepSecrets remembers the passwords of URLs, if they are to be hidden: what is
// a password to one standard may be a part of the path to the other.
func (x *explainer) keepSecrets(urls ...string) {
	for _, url := range urls {
		if p := x.password([]byte(url)); p.Len() > 0 {
			x.secrets = append(x.secrets, url[p.Start:p.End])
		}
	}
}

// hide returns a URL with its password as ***, if that is asked for.
func (x *explainer) hide(url string) string {
	if p := x.password([]byte(url)); p.Len() > 0 {
		url = url[:p.Start] + "***" + url[p.End:]
	}
	return x.hideSecrets(url)
}

// hideSecrets returns text with *** for the passwords that are known.
func (x *explainer) hideSecrets(text string) string {
	for _, secret := range x.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// password returns where the password lies that is to be hidden, else an empty
// span: what either reading takes for one.
func (x *explainer) password(url []byte) codec.Span {
	if !x.redact {
		return codec.Span{}
	}
	var r, b codec.Result
	_ = codec.Parse(url, &r) // the components are there even with an error
	if _, err := browserNormalizer.AppendRef(nil, x.base, url, &b); err != nil && len(x.base) == 0 {
		_, _ = browserNormalizer.AppendRef(nil, []byte("http://h/"), url, &b) // a reference has one too
	}
	rfc, browser := r.In.Span(codec.Password), b.In.Span(codec.Password)
	switch {
	case rfc.Len() == 0:
		return browser
	case browser.Len() == 0:
		return rfc
	}
	return codec.Span{Start: min(rfc.Start, browser.Start), End: max(rfc.End, browser.End)}
}

// sharesKey reports whether a and b have readings and the same profile's key.
func (x *explainer) sharesKey(a, b *explanation) bool {
	return a.err == nil && b.err == nil && a.keys[x.level].text == b.keys[x.level].text
}

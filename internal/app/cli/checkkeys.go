package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// keyProfile is the default of --profile with --keys: the profile that most indexes use.
const keyProfile = "surt-ia"

// checkKeys reads indexes and prints the wrong keys.
func (o *checkOptions) checkKeys(cmd *cobra.Command, paths []string) error {
	a := o.options
	if !cmd.Flags().Changed("profile") {
		a.Profile = keyProfile
	}
	if !cmd.Flags().Changed("redact") {
		a.Redact = usualRedact
	}
	a.Jobs = 1
	var bad command.Mistakes
	set, err := a.resolveKeys(paths, keydiff.VerifyFields, &bad)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	v, err := keydiff.NewVerification(set.record.Normalizer, a.Redact, func(w keydiff.WrongKey) error {
		if o.quiet {
			return nil
		}
		return writeWrongKey(out, &w)
	})
	if err != nil {
		return err
	}
	run := scan{set: set}
	codecs := func() (func() engine.Codec, error) {
		if name := run.formats.name(); name != "cdx" && name != "cdxj" && len(run.formats.names()) > 0 {
			return nil, command.Usagef("the input has the format %s: --keys needs an index with keys, cdx or cdxj", name)
		}
		return v.NewCodecs(engine.NewRecordCodecs(run.formats.job)), nil
	}
	return run.report(cmd, codecs, func() (failed bool, err error) {
		if v.Err == nil {
			_, err = fmt.Fprintf(out, "%s, %s wrong (profile %s)\n", terminal.Plural(v.Keys, "key", "keys"), terminal.FormatCount(v.Wrong), set.record.Normalizer.Profile().Name)
		}
		return v.Wrong > 0, cmp.Or(v.Err, command.Wrote(err))
	})
}

// writeWrongKey writes a line for a wrong key.
func writeWrongKey(w io.Writer, k *keydiff.WrongKey) error {
	at := fmt.Sprintf("%s:%d", terminal.OneLine(shownPath(k.File)), k.Line)
	text := "expected " + k.Want + ", found " + k.Found
	if k.Reason != "" {
		text = fmt.Sprintf("the URL has no key (%s), found %s", k.Reason, k.Found)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", at, terminal.Printable(text))
	return err
}

package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// verifyKeysOptions holds the flags of verify-keys: some of the one-shot's, and
// its own.
type verifyKeysOptions struct{ options }

// newVerifyKeysCmd returns the command that checks the keys of indexes.
func newVerifyKeysCmd(c *daemon.Catalog) *cobra.Command {
	o := verifyKeysOptions{newOptions(c)}
	cmd := &cobra.Command{
		Use:   "verify-keys [flags] FILE|GLOB|DIR|-...",
		Short: "Check the keys of web archive indexes",
		Long: `Compare the key of each record of a CDX or CDXJ index with the key that the profile makes of the record's URL. The key is
the first column. For each wrong key, print its file and line, the expected key and the key found. Replace
the keys of URLs with a password by *** unless you pass --redact none.

Exit codes: 0 all keys are right, 1 fatal error, 2 usage error, 3 interrupted, 4 a key is wrong, a record cannot be read,
or an input is damaged.`,
		Example: `  urlfold verify-keys -f cdx index.cdx
  urlfold verify-keys -f cdxj indexes/*.cdxj.gz
  urlfold verify-keys --quiet -f cdxj index.cdxj    print only the number of wrong keys`,
		RunE: o.run,
	}
	o.Profile, o.Redact = keyProfile, usualRedact
	o.register(cmd, &o, "verify-keys")
	cmd.Flags().BoolVar(&o.Quiet, "quiet", false, "print only the number of wrong keys")
	return cmd
}

// keyProfile is the default of --profile: the profile that most indexes use.
const keyProfile = "surt-ia"

// run reads the indexes and prints the wrong keys.
func (o *verifyKeysOptions) run(cmd *cobra.Command, paths []string) error {
	a := o.options
	a.Jobs = 1
	var bad command.Mistakes
	set, err := a.resolveKeys(paths, keydiff.VerifyFields, &bad)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	v, err := keydiff.NewVerification(set.record.Normalizer, o.Redact, func(w keydiff.WrongKey) error {
		if o.Quiet {
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
			return nil, command.Usage(fmt.Errorf("the input has the format %s: verify-keys needs an index with keys, cdx or cdxj", name))
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

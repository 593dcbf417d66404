package service

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

func newInit(c *daemon.Catalog, detect Detector) *cobra.Command {
	var p plan
	var schema bool
	cmd := &cobra.Command{
		Use:   "init [flags] [INPUT]",
		Short: "Write a commented configuration for urlfold run",
		Long: `From INPUT and options, write a commented configuration for urlfold run. On a terminal, ask for what is missing.
INPUT and --output are a path or kafka://HOST:PORT/TOPIC. INPUT can also be nats://HOST:PORT/STREAM, and --output
nats://HOST:PORT/SUBJECT.

With --schema, print the JSON Schema (2020-12) of configurations instead. Editors use it for completion and
validation: save it as urlfold.schema.json and make "# yaml-language-server: $schema=urlfold.schema.json" the first
line of a configuration.`,
		Example: `  urlfold init '/var/log/nginx/*.log' --from combined -o kafka://localhost:9092/web > urlfold.yaml
  urlfold init kafka://localhost:9092/web --from jsonl --url-field request.url -o nats://localhost:4222/web.clean
  urlfold init --schema > urlfold.schema.json`,
		Args: command.WantArgs(0, 1, "init: takes one INPUT; quote a glob, so that the shell does not expand it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				return writeSchema(cmd.OutOrStdout(), c)
			}
			if len(args) > 0 {
				p.input = args[0]
			}
			in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
			interactive := terminal.Is(in) && terminal.Is(out)
			found := func() string {
				err := p.detect(cmd.Context(), detect)
				if err != nil && !interactive {
					_, _ = fmt.Fprintf(out, "urlfold: the format is not detected: %v\n", err)
				}
				return p.format
			}
			if err := p.ask(in, out, interactive, found); err != nil {
				return err
			}
			return p.write(cmd.OutOrStdout(), c)
		},
	}
	p.follow = true
	f := cmd.Flags()
	f.SortFlags = false
	p.register(f, "\"/var/lib/urlfold\"")
	f.BoolVar(&schema, "schema", false, "print the JSON Schema of configurations")
	return cmd
}

// register adds the options of p. dataDir describes the default of --data-dir.
func (p *plan) register(f *pflag.FlagSet, dataDir string) {
	f.StringVarP(&p.output, "output", "o", "", "write the records to this `place`: a file, a folder that ends in /, or a URL of a broker")
	f.StringVarP(&p.format, "from", "f", "", "read records in this `format`. Default: detected, if the files exist")
	f.StringVar(&p.urlField, "url-field", "", "read the URL from this `field`: a member, a column or a key, in formats with named fields")
	f.StringVarP(&p.to, "to", "r", "rewrite", "write records in this `format`")
	f.StringVar(&p.fields, "fields", "", "write the fields with these `names`, separated by commas, for jsonl, tsv or csv")
	f.StringVarP(&p.profile, "profile", "p", "equiv", "apply this `profile`")
	f.StringVarP(&p.key, "key", "k", "", "compute keys at this `level`. Default: the profile's")
	f.StringVar(&p.where, "where", "", "keep only the records for which this `expression` is true")
	f.StringVar(&p.dataDir, "data-dir", "", "store checkpoints in this `directory` (default "+dataDir+")")
}

// writeSchema writes the JSON Schema of configurations.
func writeSchema(w io.Writer, c *daemon.Catalog) error {
	data, err := config.Schema(c.Types())
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return command.Wrote(err)
}

// detect sets p.format to the detected format of the input, if the input is a
// file and p.format is empty.
func (p *plan) detect(ctx context.Context, detect Detector) (err error) {
	in, err := parsePlace(p.input)
	if err != nil {
		return command.Usagef("the input: %w", err) // fail before asking for the format
	}
	if in.kind == "file" && p.format == "" {
		p.format, err = detect(ctx, p.input)
	}
	return err
}

// ask fills the fields that p lacks. If interactive, it asks up to four
// questions. Otherwise it takes the default, or returns an error that names the
// option. found returns the format of the input, or "".
func (p *plan) ask(in io.Reader, out io.Writer, interactive bool, found func() string) error {
	lines := bufio.NewReader(in)
	for _, q := range []struct {
		value                   *string
		question, preset, named string // named: what gives the value without a terminal; "" if preset will do
	}{
		{&p.input, "Where are the records? A path, a glob, or " + placeForms, "", "argument: INPUT"},
		{&p.format, "Their format, as 'urlfold help formats' lists them", "combined", "option: -f/--from FORMAT"},
		{&p.output, "Where should the records go? A file, a folder that ends in /, or a URL such as kafka://HOST:PORT/TOPIC", "", "option: -o/--output OUTPUT"},
		{&p.dataDir, "Where may urlfold store checkpoints?", "/var/lib/urlfold", ""},
	} {
		switch {
		case *q.value != "" || q.value == &p.format && found() != "":
			continue
		case !interactive && q.named != "":
			return command.Usagef("missing required %s", q.named)
		case !interactive:
			*q.value = q.preset
			continue
		}
		if q.preset != "" {
			q.question += " [" + q.preset + "]"
		}
		if _, err := fmt.Fprintf(out, "%s: ", q.question); err != nil {
			return err
		}
		answer, _ := lines.ReadString('\n') // an error leaves the answer incomplete or empty
		if *q.value = cmp.Or(strings.TrimSpace(answer), q.preset); *q.value == "" {
			return command.Usagef("missing required %s", q.named)
		}
	}
	return nil
}

// write writes the configuration, if it is valid.
func (p *plan) write(w io.Writer, c *daemon.Catalog) error {
	text, err := p.text()
	if err != nil {
		return command.Usage(err)
	}
	if _, err := config.Parse("the configuration", []byte(text), c.Types(), config.OS()); err != nil {
		return command.BadConfig(err)
	}
	_, err = io.WriteString(w, text)
	return command.Wrote(err)
}

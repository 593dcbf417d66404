package service

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/observe/tap"
)

const tapLong = `Show samples of the records that a running daemon processes: the URL, its normal form, flags and applied rules. The
daemon must have "admin: {tap: true}", and listen on a unix socket or a loopback address.

Each worker spends at most 0.8 % of its time on samples, so rare records may take a while to appear. The daemon drops
samples that are not read in time and never waits. Passwords and well-known secret parameters are redacted.`

const tapExamples = `  urlfold daemon tap -c urlfold.yaml
  urlfold daemon tap --flag bad-utf8,non-hex --site example.com
  urlfold daemon tap --admin unix:/run/urlfold/admin.sock --to jsonl --count 100`

// tapFlags are the options of urlfold daemon tap.
type tapFlags struct {
	adminFlags
	flags, rules, changes []string
	site                  string
	rate                  float64
	count                 int
	form                  command.Form
}

func newTap(c *daemon.Catalog) *cobra.Command {
	o := &tapFlags{}
	cmd := &cobra.Command{
		Use: "tap", Short: "Show samples of the records of a running daemon", Long: tapLong, Example: tapExamples, Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTap(cmd, c, o) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.flags, "flag", nil, "show only records with one of these `flags`, separated by commas; see 'urlfold help flags'")
	f.StringSliceVar(&o.rules, "rule", nil, "show only records to which one of these `rules` was applied")
	f.StringSliceVar(&o.changes, "change", nil, "show only URLs with one of these `classes` of change: unchanged, cosmetic, scheme-equal, repaired, lossy. See field change in 'urlfold help fields'")
	f.StringVar(&o.site, "site", "", "show only URLs whose host is this `domain` or below it")
	f.Float64Var(&o.rate, "rate", tap.DefaultRate, "show at most this `number` of samples per second, up to 1000")
	f.IntVarP(&o.count, "count", "n", 0, "exit after this `number` of samples. 0: no limit")
	o.form.Register(cmd, "write this `format`: text, or jsonl for an object per sample", "text", "jsonl")
	command.CompleteList(cmd, "flag", codec.AllFlags().Names())
	command.CompleteList(cmd, "rule", codec.AllRules().Names())
	return cmd
}

// query returns the parameters of the request.
func (o *tapFlags) query() url.Values {
	q := url.Values{}
	for key, list := range map[string][]string{"flag": o.flags, "rule": o.rules, "change": o.changes} {
		if len(list) > 0 {
			q.Set(key, strings.Join(list, ","))
		}
	}
	if o.site != "" {
		q.Set("site", o.site)
	}
	q.Set("rate", strconv.FormatFloat(o.rate, 'g', -1, 64))
	return q
}

// runTap prints samples until a signal, the end of the daemon, or --count.
func runTap(cmd *cobra.Command, c *daemon.Catalog, o *tapFlags) error {
	if _, err := tap.ParseFilter(o.query()); err != nil {
		return command.Usage(flagsOf(err))
	}
	if o.count < 0 {
		return command.Usagef("--count: must not be negative")
	}
	client, err := o.client(c)
	if err != nil {
		return err
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	body, err := client.open(sig.Soft, "/tap", o.query())
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		return fmt.Errorf("the daemon at %s serves no samples: set admin.tap: true in its configuration and restart it", client.at)
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // closing a body loses no data
	p := &tapPrinter{o: o, w: cmd.OutOrStdout(), Style: command.Style(cmd, cmd.OutOrStdout())}
	err = p.copy(body)
	p.summary(cmd.ErrOrStderr())
	if sig.Soft.Err() != nil || errors.Is(err, errEnough) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// flagsOf turns the errors of [tap.ParseFilter], which begin with the name of a
// parameter, into errors of the options with the same names.
func flagsOf(err error) error {
	var errs []error
	for _, e := range errlist.Flatten(err) {
		errs = append(errs, fmt.Errorf("--%w", e))
	}
	return errors.Join(errs...)
}

// errEnough ends the stream after --count samples.
var errEnough = errors.New("enough samples")

// A tapPrinter prints the events of a stream.
type tapPrinter struct {
	terminal.Style
	o        *tapFlags
	w        io.Writer
	shown    int
	progress struct{ Examined, Sent, Dropped int64 }
}

// copy reads events until the end of the stream.
func (p *tapPrinter) copy(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 4<<20)
	event := ""
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), ": ")
		switch {
		case name == "event":
			event = value
		case name != "data":
		case event == "progress":
			_ = json.Unmarshal([]byte(value), &p.progress) // ignore errors: these are only counters for display
		case event == "sample":
			if err := p.sample([]byte(value)); err != nil {
				return err
			}
		}
	}
	return in.Err()
}

// sample prints one sample.
func (p *tapPrinter) sample(data []byte) error {
	var err error
	if p.o.form.Name == "jsonl" {
		_, err = fmt.Fprintf(p.w, "%s\n", data)
	} else {
		var s tap.Sample
		if err = json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("read a sample: %w", err)
		}
		_, err = io.WriteString(p.w, p.text(&s))
	}
	if p.shown++; err == nil && p.shown == p.o.count {
		return errEnough
	}
	return err
}

// text returns a sample as human-readable text: the URL, its normal form, and the
// rules that changed the URL.
func (p *tapPrinter) text(s *tap.Sample) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line(p.Paint(terminal.Dim, terminal.OneLine(s.File)+" "+strconv.FormatInt(s.Offset, 10)))
	if s.URL != "" {
		line("  " + p.Escape(s.URL))
	}
	switch {
	case s.Error != "":
		line("  " + p.Paint(terminal.Red, "rejected: "+p.Escape(s.Error)))
	case s.Norm != s.URL:
		line("  " + p.Pick("→", "->") + " " + p.Escape(s.Norm))
	}
	var about []string
	if s.Change != "" {
		about = append(about, s.Change)
	}
	if len(s.Flags) > 0 {
		about = append(about, "flags "+strings.Join(s.Flags, ","))
	}
	if len(s.Rules) > 0 {
		about = append(about, "rules "+strings.Join(s.Rules, ","))
	}
	if len(about) > 0 {
		line("  " + p.Paint(terminal.Dim, strings.Join(about, "  ")))
	}
	return b.String()
}

// summary reports samples that the daemon has dropped.
func (p *tapPrinter) summary(w io.Writer) {
	if p.progress.Dropped > 0 {
		_, _ = fmt.Fprintf(w, "urlfold daemon tap: %s dropped because they were not read in time\n", terminal.Plural(p.progress.Dropped, "sample", "samples"))
	}
}

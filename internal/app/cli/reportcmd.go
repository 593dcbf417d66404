package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/insight"
	"github.com/urlfold/urlfold/internal/report/logreport"
)

const reportLong = `Read logs once and describe them: traffic over time, pages, duplicates by key level, defects, sites, parameters, campaigns,
status codes and damaged archives. The report is one HTML page without scripts, which loads nothing from the network. --to
selects Markdown or JSON instead, or several formats together: then each output has the name of --output with its own
extension.

Pages are keys of the level page, whatever the profile: spellings of a page, with and without tracking parameters, count as
one. urlfold replaces passwords with *** unless you pass --redact none; --secret hides the values of parameters.

With --merge, the files are the summaries of all shards of one run, in any order. The field "seconds" of the result is
the time of the slowest shard. The only other options that --merge accepts are --output and --force.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 --fail-on matched.`

const reportExamples = `  urlfold report access.log.gz -o report.html
  urlfold report 'logs/**/*.gz' -o october.html --to html,md,json
  urlfold report --where 'agent contains "Googlebot"' access.log -o bots.html
  urlfold report --to md access.log | less
  urlfold report --merge shard-*.json -o summary.json`

// reportOptions holds the options of report.
type reportOptions struct {
	// Write these formats: {}. Default: by the extension of the output, or html; md on a
	// terminal.
	As []string `flag:"to,r" for:"report" split:"," arg:"formats"`
	// List up to N pages, sites, parameters and campaigns.
	Count int `flag:"count,n" for:"report" arg:"N"`
	// Add up the summaries of all shards of a run with --shard, and write the summary that
	// one process would have written; only "seconds" differs.
	Merge bool `flag:"merge" for:"report"`
	analysis
}

// newReportCmd returns the command that describes logs.
func newReportCmd(c *daemon.Catalog) *cobra.Command {
	o := &reportOptions{Count: 20, analysis: newAnalysis(c)}
	cmd := &cobra.Command{
		Use:   "report [flags] [FILE|GLOB|DIR|-]... -o report.html",
		Short: "Write a page about the traffic, duplicates and defects of logs",
		Long:  reportLong, Example: reportExamples,
		RunE: o.run,
	}
	o.register(cmd, o, "report")
	return cmd
}

// A target is an output of a report.
type target struct{ path, form string }

// targets returns the outputs that the options name.
func (o *reportOptions) targets(stdout io.Writer, bad *command.Mistakes) (list []target) {
	forms := o.As
	ext := filepath.Ext(o.Out)
	if len(forms) == 0 {
		forms = []string{logreport.Forms()[0]}
		switch {
		case o.Out == "" && terminal.Is(stdout):
			forms[0] = "md"
		case slices.Contains(logreport.Forms(), strings.TrimPrefix(ext, ".")):
			forms[0] = ext[1:]
		case ext != "":
			bad.Addf("--output", "no format has the extension %q: use .html, .md or .json, or name the format with --to", ext)
		}
	}
	if len(forms) > 1 && (o.Out == "" || o.Out == stdoutPath) {
		bad.Addf("--to", "several formats need a file: name it with --output")
	}
	for _, form := range forms {
		_, err := suggest.Index("format", logreport.Forms(), form)
		bad.Add("--to", err)
		path := o.Out
		if len(forms) > 1 {
			path = strings.TrimSuffix(o.Out, ext) + "." + form
		}
		list = append(list, target{path, form})
	}
	return list
}

func (o *reportOptions) run(cmd *cobra.Command, paths []string) error {
	if o.Merge {
		return o.merge(cmd, paths)
	}
	var bad command.Mistakes
	targets := o.targets(cmd.OutOrStdout(), &bad)
	bad.Within("--count", o.Count, maxShown)
	opt := o.zoned(&bad)
	set, err := o.prepare(paths, (*insight.Survey)(nil).Fields(), &bad)
	if err != nil {
		return err
	}
	for _, t := range targets[1:] {
		bad.Add("--output", set.checkFile("--output", t.path))
	}
	if err := bad.Err(); err != nil {
		return err
	}
	survey := insight.NewSurvey(set.record.Normalizer, set.analysisLimits(opt))
	defer set.limitMemory()()
	return o.analysis.run(cmd, set, survey, func(r *analysisRun) error {
		found, err := survey.Findings(o.Count)
		if err != nil {
			return err
		}
		result := r.describe()
		result.Fill(found, opt.Zone)
		result.Zone = opt.Zone.String()
		for _, t := range targets {
			text, err := result.Append(nil, t.form)
			if err == nil {
				o.Out = t.path
				err = o.put(r, text)
			}
			if err != nil {
				return fmt.Errorf("write report: %w", err)
			}
		}
		return nil
	})
}

// describe returns a report with what is known about the run.
func (r *analysisRun) describe() *logreport.Report {
	st, n := &r.out.stats, r.set.record.Normalizer
	d := &logreport.Report{
		Version: version(), Profile: n.Profile().Name, Keys: n.KeyFunction(codec.LevelPage), Format: r.formats.name(), Where: r.set.Where,
		Counts: logreport.Counts{
			Records: st.Records, URLs: st.URLs, Changed: st.Changed, Flagged: st.Flagged, Filtered: st.Filtered,
			NoURL: st.NoURL, Blank: st.Blank, Rejected: st.Rejected,
		},
	}
	for i := range r.out.reports {
		f := &r.out.reports[i]
		fs := recordsOf(f)
		d.Counts.Bytes += f.Bytes
		verdict := "complete"
		if f.Verdict.Damage() || f.Verdict.String() != "" && !readable(f.Verdict) {
			verdict = terminal.Printable(f.Verdict.String())
		}
		d.Files = append(d.Files, logreport.File{
			Path: shownPath(f.Path), Compression: f.Format.String(), Format: r.formats.format(f.Path), Records: fs.Records, Rejected: fs.Rejected,
			Bytes: f.Bytes, Damaged: f.Verdict.Damage(), Verdict: verdict,
		})
	}
	return d
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/report/insight"
)

const topLong = `Count how often each key occurs in the input, and list the most frequent keys, each with its count and an example URL. The
default is the key of the profile; --by counts by any output field, by the names of parameters (param) or by flags (flag).
With several names, separated by commas, count their combinations.

Counts are exact. Temporary files hold the counts that do not fit into --max-memory. The order is by count, then by key,
and the result does not depend on the number of workers. The example is the shortest URL of a key in normal form. urlfold
replaces passwords with *** unless you pass --redact none.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 --fail-on matched.`

const topExamples = `  urlfold top access.log.gz                               list the ten most frequent keys
  urlfold top -n 20 --by page 'logs/**/*.gz'               list the 20 most frequent pages
  urlfold top --by status,site access.log                 count combinations of status and site
  urlfold top -n 5 --by template --per day access.log     list the five most frequent path templates of each day
  urlfold top --by param -r jsonl access.log              count the names of parameters, as JSON lines
  urlfold top --where 'status == 404' --by url x.log      list the missing URLs`

// maxTop is the maximum of --count of top.
const maxTop = 10_000_000

// topOptions holds the options of top.
type topOptions struct {
	// Count by these names, separated by commas: fields of --fields, param, flag.
	Counted string `flag:"by" for:"count" arg:"names"`
	// List the N most frequent keys; with --per, of each period.
	Count int `flag:"count,n" for:"count" arg:"N"`
	analysis
}

// newTopCmd returns the command that lists the most frequent keys.
func newTopCmd(c *daemon.Catalog) *cobra.Command {
	o := &topOptions{Counted: "key", Count: 10, analysis: newAnalysis(c)}
	cmd := &cobra.Command{
		Use:   "top [flags] [FILE|GLOB|DIR|-]...",
		Short: "List the most frequent pages, sites, parameters or other keys",
		Long:  topLong, Example: topExamples,
		RunE: o.run,
	}
	o.register(cmd, o, "results")
	return cmd
}

func (o *topOptions) run(cmd *cobra.Command, paths []string) error {
	var bad command.Mistakes
	bad.Within("--count", o.Count, maxTop)
	by, err := insight.ParseBy(o.Counted)
	bad.Add("--by", err)
	opt := o.resolve(cmd.OutOrStdout(), &bad)
	if err != nil {
		by = insight.By{Columns: []string{"key"}} // replaces the invalid value
	}
	top := insight.NewTop(by, opt)
	set, err := o.prepare(paths, top.Fields(), &bad)
	if err != nil {
		return err
	}
	top = insight.NewTop(by, set.analysisLimits(opt))
	defer set.limitMemory()()
	return o.analysis.run(cmd, set, top, func(r *analysisRun) error {
		periods, err := top.Result(o.Count)
		if err != nil {
			return err
		}
		return o.write(r, insight.TopColumns(by, opt.Per), func(p insight.Printer) error { return insight.PrintTop(p, by, opt.Per, periods) })
	})
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/insight"
)

const learnLong = `Find query parameters and path segments that do not change the page, and propose, with evidence, that keys ignore them.
urlfold compares URLs whose keys at level fetch become equal if one parameter or segment is left out. It needs at least
50 pairs of such URLs, 20 values of the parameter and 10 different responses. It proposes the parameter if the status
and the size are equal in 99 % of the pairs. With --content, it compares a member of JSON records instead, such as a
hash of the content or the canonical URL of the page. Frequency alone is not a reason to propose a parameter.

urlfold changes no profile. Check the proposals, and add them to the rules of a profile of your own.

The columns are the kind (param or segment), the host, the name, the pairs, the pairs with the same response, the distinct
values, the distinct responses, and an example. The name of a segment is the shape of its path, with the segment in
brackets.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 --fail-on matched.`

const learnExamples = `  urlfold learn 'logs/**/*.gz'
  urlfold learn -r jsonl access.log | jq -r .name
  urlfold learn -f jsonl --url-field url --content content_hash crawl.jsonl`

// learnOptions holds the options of learn.
type learnOptions struct {
	// Compare this member of JSON records instead of status and size: a path such as
	// page.hash.
	Content string `flag:"content" for:"count" arg:"member"`
	analysis
}

// newLearnCmd returns the command that proposes parameters to ignore.
func newLearnCmd(c *daemon.Catalog) *cobra.Command {
	o := &learnOptions{analysis: newAnalysis(c)}
	cmd := &cobra.Command{
		Use:   "learn [flags] [FILE|GLOB|DIR|-]...",
		Short: "Propose parameters that do not change the page, with evidence",
		Long:  learnLong, Example: learnExamples,
		RunE: o.run,
	}
	o.register(cmd, o, "results")
	for _, name := range []string{"per", "timezone-out"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

func (o *learnOptions) run(cmd *cobra.Command, paths []string) error {
	var bad command.Mistakes
	if o.Per != "" || o.PerZone != "" {
		bad.Addf("--per", "learn compares all records with each other; remove the option")
	}
	opt := o.resolve(cmd.OutOrStdout(), &bad)
	set, err := o.prepare(paths, insight.NewLearner(nil, o.Content, opt).Fields(), &bad)
	if err != nil {
		return err
	}
	learner := insight.NewLearner(set.record.Normalizer, o.Content, set.analysisLimits(opt))
	return o.analysis.run(cmd, set, learner, func(r *analysisRun) error {
		list, others, err := learner.Proposals()
		if err != nil {
			return err
		}
		if err := o.write(r, insight.ProposalColumns(), func(p insight.Printer) error { return insight.PrintProposals(p, list) }); err != nil {
			return err
		}
		if !set.Quiet {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "urlfold: %s; %s\n", terminal.Plural(int64(len(list)), "proposal", "proposals"),
				terminal.Plural(int64(others), "parameter or segment lacks evidence", "parameters and segments lack evidence")) // an error of stderr cannot be reported
		}
		return nil
	})
}

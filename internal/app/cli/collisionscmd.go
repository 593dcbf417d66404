package cli

import (
	"bufio"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// collisionOptions holds the options of collisions: some of the one-shot's, and its
// own.
type collisionOptions struct {
	options
	// Show up to N URLs of each group.
	Examples int `flag:"examples" for:"collisions" arg:"N"`
	// Show up to N groups, those with the most URLs first.
	Count int `flag:"count,n" for:"collisions" arg:"N"`
	// Instead of a report, write every group as a JSON object on a separate line,
	// in the order of the keys.
	All  bool `flag:"all" for:"collisions"`
	form command.Form
}

// newCollisionsCmd returns the command that shows which URLs have the same key.
func newCollisionsCmd(c *daemon.Catalog) *cobra.Command {
	o := collisionOptions{options: newOptions(c), Examples: 3, Count: 10}
	cmd := &cobra.Command{
		Use:   "collisions [flags] [FILE|GLOB|DIR|-]...",
		Short: "Show which URLs have the same key, and which rules merge them",
		Long: `Compute the key of each URL. Different URLs with the same key form a group. Report the groups, their sizes, examples, and
the rules that make their keys the same. Use this command before you remove duplicates with a profile or level, or when
--dedupe removes more than you expect.

To find the rules, urlfold examines up to 8 URLs of each group, or as many as --examples; for a relative URL, it examines
the normal form. If all URLs of a group have the same defect, the rule that repairs the defect is not reported. Temporary
files hold the URLs that do not fit into --max-memory, and take about the size of all different URLs. urlfold replaces
passwords with *** unless you pass --redact none.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 an input is damaged or, with
--fail-on differ, several URLs have one key.`,
		Example: `  urlfold collisions --key page urls.txt
  urlfold collisions -p crawler access.log.gz
  urlfold collisions -k page --all urls.txt | jq -r '.rules[]' | sort | uniq -c`,
		RunE: o.run,
	}
	o.Redact = usualRedact
	o.register(cmd, &o, "readers", "collisions")
	o.form.Register(cmd, "write this `format`: text, or json for one object", "text", "json")
	o.failOn(cmd, "damage, unknown, differ. unknown means an unknown format; differ means that several URLs have one key", "damage", "unknown", "differ", "none")
	cmd.Flags().Lookup("max-memory").Usage = "limit the memory for URLs to this `size`; the rest goes to temporary files"
	return cmd
}

// run reads the input and writes the report.
func (o *collisionOptions) run(cmd *cobra.Command, paths []string) (err error) {
	var bad command.Mistakes
	bad.Within("--examples", o.Examples, maxShown)
	bad.Within("--count", o.Count, maxShown)
	if o.All && o.form.Name == "json" {
		bad.Addf("--all", "cannot be combined with --to json: it writes groups and no report")
	}
	set, err := o.resolveKeys(paths, keydiff.Fields, &bad)
	if err != nil {
		return err
	}
	if set.TempDir != "" {
		if err := disk.Writable(set.TempDir); err != nil {
			return command.Usagef("--temp-dir: %w", err)
		}
	}
	c, err := keydiff.NewCollisions(sideOf(set), keydiff.CollisionOptions{Examples: o.Examples, Top: o.Count, MaxMemory: int64(set.MaxMemory), Dir: set.TempDir, Redact: o.Redact})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	run := scan{set: set}
	codecs := func() (func() engine.Codec, error) {
		return c.NewCodecs(engine.NewRecordCodecs(run.formats.job)), nil
	}
	return run.report(cmd, codecs, func() (failed bool, err error) {
		out := bufio.NewWriter(cmd.OutOrStdout())
		each := func(*keydiff.CollisionGroup) error { return nil }
		if o.All {
			each = func(g *keydiff.CollisionGroup) error { return keydiff.WriteJSON(out, g) }
		}
		r, err := c.Report(run.formats.name(), each)
		switch {
		case err != nil:
		case o.form.Name == "json":
			err = keydiff.WriteJSON(out, r)
		case !o.All:
			err = keydiff.WriteCollisionText(out, command.Style(cmd, cmd.OutOrStdout()), r)
		}
		if err != nil {
			return false, err
		}
		return slices.Contains(o.FailOn, "differ") && r.Groups > 0, command.Wrote(out.Flush())
	})
}

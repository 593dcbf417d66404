package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/keyset/identity"
)

// This file has the commands of a set of keys on disk, and their options.
// seen.go implements them.

const seenLong = `Keep a set of the keys of URLs in a folder, and ask which URLs are in it, for example which pages a crawler has
fetched.

A set stores the names of the key function, the profile and the lists that its keys depend on. A command fails if it
uses a different profile or different lists. "merge" and "query" take --profile, --by, --dedupe-url and --hash from the
set unless you pass them. A set takes about 14 bytes of disk for each key. Only one command at a time can change a set;
any number of commands can read the set meanwhile. If a command fails or is killed, the set stays as it was.

Exit codes: 0 success, 1 fatal error, 2 usage error, 3 interrupted, 4 an input is damaged.`

const seenExamples = `  urlfold seen build fetched/ 'logs/**/*.gz'            make a set of the URLs of logs
  urlfold seen merge fetched/ today.txt                 add the URLs of a list
  urlfold seen merge fetched/ other/                    add another set
  urlfold seen query fetched/ candidates.txt            write the URLs that are not in it: key TAB norm
  urlfold seen query --seen -r rewrite fetched/ x.log   write the records whose URLs are in it
  urlfold seen shrink --before 2026-08-01 fetched/      remove the keys last added before that date`

// seenOptions holds the options of the seen commands: some options of the one-shot, and
// options that only the seen commands have.
type seenOptions struct {
	options
	// Write the records whose URLs are in the set. Default: write the records
	// whose URLs are not in the set, and the records without a key.
	InSet bool `flag:"seen" for:"query"`
	// Store this date, YYYY-MM-DD in UTC, as the day on which the keys were
	// added. Default: today.
	Date string `flag:"date" for:"stamped" arg:"date"`

	cmd      *cobra.Command
	stampDay uint32
}

// newSeenCmd returns the seen command, with its subcommands for sets of keys.
func newSeenCmd(c *daemon.Catalog) *cobra.Command {
	cmd := &cobra.Command{
		Use: "seen", Short: "Keep a set of seen URLs on disk, and ask which URLs are in it", Long: seenLong, Example: seenExamples,
	}
	build := newSeenUse(c, "build [flags] SET [FILE|GLOB|DIR|-]...", "Make a set of the keys of all URLs in the inputs", (*seenOptions).build, "stamped")
	build.cmd.Flags().BoolVar(&build.Force, "force", false, "replace an existing set, when the new one is complete. Default: fail if it exists")
	merge := newSeenUse(c, "merge [flags] SET [SET|FILE|GLOB|DIR|-]...", "Add the keys of other sets, or of all URLs in the inputs", (*seenOptions).merge, "stamped")
	query := newSeenUse(c, "query [flags] SET [FILE|GLOB|DIR|-]...", "Write the URLs that are not in the set, or with --seen the URLs in it", (*seenOptions).query, "query")
	var before string
	shrink := &cobra.Command{
		Use: "shrink SET", Short: "Remove old keys from a set, and write the others as one file", Args: command.WantArgs(1, 1, "shrink: want one SET, the folder of a set"),
		RunE: func(cmd *cobra.Command, args []string) error { return shrinkSet(cmd, args[0], before) },
	}
	shrink.Flags().StringVar(&before, "before", "", "remove the keys last added before this `date`, YYYY-MM-DD in UTC. Default: remove none")
	info := &cobra.Command{
		Use: "info SET", Short: "Print what a set contains", Args: command.WantArgs(1, 1, "info: want one SET, the folder of a set"),
		RunE: func(cmd *cobra.Command, args []string) error { return showSet(cmd, args[0]) },
	}
	return command.WithCommands(cmd, build.cmd, merge.cmd, query.cmd, shrink, info)
}

// newSeenUse returns a command that reads URLs, with the options for it and for more.
func newSeenUse(c *daemon.Catalog, use, short string, run func(o *seenOptions, set string, paths []string) error, more ...string) *seenOptions {
	o := &seenOptions{options: newOptions(c)}
	o.cmd = &cobra.Command{
		Use: use, Short: short,
		Args: command.WantArgs(1, math.MaxInt, "missing SET: name the folder of the set"),
		RunE: func(_ *cobra.Command, args []string) error { return run(o, args[0], args[1:]) },
	}
	o.Render.Form, o.MaxMemory, o.identified = record.RenderKeys.String(), 128*field.MiB, true
	o.register(o.cmd, o, append(more, "readers", "seen")...)
	o.describe("by", "make the keys from this `field`: "+strings.Join(record.IdentityNames(), ", ")+". key is the key at the level of --key. Default: the field of an existing set, or key")
	o.describe("dedupe-url", "make the keys from these `URLs` of a record: all, or first. With all, the order of the URLs counts. Default: the value in an existing set, or all")
	if f := o.cmd.Flags().Lookup("to"); f != nil {
		f.Usage = strings.TrimSuffix(f.Usage, "rewrite") + "keys"
	}
	o.describe("max-memory", "limit the memory for keys to this `size`; the rest goes to temporary files")
	return o
}

// describe replaces the help text of an option.
func (o *seenOptions) describe(flag, text string) { o.cmd.Flags().Lookup(flag).Usage = text }

// dayOf returns the number of days from 1970-01-01 to a date, or to today if text is
// empty.
func dayOf(text string) (uint32, error) {
	t := time.Now()
	if text != "" {
		var err error
		if t, err = time.Parse(time.DateOnly, text); err != nil || t.Unix() < 0 {
			return 0, fmt.Errorf("invalid date %q: want YYYY-MM-DD, from 1970-01-01", text)
		}
	}
	return uint32(t.Unix() / (24 * 60 * 60)), nil
}

// dateOf is the reverse of dayOf.
func dateOf(day uint32) string {
	return time.Unix(int64(day)*24*60*60, 0).UTC().Format(time.DateOnly)
}

// shrinkSet removes the keys of a set that were last added before a date.
func shrinkSet(cmd *cobra.Command, dir, before string) error {
	var least uint32
	if before != "" {
		var err error
		if least, err = dayOf(before); err != nil {
			return command.Usagef("--before: %w", err)
		}
	}
	store, err := openSet(dir, nil, keyset.Options{})
	if err != nil {
		return err
	}
	had := store.Len()
	err = store.Shrink(least)
	if err == nil {
		err = store.Commit()
	}
	now := store.Len()
	_, bytes := store.Bytes()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s, %s left, %s\n", terminal.Plural(had-now, "key", "keys"), terminal.FormatCount(now), terminal.FormatSize(bytes))
	return err
}

// showSet prints what a set contains.
func showSet(cmd *cobra.Command, dir string) error {
	store, err := keyset.OpenRead(dir, nil)
	if err != nil {
		return setError(err)
	}
	oldest, newest := store.Stamps()
	_, bytes := store.Bytes()
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	rows := [][2]string{{"keys", terminal.FormatCount(store.Len())}, {"disk", terminal.FormatSize(bytes)}}
	if store.Len() > 0 {
		rows = append(rows, [2]string{"added", dateOf(oldest) + " to " + dateOf(newest)})
	}
	for _, name := range identity.Names() {
		if value := store.Identity()[name]; value != "" {
			rows = append(rows, [2]string{name, terminal.OneLine(value)})
		}
	}
	for _, row := range rows {
		if err == nil {
			_, err = fmt.Fprintf(tw, "%s\t%s\n", row[0], row[1])
		}
	}
	return errors.Join(cmp.Or(err, tw.Flush()), store.Close())
}

// openSet opens a set for writing.
func openSet(dir string, id keyset.Identity, o keyset.Options) (*keyset.Store, error) {
	store, err := keyset.Open(dir, id, o)
	return store, setError(err)
}

// setError returns the error of opening a set, as a usage error if the command
// line is the cause.
func setError(err error) error {
	switch {
	case errors.Is(err, keyset.ErrNoStore):
		return command.Usagef("%w; make a set with 'urlfold seen build'", err)
	case errors.Is(err, syscall.ENOTDIR):
		return command.Usagef("%w: name the folder of the set before the inputs", err)
	case errors.Is(err, keyset.ErrIdentity):
		return command.Usage(err)
	case errors.Is(err, os.ErrExist):
		return command.Usagef("%w; add to it with 'urlfold seen merge', or replace it with --force", err)
	}
	return err
}

package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/keyset/identity"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// identity returns everything that the identity of a record depends on.
func (s *settings) identity() (keyset.Identity, error) {
	n := s.record.Normalizer
	if lv, keyed := s.uniqueLevel(); keyed {
		return identity.OfKeys(n, lv, s.KeyOf)
	}
	id := identity.Of(n, s.By, s.KeyOf)
	switch lists := n.Policy().Versions(); {
	case s.By == "site":
		id[identity.Suffixes] = builtin.PublicSuffixes
	case s.By == "template" && lists != "":
		id[identity.Lists] = lists
	}
	return id, nil
}

// adopt sets the options that the user did not pass to the values in the set.
func (o *seenOptions) adopt(id keyset.Identity) {
	for _, f := range []struct {
		flag, name string
		value      *string
	}{{"profile", identity.Profile, &o.Profile}, {"by", identity.By, &o.By}, {"dedupe-url", identity.KeyOf, &o.KeyOf}, {"hash", identity.Hash, &o.Hash}} {
		if v := id[f.name]; v != "" && !o.cmd.Flags().Changed(f.flag) {
			*f.value = v
		}
	}
	_, err := codec.ParseLevel(id[identity.By])
	keyed, named := err == nil, o.cmd.Flags().Changed("key")
	if keyed && named && !o.cmd.Flags().Changed("by") {
		o.By = "key" // compare at the level that the user named, which may differ from the level of the set
	}
	if o.By == codec.LevelMatch.String() { // no field has this name
		o.By = ""
	}
	// Write the key that is compared.
	if keyed && !named {
		o.Key = id[identity.By]
	}
}

// resolveSeen is like resolve, for a seen command that writes no records. It also
// returns the identity of the set.
func (o *seenOptions) resolveSeen(paths []string) (*settings, keyset.Identity, error) {
	var bad command.Mistakes
	var err error
	o.stampDay, err = dayOf(o.Date)
	bad.Add("--date", err)
	a := o.options
	set, err := a.resolve(paths)
	bad.Add("", err)
	if err := bad.Err(); err != nil {
		return nil, nil, err
	}
	id, err := set.identity()
	return set, id, err
}

// build makes a set of the inputs.
func (o *seenOptions) build(dir string, paths []string) error {
	set, id, err := o.resolveSeen(paths)
	if err != nil {
		return err
	}
	if _, _, err := set.inputs(o.cmd.InOrStdin()); err != nil {
		return inputError(err) // fail before creating a folder
	}
	if objects.Is(dir) {
		return command.Usagef("%s: a set must be in a folder of this machine", dir)
	}
	store, err := keyset.Create(dir, id, keyset.Options{MaxMemory: int64(set.MaxMemory)}, o.Force)
	if err != nil {
		return setError(err)
	}
	return o.fill(store, set)
}

// merge adds sets and inputs to a set.
func (o *seenOptions) merge(dir string, args []string) error {
	var sets, paths []string
	for _, arg := range args {
		fi, err := os.Stat(arg)
		if err == nil && fi.IsDir() && keyset.IsStore(arg) {
			sets = append(sets, arg)
		} else {
			paths = append(paths, arg)
		}
	}
	there, err := keyset.OpenRead(dir, nil)
	if err != nil {
		return setError(err)
	}
	o.adopt(there.Identity())
	if err := there.Close(); err != nil {
		return err
	}
	set, id, err := o.resolveSeen(paths)
	if err != nil {
		return err
	}
	store, err := openSet(dir, id, keyset.Options{MaxMemory: int64(set.MaxMemory)})
	if err != nil {
		return err
	}
	had := store.Len()
	for _, name := range sets {
		if err := mergeSet(store, name); err != nil {
			return errors.Join(setError(err), store.Close())
		}
	}
	if len(paths) > 0 || len(sets) == 0 {
		return o.fill(store, set)
	}
	return o.commit(store, store.Len()-had, "")
}

// mergeSet adds the set called name.
func mergeSet(store *keyset.Store, name string) error {
	other, err := keyset.OpenRead(name, nil)
	if err != nil {
		return err
	}
	return errors.Join(store.Merge(other), other.Close())
}

// fill adds the keys of the inputs of set to store, and stores and closes it.
func (o *seenOptions) fill(store *keyset.Store, set *settings) (err error) {
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.SetStamp(o.stampDay); err != nil {
		return err
	}
	collect := &unique.Collect{Set: store}
	run := scan{set: set, filter: collect}
	start := time.Now()
	codecs := func() (func() engine.Codec, error) { return engine.NewRecordCodecs(run.formats.job), nil }
	return run.report(o.cmd, codecs, func() (failed bool, err error) {
		with, st := collect.Added+collect.Known, &run.snap.Stats
		read := fmt.Sprintf(" from %s with a key and %s without", terminal.Plural(with, "record", "records"), terminal.FormatCount(st.Records-st.Blank-st.Filtered-with))
		if rate := terminal.PerSecond(with, time.Since(start)); rate > 0 {
			read += ", " + terminal.FormatCount(rate) + " records/s"
		}
		return false, o.commit(store, collect.Added, read)
	})
}

// commit stores and closes a set, and says what it contains.
func (o *seenOptions) commit(store *keyset.Store, added int64, from string) error {
	err := store.Commit()
	_, bytes := store.Bytes()
	if err = errors.Join(err, store.Close()); err != nil || o.Quiet {
		return err
	}
	line := fmt.Sprintf("added %s%s; the set has %s, %s", terminal.Plural(added, "key", "keys"), from, terminal.Plural(store.Len(), "key", "keys"), terminal.FormatSize(bytes))
	w := o.cmd.ErrOrStderr()
	_, err = fmt.Fprintln(w, command.Style(o.cmd, w).Folded(line, 2))
	return err
}

// A seenQuery asks a set about the records of a one-shot.
type seenQuery struct {
	dir   string
	store *keyset.Store
	o     *seenOptions
}

// query writes the records that are in a set, or that are not.
func (o *seenOptions) query(dir string, paths []string) error {
	store, err := keyset.OpenRead(dir, nil)
	if err != nil {
		return setError(err)
	}
	defer func() { _ = store.Close() }() // nothing was written
	o.adopt(store.Identity())
	o.asked = &seenQuery{dir, store, o}
	return runOneShot(o.cmd, &o.options, paths)
}

// check returns an error if the set holds keys of a different kind than s computes.
func (q *seenQuery) check(s *settings) error {
	id, err := s.identity()
	if err != nil {
		return err
	}
	return setError(q.store.Check(id))
}

func (q *seenQuery) filter() engine.Filter { return &unique.Query{Set: q.store, Seen: q.o.InSet} }

// remark says which records were left out.
func (q *seenQuery) remark() string {
	if q.o.InSet {
		return "not in the set " + terminal.OneLine(q.dir)
	}
	return "in the set " + terminal.OneLine(q.dir)
}

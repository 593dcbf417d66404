package daemon

import (
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/s3"
)

// A StateError says that the stored positions are lost, so that the run would
// read inputs again from the beginning and write their records once more.
type StateError struct{ text string }

// Error implements error.
func (e *StateError) Error() string { return e.text }

// checkState returns a *StateError if the positions of the files are lost:
// no generation of the state can be used, or the state has none of these
// files although there are outputs with exactly_once. A state from which all
// entries were reset is not lost.
func (p *plan) checkState(s *checkpoint.Store) error {
	if p.file.State.OnLoss == "reread" {
		return nil
	}
	dir := p.file.DataDir
	const ways = "; restore the folder from a backup%s, or set state.on_loss: reread to read all inputs again"
	if s.Unusable() {
		return &StateError{fmt.Sprintf("data_dir %s: no stored version of the state is usable (%s), so all inputs would be read from the beginning, and every record written before would be written again"+ways,
			dir, strings.Join(s.Warnings(), "; "), "")}
	}
	own := p.ownInputs(s.Found())
	entries, covered, stored := 0, false, ""
	s.Each(func(e *checkpoint.Entry) {
		entries++
		_, mine := own[e.Path]
		covered = covered || mine || own == nil && p.covers(e.Path)
		stored = e.Path
	})
	if covered || s.Found() && entries == 0 {
		return nil
	}
	n, first := p.existing(own)
	if n == 0 || !p.fromStart() {
		return nil
	}
	state := "has no state"
	if s.Found() {
		state = fmt.Sprintf("has positions of other files, such as %s, and of no file of this configuration (if a folder was moved, move it back)", terminal.OneLine(stored))
	}
	return &StateError{fmt.Sprintf("data_dir %s %s: all inputs would be read from the beginning, and the records in %s with exactly_once, such as %s, would be written again"+ways,
		dir, state, terminal.Plural(int64(n), "output", "outputs"), first, " or move the outputs away")}
}

// A coverer is the configuration of a source of files or objects, whose
// positions are in the state.
type coverer interface {
	Covers(path string) bool
}

// covers reports whether a source includes the file or object at path.
func (p *plan) covers(path string) bool {
	for _, c := range each(p.file.Sources) {
		if s, ok := c.Config.(coverer); ok && s.Covers(path) {
			return true
		}
	}
	return false
}

// ownInputs returns the files or objects that one of several shards reads, with
// their relative paths. The result is nil if the source has no shards, if its
// inputs cannot be listed, or if no output has exactly_once. (With exactly_once
// there is only one source.) If the state was found, ownInputs does not list
// objects, because each 1,000 objects take a request.
func (p *plan) ownInputs(found bool) map[string]string {
	if !p.exactlyOnce {
		return nil
	}
	switch s := p.file.Sources[0].Config.(type) {
	case *file.Settings:
		if s.Shard.Of > 1 {
			return s.Inputs()
		}
	case *s3.Config:
		if s.Shard.Of > 1 && !found {
			return s.Inputs()
		}
	}
	return nil
}

// fromStart reports whether a source reads new files or objects from their
// beginning.
func (p *plan) fromStart() bool {
	for _, c := range each(p.file.Sources) {
		_, ok := c.Config.(coverer)
		if s, files := c.Config.(*file.Settings); ok && (!files || s.Start != "latest") {
			return true
		}
	}
	return false
}

// existing returns the number of files that outputs with exactly_once have
// written, and one of them. If inputs is not nil, outputs of other inputs do
// not count, as far as the paths distinguish the outputs. Folders that cannot
// be read count as empty; the sinks report them.
func (p *plan) existing(inputs map[string]string) (n int, first string) {
	for _, c := range p.outputs() {
		l, ok := c.Config.(*sinkfile.LogConfig)
		if !ok || !l.ExactlyOnce || special(l.Path) {
			continue
		}
		paths, _ := l.Existing(p.sourceNames[0], inputs)
		if n == 0 && len(paths) > 0 {
			first = paths[0]
		}
		n += len(paths)
	}
	return n, first
}

package objects

import (
	"context"
	"encoding/json"
	"strings"

	storage "github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// referenceOf returns the dead letter of an object. damage is the text of its
// verdict, which begins with the code.
func referenceOf(o *storage.Object, damage string) Reference {
	code, _, _ := strings.Cut(damage, " ")
	return Reference{URL: o.Path(), ETag: o.ETag, VersionID: o.Version, Verdict: strings.TrimSuffix(code, ":"), Detail: damage}
}

// bury makes ref a dead letter, in a separate lane. When it is durable, one object of
// each message is done.
func (s *source) bury(ctx context.Context, ref Reference, messages ...*message) {
	name := ref.URL
	if name == "" {
		name = s.queue.name()
	}
	lane := s.rt.NewLane(name, engine.LaneLimits{})
	defer s.rt.End(lane)
	lane.SetID("dead-letter/" + name)
	lane.Skip() // no output has a part for this lane
	b, err := s.rt.Get(ctx, lane)
	if err != nil {
		return // the run is over: the message is delivered again
	}
	text, _ := json.Marshal(ref) // a struct of strings cannot fail
	b.In = append(append(b.In, text...), '\n')
	b.Line, b.Piece = 1, engine.Unread
	s.mu.Lock()
	s.letters[lane] = messages
	s.counts.dead++
	s.mu.Unlock()
	s.log.Warn("object became a dead letter", "path", ref.URL, "verdict", ref.Verdict, "detail", ref.Detail)
	if s.rt.Emit(ctx, b, engine.Position{A: int64(len(b.In))}) == nil {
		lane.Complete()
	}
}

// Finish implements [engine.Finisher].
func (s *source) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	errs := s.watcher.Finish(ctx, lanes)
	for i, l := range lanes {
		s.mu.Lock()
		x := s.letters[l]
		if i < len(errs) && errs[i] != nil {
			x = nil // Finish will be called again for the lane
		} else {
			delete(s.letters, l)
		}
		s.mu.Unlock()
		s.done(x...)
	}
	return errs
}

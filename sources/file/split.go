package file

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A prelude is the end of the text before a batch. It identifies positions near
// the beginning of the batch. It is stored in Batch.Ext and reused with the
// batch.
type prelude struct {
	text []byte
	hash textHash // hash of all text before the batch
}

// keepPrelude stores the end of the text before b.
func keepPrelude(b *engine.Batch, last []byte, hash textHash) {
	x, ok := b.Ext.(*prelude)
	if !ok {
		x = new(prelude)
		b.Ext = x
	}
	x.text, x.hash = append(x.text[:0], last...), hash
}

// Split implements [engine.Splitter]. It adds a position within b at which
// reading can resume.
func (w *watcher) Split(b *engine.Batch, off, _ int) (end engine.Position, ok bool) {
	x, ok := b.Ext.(*prelude)
	if !ok {
		return end, false
	}
	text := b.In[:off]
	x.text = appendTail(x.text, text)
	h := x.hash
	_, _ = h.Write(text) // never fails
	p := position{off: b.Off + int64(off), line: b.Line + int64(bytes.Count(text, newline)), tail: digestOf(x.text), sum: h.Sum64(), state: &h, head: w.directiveAfter(b, text)}
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.progress.byLane[b.Lane]
	if t == nil {
		return end, false
	}
	p.open = openQuotes(w.cfg.Framing, t.openBefore(b.Off), b, text)
	i, there := slices.BinarySearchFunc(t.positions, p.off, func(q position, off int64) int { return cmp.Compare(q.off, off) })
	if !there {
		t.positions = slices.Insert(t.positions, i, p)
	}
	return engine.Position{A: p.off, B: b.End.B}, true
}

// openBefore returns what is known of open quotes before the position at off.
func (t *track) openBefore(off int64) *checkpoint.OpenQuotes {
	for i := len(t.positions) - 1; i >= 0; i-- {
		if p := &t.positions[i]; p.off <= off {
			return p.open
		}
	}
	return nil
}

// directiveAfter returns the directive in force after text, the beginning of b.
func (w *watcher) directiveAfter(b *engine.Batch, text []byte) []byte {
	if d, ok := w.cfg.Framing.(director); ok && b.Piece == engine.Whole {
		if head := d.Directive(b.Head, text); head != nil {
			return bytes.Clone(head)
		}
	}
	return b.Head
}

// Interface guard.
var _ engine.Splitter = (*watcher)(nil)

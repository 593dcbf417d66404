package file

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// A Damage describes a damaged file that this run or an earlier one found.
type Damage struct {
	Path    string
	Verdict string // kind of the verdict, such as "bad-crc"
	Offset  int64  // in the stored file; -1 if unknown
	Text    string // full text of the verdict
}

// parseDamage returns the damage that the text of a verdict describes.
func parseDamage(path, text string) Damage {
	d := Damage{Path: path, Offset: -1, Text: text}
	if n, _ := fmt.Sscanf(text, "%s at byte %d", &d.Verdict, &d.Offset); n < 2 {
		d.Verdict, _, _ = strings.Cut(text, " ")
		d.Offset = -1
	}
	return d
}

// Damaged returns the damaged files that were not replaced, sorted by path and at most
// limit of them, and the number of all damaged files by kind of verdict. It may be
// called at any time, from any goroutine.
func (w *watcher) Damaged(limit int) (list []Damage, counts map[string]int) {
	if !w.tryLock() { // a long scan holds the lock: use the last result
		if last := w.damaged.Load(); last != nil {
			return slices.Clone(last.list[:min(len(last.list), limit)]), maps.Clone(last.counts)
		}
		w.mu.Lock()
	}
	counts = map[string]int{}
	for _, t := range w.known.tracks {
		if t.life == over && t.end.state == checkpoint.Damaged {
			counts[damageKind(t.end.text)]++
			list = append(list, Damage{Path: t.path, Text: t.end.text})
		}
	}
	w.mu.Unlock()
	slices.SortFunc(list, func(a, b Damage) int { return cmp.Compare(a.Path, b.Path) })
	list = slices.Clone(list[:min(len(list), limit)])
	for i := range list {
		list[i] = parseDamage(list[i].Path, list[i].Text)
	}
	w.damaged.Store(&damages{list, counts})
	return slices.Clone(list), maps.Clone(counts)
}

// damages is the last result of Damaged.
type damages struct {
	list   []Damage
	counts map[string]int
}

// damageKind returns the kind of a verdict: the first word of its text.
func damageKind(text string) string {
	kind, _, _ := strings.Cut(text, " ")
	return kind
}

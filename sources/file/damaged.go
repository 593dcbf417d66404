package file

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A Damage is a file that is damaged, as this run or one before it has found.
type Damage struct {
	Path    string
	Verdict string // the kind of the verdict, such as "bad-crc"
	Offset  int64  // in the file as it is stored; -1 if it is not known
	Text    string // the whole verdict
}

// parseDamage returns the damage of a file with this verdict, as a text.
func parseDamage(path, text string) Damage {
	d := Damage{Path: path, Offset: -1, Text: text}
	if n, _ := fmt.Sscanf(text, "%s at byte %d", &d.Verdict, &d.Offset); n < 2 {
		d.Verdict, _, _ = strings.Cut(text, " ")
		d.Offset = -1
	}
	return d
}

// Damaged returns at most limit of the files that are damaged and were not replaced,
// by path, and how many there are by the kind of their verdicts. It may be called at
// any time, from any goroutine.
func (w *watcher) Damaged(limit int) (list []Damage, counts map[string]int) {
	if !w.tryLock() { // a scan of very many files: what was found a moment ago will do
		if last := w.damaged.Load(); last != nil {
			return slices.Clone(last.list[:min(len(last.list), limit)]), maps.Clone(last.counts)
		}
		w.mu.Lock()
	}
	counts = map[string]int{}
	for _, t := range w.known.tracks {
		if t.life == over && t.state == checkpoint.Damaged {
			counts[damageKind(t.text)]++
			list = append(list, Damage{Path: t.path, Text: t.text})
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

// damages are what Damaged has returned last.
type damages struct {
	list   []Damage
	counts map[string]int
}

// damageKind returns the kind of a verdict, of which it is the first word.
func damageKind(text string) string {
	kind, _, _ := strings.Cut(text, " ")
	return kind
}

// damageKinds are the kinds of verdicts that say that a file is damaged.
func damageKinds() (names []string) {
	for k := compress.TrailingGarbage + 1; k <= compress.Unreadable; k++ {
		names = append(names, k.String())
	}
	return names
}

// damageMetrics calls emit for the figures of damaged files.
func damageMetrics(counts map[string]int, emit func(name, help, kind string, value float64, labels ...string)) {
	for _, verdict := range damageKinds() {
		emit("source_damaged_files", "Files that are damaged and were not replaced, by verdict.", "gauge", float64(counts[verdict]), "verdict", verdict)
	}
}

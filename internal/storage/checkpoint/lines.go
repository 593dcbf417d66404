package checkpoint

import (
	"iter"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// lines holds the entries of a source in their serialized form, by id. After a long
// time, most files of a source are finished. Their entries hardly change, so they are
// compressed in blocks, to about a sixth of their length.
type lines struct {
	plain  map[string]string
	done   int                  // finished entries in plain
	packed map[xxh3.Uint128]int // block of every other entry, by the hash of its id
	blocks []block
}

// A block holds compressed lines. Some lines may be outdated: lines.packed then names
// another block for their ids, or none.
type block struct {
	data []byte
	size int // of the lines, in bytes
	live int // lines that are not outdated
}

// perBlock is how many finished entries are packed together.
const perBlock = 1024

func newLines() *lines {
	return &lines{plain: map[string]string{}, packed: map[xxh3.Uint128]int{}}
}

// finished reports whether the file of a line is finished and its id needs no escapes, so
// that the id can be found in the line.
func finished(id, line string) bool {
	return idOf(line) == id && strings.Contains(line, `"state":"`+string(Done)+`"`) // JSON escapes the quotes in a string
}

func idOf(line string) string {
	_, rest, _ := strings.Cut(line, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (l *lines) len() int { return len(l.plain) + len(l.packed) }

// all returns the entries in no particular order. The caller must not change l
// meanwhile. l may be nil.
func (l *lines) all() iter.Seq2[string, string] {
	return func(yield func(id, line string) bool) {
		if l == nil {
			return
		}
		for id, line := range l.plain {
			if !yield(id, line) {
				return
			}
		}
		for i := range l.blocks {
			for id, line := range l.in(i) {
				if !yield(id, line) {
					return
				}
			}
		}
	}
}

// in returns the entries of block i that are not outdated.
func (l *lines) in(i int) iter.Seq2[string, string] {
	return func(yield func(id, line string) bool) {
		b, text := l.blocks[i], make([]byte, l.blocks[i].size)
		check(new(compress.Blocks).Decode(text, b.data, compress.BlockZstd))
		for line := range strings.Lines(string(text)) {
			line = line[:len(line)-1]
			id := idOf(line)
			if at, ok := l.packed[xxh3.HashString128(id)]; ok && at == i && !yield(id, line) {
				return
			}
		}
	}
}

// check panics if err is not nil, which is impossible unless memory was overwritten.
func check(err error) {
	if err != nil {
		panic("BUG: packed entries of the checkpoint: " + err.Error())
	}
}

// has reports whether there is an entry. l may be nil.
func (l *lines) has(id string) bool {
	if l == nil {
		return false
	}
	_, plain := l.plain[id]
	_, packed := l.packed[xxh3.HashString128(id)]
	return plain || packed
}

// get returns the line of an entry, or "". l may be nil.
func (l *lines) get(id string) string {
	if !l.has(id) {
		return ""
	}
	if line, ok := l.plain[id]; ok {
		return line
	}
	for other, line := range l.in(l.packed[xxh3.HashString128(id)]) {
		if other == id {
			return line
		}
	}
	return "" // impossible
}

// set adds or replaces an entry.
func (l *lines) set(id, line string) {
	l.remove(id)
	l.plain[id] = line
	if !finished(id, line) {
		return
	}
	if l.done++; l.done < perBlock {
		return
	}
	var text []byte
	for id, line := range l.plain {
		if finished(id, line) {
			text = append(append(text, line...), '\n')
			l.packed[xxh3.HashString128(id)] = len(l.blocks)
			delete(l.plain, id)
		}
	}
	pack, err := compress.NewPack(compress.Zstd, 1)
	check(err)
	l.blocks = append(l.blocks, block{pack(nil, text), len(text), l.done})
	l.done = 0
}

// remove removes an entry, if it exists.
func (l *lines) remove(id string) {
	if line, ok := l.plain[id]; ok {
		delete(l.plain, id)
		if finished(id, line) {
			l.done--
		}
		return
	}
	key := xxh3.HashString128(id)
	i, ok := l.packed[key]
	if !ok {
		return
	}
	delete(l.packed, key)
	b := &l.blocks[i]
	if b.live--; b.live > perBlock/4 {
		return
	}
	for id, line := range l.in(i) { // most of the block is outdated: free its memory
		l.plain[id] = strings.Clone(line)
		delete(l.packed, xxh3.HashString128(id))
		l.done++
	}
	*b = block{}
}

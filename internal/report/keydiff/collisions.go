package keydiff

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/extsort"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file finds which spellings of URLs have the same key, in bounded memory:
//
//	URL ──▶ seen before? ──no──▶ text to a temporary file
//	    └─▶ (key, hash of the spelling, place of the text) ──▶ sort ──▶ groups

// Collisions finds the groups of different URLs that have the same key, and the rules
// that make their keys the same.
type Collisions struct {
	side     Side
	redact   *record.Worker // nil: passwords are not masked
	examples int            // maximum number of examples of a group
	top      int            // maximum number of groups in the report

	mu      sync.Mutex
	known   *keyset.Set // spellings and keys whose text is in the file
	texts   *extsort.Spool
	sort    *extsort.Sorter[spelling]
	err     error
	urls    int64
	without int64 // URLs without a key
}

// A spelling is a URL as records spell it.
type spelling struct {
	key  codec.Key
	hash keyset.Key // hash of the text
	at   int64      // offset of the text in the file, plus 1; 0: written for an earlier record
	urls int64
}

// CollisionOptions are the limits of [Collisions].
type CollisionOptions struct {
	Examples  int // maximum number of URLs of a group
	Top       int // number of groups in the report
	MaxMemory int64
	Dir       string // directory of temporary files
	Redact    []string
}

// NewCollisions returns Collisions of the keys of side. Close releases its temporary
// files.
func NewCollisions(side Side, o CollisionOptions) (*Collisions, error) {
	c := &Collisions{side: side, examples: o.Examples, top: o.Top}
	var err error
	if c.redact, err = newRedactor(side.Normalizer, o.Redact); err != nil {
		return nil, err
	}
	if c.texts, err = extsort.NewSpool(o.Dir); err != nil {
		return nil, err
	}
	c.known = keyset.New(keyset.Options{MaxMemory: o.MaxMemory / 2, Dir: o.Dir})
	c.sort = extsort.New(o.MaxMemory/2, o.Dir, compareSpellings, func(into, next *spelling) bool {
		if into.key != next.key || into.hash != next.hash {
			return false
		}
		into.at = max(into.at, next.at)
		into.urls += next.urls
		return true
	})
	return c, nil
}

func compareSpellings(a, b spelling) int {
	return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.hash.Hi, b.hash.Hi), cmp.Compare(a.hash.Lo, b.hash.Lo))
}

// Close releases memory and temporary files.
func (c *Collisions) Close() error {
	return errors.Join(c.known.Close(), c.sort.Close(), c.texts.Close())
}

// NewCodecs returns a function that creates the codec of a worker. newCodec creates a
// codec that writes [Fields] in tsv.
func (c *Collisions) NewCodecs(newCodec func() engine.Codec) func() engine.Codec {
	return func() engine.Codec { return &collisionCodec{Codec: newCodec(), all: c} }
}

// A collisionCodec adds the URLs of each batch.
type collisionCodec struct {
	engine.Codec
	all       *Collisions
	url, norm []byte // unescaped
}

// Process implements [engine.Codec].
func (w *collisionCodec) Process(b *engine.Batch) {
	start := len(b.Out.Recs)
	defer func() {
		w.all.mu.Lock()
		defer w.all.mu.Unlock()
		for _, r := range b.Out.Recs[start:] {
			for line := range bytes.Lines(b.Out.Bytes[r.Off : r.Off+r.Len]) {
				w.add(bytes.TrimSuffix(line, newline))
			}
		}
	}() // unlock even after a panic, which rejects one record
	w.Codec.Process(b)
}

// add adds the URL of a line.
func (w *collisionCodec) add(line []byte) {
	f := splitFields(line)
	key, err := codec.ParseKey(f[2])
	switch {
	case len(f[0]) == 0:
		return
	case err != nil:
		w.all.without++
		return
	}
	w.url, w.norm = tsv.AppendUnescaped(w.url[:0], f[0]), tsv.AppendUnescaped(w.norm[:0], f[1])
	w.all.add(key, w.url, w.norm)
}

// Err implements [engine.Stopper].
func (w *collisionCodec) Err() error {
	if s, ok := w.Codec.(engine.Stopper); ok && s.Err() != nil {
		return s.Err()
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	return w.all.err
}

// add counts a URL with its key. The caller must hold c.mu.
func (c *Collisions) add(key codec.Key, url, norm []byte) {
	c.urls++
	h := xxh3.Hash128(url)
	s := spelling{key: key, hash: keyset.Key{Hi: h.Hi, Lo: h.Lo}, urls: 1}
	var isNew [1]bool
	// A relative URL can have several keys, depending on the rest of its record.
	hi, lo := key.Uint64s()
	err := c.known.Add([]keyset.Key{{Hi: h.Hi ^ hi, Lo: h.Lo ^ lo}}, isNew[:])
	if err == nil && isNew[0] {
		if bytes.IndexByte(url, ':') >= 0 {
			norm = nil // the example needs no normal form
		}
		s.at, err = c.texts.Write(url, norm)
	}
	if err == nil {
		err = c.sort.Add(s)
	}
	if c.err == nil {
		c.err = err
	}
}

// A CollisionReport lists the groups of URLs with the same key.
type CollisionReport struct {
	Keys      reportSide       `json:"keys"`
	Format    string           `json:"format"`
	URLs      int64            `json:"urls"`
	Without   int64            `json:"urls_without_key"`
	Spellings int64            `json:"spellings"` // different URLs
	Distinct  int64            `json:"distinct_keys"`
	Groups    int64            `json:"groups"` // groups of several spellings
	Merged    int64            `json:"merged"` // spellings in these groups
	Rules     []ruleCount      `json:"rules"`
	Top       []CollisionGroup `json:"top"` // the groups with the most spellings
}

// A ruleCount counts the groups for which a rule is responsible.
type ruleCount struct {
	Rule   string `json:"rule"`
	Groups int64  `json:"groups"`
}

// A CollisionGroup is several spellings with the same key.
type CollisionGroup struct {
	Key       string          `json:"key"`
	URLs      int64           `json:"urls"`
	Spellings int64           `json:"spellings"`
	Rules     []string        `json:"rules"` // the rules that make the keys of the examples the same
	Examples  []reportExample `json:"examples"`
}

// Report evaluates the collected URLs. It calls each for every group, in the
// order of the keys. Afterwards, only Close may be called.
func (c *Collisions) Report(format string, each func(*CollisionGroup) error) (*CollisionReport, error) {
	rep := &CollisionReport{Keys: c.side.report(), Format: format, URLs: c.urls, Without: c.without, Rules: []ruleCount{}, Top: []CollisionGroup{}}
	if err := errors.Join(c.err, c.texts.Flush()); err != nil {
		return nil, err
	}
	in, err := c.sort.Sorted()
	if err != nil {
		return nil, err
	}
	rules := map[string]int64{}
	var group []spelling // the first spellings with the current key
	var size, urls int64
	end := func() error {
		if size > 0 {
			rep.Distinct++
		}
		if size < 2 {
			return nil
		}
		g, err := c.group(group, size, urls)
		if err != nil {
			return err
		}
		rep.Groups++
		rep.Merged += size
		i, _ := slices.BinarySearchFunc(rep.Top, *g, func(a, b CollisionGroup) int {
			return cmp.Or(cmp.Compare(b.Spellings, a.Spellings), cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Key, b.Key))
		})
		if i < c.top {
			rep.Top = slices.Insert(rep.Top, i, *g)
			rep.Top = rep.Top[:min(len(rep.Top), c.top)]
		}
		for _, name := range ruleNames(g.Rules) {
			rules[name]++
		}
		return each(g)
	}
	for {
		s, ok, err := in.Next()
		if err != nil {
			return nil, err
		}
		if !ok || len(group) > 0 && s.key != group[0].key {
			if err := end(); err != nil {
				return nil, err
			}
			group, size, urls = group[:0], 0, 0
		}
		if !ok {
			break
		}
		rep.Spellings++
		size, urls = size+1, urls+s.urls
		if len(group) < max(blameParts, c.examples) {
			group = append(group, s)
		}
	}
	for name, n := range rules {
		rep.Rules = append(rep.Rules, ruleCount{name, n})
	}
	slices.SortFunc(rep.Rules, func(a, b ruleCount) int { return cmp.Or(cmp.Compare(b.Groups, a.Groups), cmp.Compare(a.Rule, b.Rule)) })
	return rep, nil
}

// group reads the texts of some spellings of a group, and finds the rules that merge
// them.
func (c *Collisions) group(some []spelling, size, urls int64) (*CollisionGroup, error) {
	parts := make([]pair, 0, len(some))
	for i := range some {
		url, norm, err := c.texts.Read(some[i].at)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pair{b: some[i].key, urls: some[i].urls, example: example{url, norm}})
	}
	slices.SortFunc(parts, func(a, b pair) int { return a.compare(&b.example) })
	g := &CollisionGroup{Key: some[0].key.String(), URLs: urls, Spellings: size, Rules: append([]string{}, blame(nil, &c.side, parts)...)}
	for i := range parts[:min(len(parts), c.examples)] {
		x := exampleReport(&parts[i].example, c.redact)
		x.URLs = parts[i].urls
		g.Examples = append(g.Examples, x)
	}
	return g, nil
}

// ruleNames returns the names of rules, each once, without what they removed.
func ruleNames(rules []string) (names []string) {
	for _, r := range rules {
		name, _, _ := strings.Cut(r, " ")
		names = appendNew(names, name)
	}
	return names
}

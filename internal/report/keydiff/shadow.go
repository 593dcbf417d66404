package keydiff

import (
	"sync"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file compares the keys of a profile with the keys of the running
// profile, for as long as a process runs, in bounded memory. It follows a part
// of the keys, chosen by their hashes. For a followed key of B, it holds the
// keys under A of the same URLs: if there are several, B merges them. For a
// followed key of A, it holds the keys under B in the same way: if there are
// several, B splits the key.

// A Shadow counts what a change from A to B merges and splits. It is safe for
// concurrent use.
type Shadow struct {
	sync.Mutex
	a, b     Side
	since    time.Time
	limit    int    // maximum number of pairs
	mask     uint64 // keys with any of these bits are not chosen
	urls     int64  // URLs with both keys
	rejected [numRejections]int64
	records  int64 // records without a URL
	merges   sampled
	splits   sampled
}

// pairBytes is about the memory that a pair of keys needs, with its group.
const pairBytes = 224

// NewShadow returns a Shadow that observes one key in oneIn, a power of two.
// memory is the maximum memory in bytes.
func NewShadow(a, b Side, oneIn int, memory int64, now time.Time) *Shadow {
	return &Shadow{a: a, b: b, since: now, limit: int(max(memory/pairBytes, 16)), mask: uint64(oneIn) - 1,
		merges: newSampled(), splits: newSampled()}
}

// ShadowJob returns the job that computes the keys of one side, for records that
// are read as c says.
func ShadowJob(c record.Config, s Side) (*record.Job, error) {
	c.Normalizer, c.Level, c.KeyForm = s.Normalizer, s.Level, codec.KeyHex
	c.Render, c.Fields, c.Extend = record.RenderTSV, Fields, nil
	c.Redact, c.Where, c.Route, c.Facts, c.Identity = nil, nil, nil, false, record.Identity{}
	c.StopNoSchema, c.OnRejected, c.OnUnparsed, c.OnOversize = false, record.DispositionDefault, record.DispositionDefault, record.DispositionDefault
	return record.New(c)
}

// A shadowCodec processes each batch of another codec under both profiles.
type shadowCodec struct {
	engine.Codec
	a, b mirror
	pairer
}

// Wrap returns a function that makes codecs which do what the codecs of next
// do, and count the keys. a and b have a job from [ShadowJob] for each source.
func (s *Shadow) Wrap(next func() engine.Codec, a, b []*record.Job) func() engine.Codec {
	newA, newB := engine.NewSourceCodecs(a), engine.NewSourceCodecs(b)
	return func() engine.Codec {
		return &shadowCodec{Codec: next(), a: mirror{codec: newA()}, b: mirror{codec: newB()}, pairer: pairer{into: s}}
	}
}

// Process implements [engine.Codec]. A batch that the codec does not finish is
// processed again in parts.
func (c *shadowCodec) Process(b *engine.Batch) {
	c.Codec.Process(b)
	if c.Err() != nil {
		return
	}
	c.a.process(b)
	c.b.process(b)
	c.compare(&c.a.batch, &c.b.batch)
}

// Err implements [engine.Stopper].
func (c *shadowCodec) Err() error {
	if s, ok := c.Codec.(engine.Stopper); ok {
		return s.Err()
	}
	return nil
}

// sampled holds the groups of one side whose keys are chosen.
type sampled struct {
	groups map[codec.Key]sampledGroup
	pairs  map[[2]codec.Key]struct{} // key of a group, key of a part
	ShadowEffect
}

// A sampledGroup is the URLs with one key. It counts as an effect if it has
// several parts, the keys of its URLs under the other profile.
type sampledGroup struct{ urls, parts int64 }

// A ShadowEffect counts the groups of URLs with one key that have several keys
// under the other profile.
type ShadowEffect struct {
	Groups int64 `json:"groups"`
	Parts  int64 `json:"parts"` // keys of these groups under the other profile
	URLs   int64 `json:"urls"`
}

func newSampled() sampled {
	return sampled{groups: map[codec.Key]sampledGroup{}, pairs: map[[2]codec.Key]struct{}{}}
}

// add counts a URL in the group of key, with the key part under the other
// profile.
func (s *sampled) add(key, part codec.Key) {
	g := s.groups[key]
	g.urls++
	old := len(s.pairs)
	s.pairs[[2]codec.Key{key, part}] = struct{}{}
	switch fresh := len(s.pairs) > old; {
	case fresh && g.parts == 1:
		s.Groups++
		s.Parts += 2
		s.URLs += g.urls
	case g.parts > 1:
		s.URLs++
		if fresh {
			s.Parts++
		}
	}
	g.parts += int64(len(s.pairs) - old)
	s.groups[key] = g
}

// keep drops the groups whose keys are not chosen by mask.
func (s *sampled) keep(mask uint64) {
	next := newSampled()
	for key, g := range s.groups {
		if !chosen(key, mask) {
			continue
		}
		next.groups[key] = g
		if g.parts > 1 {
			next.Groups++
			next.Parts += g.parts
			next.URLs += g.urls
		}
	}
	for p := range s.pairs {
		if chosen(p[0], mask) {
			next.pairs[p] = struct{}{}
		}
	}
	*s = next
}

// chosen reports whether a key is counted.
func chosen(k codec.Key, mask uint64) bool {
	_, low := k.Uint64s()
	return low&mask == 0
}

// add implements collector.
func (s *Shadow) add(a, b codec.Key, _, _ []byte) {
	s.urls++
	if chosen(b, s.mask) {
		s.merges.add(b, a)
	}
	if chosen(a, s.mask) {
		s.splits.add(a, b)
	}
	for len(s.merges.pairs)+len(s.splits.pairs) > s.limit && s.mask < 1<<62 {
		s.mask = s.mask<<1 | 1
		s.merges.keep(s.mask)
		s.splits.keep(s.mask)
	}
}

// reject implements collector.
func (s *Shadow) reject(side int, _, _ []byte) { s.rejected[side]++ }

// bad implements collector.
func (s *Shadow) bad() { s.records++ }

// A ShadowStatus is what a Shadow has counted. URLs and the rejections are exact
// counts of all URLs. Groups, merges and splits are exact counts of the keys
// that were chosen: multiply them by OneIn to estimate the counts of all keys.
type ShadowStatus struct {
	ProfileA     string       `json:"a"` // profile A and the function of its keys
	ProfileB     string       `json:"b"`
	Since        time.Time    `json:"since"`
	OneIn        uint64       `json:"one_in"`
	Estimated    bool         `json:"estimated"` // OneIn is not 1
	URLs         int64        `json:"urls"`
	RejectedByA  int64        `json:"rejected_by_a"` // URLs that A rejects and B does not
	RejectedByB  int64        `json:"rejected_by_b"`
	RejectedBoth int64        `json:"rejected_by_both"`
	GroupsA      int64        `json:"groups_a"`
	GroupsB      int64        `json:"groups_b"`
	Merges       ShadowEffect `json:"merges"` // groups of B
	Splits       ShadowEffect `json:"splits"` // groups of A
}

// Status returns the current counts.
func (s *Shadow) Status() *ShadowStatus {
	s.Lock()
	defer s.Unlock()
	return &ShadowStatus{
		ProfileA: s.a.String(), ProfileB: s.b.String(), Since: s.since, OneIn: s.mask + 1, Estimated: s.mask > 0,
		URLs: s.urls, RejectedByA: s.rejected[rejectedByA], RejectedByB: s.rejected[rejectedByB], RejectedBoth: s.rejected[rejectedByBoth],
		GroupsA: int64(len(s.splits.groups)), GroupsB: int64(len(s.merges.groups)),
		Merges: s.merges.ShadowEffect, Splits: s.splits.ShadowEffect,
	}
}

// String returns the profile and the function of the keys.
func (s *Side) String() string {
	return s.Normalizer.Profile().Name + ", " + s.Normalizer.KeyFunction(s.Level)
}

// Metrics emits the counts, for package metrics.
func (s *Shadow) Metrics(emit metric.Emit) {
	_, gauge := metric.Of(emit)
	st := s.Status()
	const (
		helpURLs   = "URLs that the shadow profile has read since the comparison began, by result: compared if both profiles have a key, rejected-by-a, rejected-by-b or rejected-by-both."
		helpGroups = "Groups of URLs with one key among the chosen keys, by profile: a is the profile of the codec, b the shadow profile. Multiply by urlfold_shadow_one_in for an estimate."
		helpEffect = "Groups among the chosen keys that the shadow profile merges or splits, by effect. Multiply by urlfold_shadow_one_in for an estimate."
		helpEffURL = "URLs in the groups that the shadow profile merges or splits, by effect, among the chosen keys."
	)
	gauge("shadow_one_in", "The share of the keys that the shadow profile counts: one of this many, chosen by hash. 1 if the counts are exact.", int64(st.OneIn))
	gauge("shadow_urls", helpURLs, st.URLs, "result", "compared")
	gauge("shadow_urls", helpURLs, st.RejectedByA, "result", "rejected-by-a")
	gauge("shadow_urls", helpURLs, st.RejectedByB, "result", "rejected-by-b")
	gauge("shadow_urls", helpURLs, st.RejectedBoth, "result", "rejected-by-both")
	gauge("shadow_groups", helpGroups, st.GroupsA, "profile", "a")
	gauge("shadow_groups", helpGroups, st.GroupsB, "profile", "b")
	gauge("shadow_effect_groups", helpEffect, st.Merges.Groups, "effect", "merge")
	gauge("shadow_effect_groups", helpEffect, st.Splits.Groups, "effect", "split")
	gauge("shadow_effect_urls", helpEffURL, st.Merges.URLs, "effect", "merge")
	gauge("shadow_effect_urls", helpEffURL, st.Splits.URLs, "effect", "split")
}

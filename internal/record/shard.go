package record

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/zeebo/xxh3"
)

// A Shard selects the share of one process when several processes read the same
// input. Every record belongs to exactly one process. The zero Shard selects
// all records.
//
// The record is assigned by a field of its first URL: the request's, if the
// record has one. If the URL does not have the field, or if there is no URL or
// it is rejected, the record is assigned by a hash of its bytes; a record
// longer than MaxRecord is assigned by the number of its first line. Headers
// and directives belong to shard 0, but every shard writes them, because the
// records after them cannot be read without them. Records on which the codec
// panics belong to every shard that reads them, so that none is lost.
//
// The records of other shards are not counted.
type Shard struct {
	Index, Of int    // this shard, from 0, and the number of shards
	By        string // the field, as in Identity
}

// sharder is the condition of a job with a shard. It passes the records of its
// shard on to the next condition.
type sharder struct {
	index, of uint64
	by        identity
	next      Condition // nil keeps all
	nextWhy   bool      // next reads the field error
	first     bool      // index is 0
}

// setShard sets the shard, whose condition precedes j.where.
func (j *Job) setShard(c *Config) error {
	if c.Shard == (Shard{}) {
		return nil
	}
	if c.Shard.Of < 1 || c.Shard.Index < 0 || c.Shard.Index >= c.Shard.Of {
		return locate.About("Shard", fmt.Errorf("invalid shard %d of %d", c.Shard.Index, c.Shard.Of))
	}
	if _, shared := j.reader.(jsonlines.WrappedReader); shared && j.render.KeepsRecords() {
		return locate.Wrong("Shard", sharedLine)
	}
	if len(c.Route) > 0 {
		return locate.About("Shard", errors.New("cannot be combined with a route, or with outputs for each host"))
	}
	by, err := j.identityBy(c.Shard.By)
	if err != nil {
		return locate.About("Shard", err)
	}
	j.keeps.shard = &sharder{
		index: uint64(c.Shard.Index), of: uint64(c.Shard.Of), first: c.Shard.Index == 0, by: by,
		next: j.keeps.where, nextWhy: j.keeps.asksWhy,
	}
	j.keeps.where, j.keeps.asksWhy = j.keeps.shard, true
	if j.keeps.shard.by.key {
		j.keeps.shardRules = rulesUpTo(j.keeps.shard.by.level).Minus(j.ownKeyRules(c))
	}
	j.reads |= 1 << by.field
	return nil
}

// ownKeyRules returns the rules of the keys that the job needs without a shard.
func (j *Job) ownKeyRules(c *Config) (own codec.Rules) {
	if keys := fieldSet(1<<fKey | 1<<fSURT); j.reads&keys != 0 || j.facts || j.render == RenderKeys {
		own = rulesUpTo(j.level)
	}
	fields := j.reads
	if id, err := j.identityBy(c.Identity.By); err == nil {
		fields |= 1 << id.field
	}
	for f, lv := range keyLevels {
		if fields.has(fieldID(f)) {
			own = own.Union(rulesUpTo(lv))
		}
	}
	return own
}

// rulesUpTo returns the rules that lead from K1 to the key of a level. K0 and K1 add no
// rules.
func rulesUpTo(lv codec.Level) codec.Rules {
	switch lv {
	case codec.LevelFetch:
		return codec.KeyRules(codec.LevelFetch)
	case codec.LevelPage, codec.LevelShape:
		return codec.KeyRules(codec.LevelFetch).Union(codec.KeyRules(lv))
	}
	return codec.Rules{}
}

// Fields implements [Condition].
func (s *sharder) Fields() []int {
	if s.next == nil {
		return nil
	}
	return s.next.Fields()
}

// Keep implements [Condition]. If the record belongs to another shard, it sets
// v.w.foreign.
func (s *sharder) Keep(v *View) bool {
	if v.w.foreign = !s.owns(v); v.w.foreign {
		return false
	}
	return s.next == nil || v.why != 0 && !s.nextWhy || s.next.Keep(v)
}

// owns reports whether the record that v shows belongs to the shard.
func (s *sharder) owns(v *View) bool {
	w := v.w
	switch {
	case v.why == TooLong:
		return s.has(uint64(w.at.Line))
	case v.why == Panic:
		return true
	case v.present.has(fNorm) && w.n.cur.why == 0:
		if k, ok := w.identityOf(&s.by, v.site, v.rec); ok {
			_, low := k.Uint64s()
			return s.has(low)
		}
	}
	return s.ownsBytes(v.rec)
}

// has reports whether a record with the given hash belongs to the shard.
func (s *sharder) has(hash uint64) bool { return hash%s.of == s.index }

// ownsBytes reports whether a record without an identity belongs to the shard.
func (s *sharder) ownsBytes(rec []byte) bool { return s.has(xxh3.Hash(locate.TrimEnd(rec))) }

// filter counts a record that the condition has dropped, unless it belongs to
// another shard.
func (w *Worker) filter(st *Stats) {
	if !w.foreign {
		st.Records++
		st.Filtered++
	}
}

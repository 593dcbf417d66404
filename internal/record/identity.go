package record

import (
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/zeebo/xxh3"
)

// Identity selects the property by which filters recognize duplicates: see
// Worker.AppendIdentity.
type Identity struct {
	// By is the name of the output field that is compared: key, the name of a level,
	// site, template or param("NAME"). The field key is the key at Config.Level. If By is
	// empty, records have no identity.
	By string
	// First compares only the first URL of each record, which in an access log
	// is the request: with [TargetAll], a record without a request has no
	// identity, whatever its referer. Otherwise all URLs of the record count, in
	// their order.
	First bool
	// Time makes workers collect the time of each record: see Worker.Time.
	Time bool
}

// identityFields are the fields that Identity.By can name.
var identityFields = []fieldID{fKey, fSyntax, fEquivalent, fFetch, fPage, fShape, fSite, fTemplate}

// paramForm stands for the parameters among the values of Identity.By.
const paramForm = `param("NAME")`

// IdentityNames returns the names that Identity.By can have, with a form for parameters.
func IdentityNames() (names []string) {
	for _, f := range identityFields {
		names = append(names, fieldNames[f])
	}
	return append(names, paramForm)
}

// IdentityName returns the canonical form of by, a value for Identity.By, so
// that two names of the same field become equal. It also accepts the names in
// more. The error for an unknown name suggests a similar one.
func IdentityName(by string, more ...string) (string, error) {
	if c, ok := ParseComputed(by); ok && strings.HasPrefix(c.name, "param(") {
		return c.name, nil
	}
	name := FieldName(by)
	_, err := suggest.Index("field", append(more, IdentityNames()...), name)
	return name, err
}

// identity is a checked Identity.
type identity struct {
	on, first bool
	referer   bool // the referer can be the first URL
	time      bool
	field     fieldID
	level     codec.Level // level of a field that is a key
	key       bool
}

// setIdentity checks id and sets j.id.
func (j *Job) setIdentity(id Identity, target Target) error {
	if id.By == "" {
		return nil
	}
	var err error
	if j.id, err = j.identityBy(id.By); err != nil {
		return locate.About("Identity", err)
	}
	j.id.first, j.id.referer, j.id.time = id.First, target == TargetReferer, id.Time
	if id.Time {
		j.reads |= 1 << fTime
	}
	if _, shared := j.reader.(jsonlines.WrappedReader); shared && j.render.KeepsRecords() {
		if id.Time {
			return locate.Wrong("Identity.Time", sharedLine)
		}
		return locate.Wrong("Identity", sharedLine)
	}
	return nil
}

// identityBy returns the identity by a field that Identity.By can name.
func (j *Job) identityBy(by string) (identity, error) {
	name, err := IdentityName(by)
	if err != nil {
		return identity{}, err
	}
	f, err := j.fieldNamed(name)
	id := identity{on: true, field: f, level: j.level, key: f == fKey || ofKey.has(f)}
	if f != fKey {
		id.level = levelOf(f)
	}
	return id, err
}

// levelOf returns the level of a field that is the key of a level.
func levelOf(f fieldID) (lv codec.Level) {
	if f < numFields {
		lv = keyLevels[f]
	}
	return lv
}

// Identifies reports whether the workers of the job collect the identity of each
// record.
func (j *Job) Identifies() bool { return j.id.on }

// Times reports whether the workers of the job collect the time of each record.
func (j *Job) Times() bool { return j.id.time }

// AppendIdentity appends the identity of the record of the last Append or AppendRun. It
// is the same for two records if they have the same URLs, as Config.Identity says. It
// is zero if the record contains no URL, if one of its URLs was rejected or has no key,
// and after Reject and Piece.
func (w *Worker) AppendIdentity(dst []codec.Key) []codec.Key { return append(dst, w.identity()) }

// identity returns the identity of the last record. It copies each word as the word was
// written, because a load of both words would wait until both stores are complete.
func (w *Worker) identity() codec.Key {
	n := &w.n.fact.Identity
	return codec.KeyFromUint64s(n.Uint64s())
}

// Time returns the time of the record of the last Append. Records without a URL have
// no time.
func (w *Worker) Time() Time { return w.n.fact.Time }

// identify adds the current URL at s to the identity of the record. If a URL
// has no key, the record has no identity either, because it must not be
// taken for a duplicate.
func (w *Worker) identify(s *locate.Site, rec []byte, v *verdict) {
	id := &w.job.id
	if t := &w.n.fact.Time; id.time && !t.Known {
		*t = w.v.time(rec)
	}
	if id.first && (s != w.found.First() || s.Role == locate.RoleReferer && !id.referer) || v.unnamed {
		return
	}
	k, ok := w.n.fact.Key, false
	if w.job.facts && v.urls == 1 && id.key && id.level == w.job.level {
		ok = !k.IsZero() // addFact has computed the key
	}
	if !ok {
		k, ok = w.identityOf(id, s, rec)
	}
	f := &w.n.fact
	switch {
	case !ok:
		v.unnamed = true
		f.Identity = codec.Key{}
	case f.Identity == codec.Key{}:
		f.Identity = k // the identity of one URL is its key
	default:
		f.Identity = join(f.Identity, k)
	}
}

// identityOf returns the identity of the current URL by id, and whether it has
// one.
func (w *Worker) identityOf(id *identity, s *locate.Site, rec []byte) (codec.Key, bool) {
	if id.key {
		if !w.n.hasKey() {
			return codec.Key{}, false
		}
		return w.n.keyAt(id.level), true
	}
	var text []byte
	var ok bool
	if id.field < numFields {
		text, ok = w.v.value(id.field, s, rec, &w.at)
	} else if query, has := w.v.component(fQuery); has { // the whole query, even if the job redacts
		w.v.arg = w.job.computed[id.field-numFields].param
		text, ok = w.v.paramValue(query)
	}
	if !ok {
		return codec.Key{}, false
	}
	h := xxh3.Hash128(text)
	return codec.KeyFromUint64s(h.Hi, h.Lo), true
}

// join returns the identity of a list of URLs. all is the identity of the
// list without its last URL, and k is the identity of that URL.
func join(all, k codec.Key) codec.Key {
	var both [64]byte
	h := xxh3.Hash128(k.AppendTo(all.AppendTo(both[:0])))
	return codec.KeyFromUint64s(h.Hi, h.Lo)
}

// Fact holds the properties of a record that a sink needs in addition to its bytes, for
// example to partition records.
type Fact struct {
	Key   codec.Key   // key of the record's first URL at the job's level; zero without such a key
	Host  uint64      // XXH3 of that URL's host; zero if none
	Flags codec.Flags // union over all URLs of the record
}

// Time is the field time of a record.
type Time struct {
	Seconds int64 // since 1970, rounded down
	Nanos   int32 // within the second
	Known   bool  // whether the record has the field
}

// facts holds all properties of a record. Most jobs need only some of them.
type facts struct {
	Fact
	Identity codec.Key
	Time     Time
}

// Facts reports whether the workers of the job collect a Fact about each
// record.
func (j *Job) Facts() bool { return j.facts }

// AppendFact appends the Fact about the record of the last Append or AppendRun. It
// is zero if the job does not collect facts, if the record contains no URL, and
// after Reject and Piece.
func (w *Worker) AppendFact(dst []Fact) []Fact {
	if !w.job.facts {
		return append(dst, Fact{})
	}
	return append(dst, w.n.fact.Fact)
}

// addFact adds the current URL to the fact. first is set for the first URL of the
// record that could be parsed.
func (n *normalizer) addFact(first bool) {
	c := &n.cur
	n.fact.Flags = n.fact.Flags.Union(c.flags)
	if !first {
		return
	}
	if n.hasKey() {
		n.fact.Key = n.keyOf()
	}
	if host := n.res.Out.Span(codec.Host); !c.nohost && host.Len() > 0 {
		n.fact.Host = xxh3.Hash(c.norm[host.Start:host.End])
	}
}

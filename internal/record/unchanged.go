package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// This file determines whether the URL of a record is in normal form, as most URLs are.
// It may give up, but its result never differs from the result of Append.

// keeper finds the URL of most records with less work than Locate does.
type keeper interface {
	// canKeep reports whether j reads nothing but the URL that keep finds.
	canKeep(j *Job) bool
	// Marks returns the Marks that keep needs of a block, or nil.
	Marks() *scan.Block
	// keep examines the record at offset pos of the block of n.walk. If n
	// leaves the only URL of the record unchanged, or changes only its scheme
	// and authority and so sets n.fronted, keep returns the length of the
	// record with its line end. Otherwise, or if it cannot tell, it returns 0.
	// The record must end before limit. head is its Position.Head. keep adds
	// the flags of the URL to n.cur and, if the job has a condition, the fields
	// that the condition reads to n.found.
	keep(n *normalizer, pos, limit int, head []byte) int
}

// keeperOf returns l as a keeper, or nil if the job needs more of a URL than its
// normal form and an identity that a copyKey can compute.
func (j *Job) keeperOf(l Locator) keeper {
	var k keeper
	switch l := l.(type) {
	case textlog.LinesReader:
		k = linesKeeper{}
	case *textlog.LogReader:
		k = logKeeper{l}
	case *table.Locator:
		k = tableKeeper{l}
	default:
		if k = newFoundKeeper(l); k == nil {
			return nil
		}
	}
	switch {
	case !j.asksBesideURL() || j.facts || j.rejects.filters || j.mends || j.readsParams, j.redact && (j.patterns != nil || j.render.KeepsRecords()):
		return nil
	case !k.canKeep(j), j.id.on && !j.copiesKeys(k):
		return nil
	}
	return k
}

// keepsTarget reports whether a request target stays unchanged and raises no
// flag. The caller checks that the scheme and authority also stay unchanged. If
// so, it sets the identity and the key.
func (n *normalizer) keepsTarget(target []byte) bool {
	query, ok := n.job.norm.KeepsTarget(target, &n.res)
	n.cur.url, n.pathLen = target, len(target)
	if query != nil {
		n.pathLen -= len(query) + len("?")
	}
	return ok && (query == nil || n.keepsQuery(query)) && n.nameTarget(target) && n.keyTarget(target)
}

// keeps reports whether an absolute URL stays as it is, and raises no flag. If
// so, it sets the identity.
func (n *normalizer) keeps(url []byte) bool {
	query, ok := n.job.norm.Keeps(url, &n.res)
	if !ok || query != nil && !n.keepsQuery(query) {
		return false
	}
	n.nameURL(url)
	return true
}

// keepsQuery reports whether the parameters of a query in normal form have no flag.
func (n *normalizer) keepsQuery(query []byte) bool {
	return params.EmptyPair(query) < 0 && (!n.job.tellsSigned() || !params.Signed(query))
}

// besideURL are the fields of an access log that do not depend on the URL of the
// record. A condition that reads no others can be asked about a record whose URL
// has not been read. The virtual host is not among them: the target can hold it.
const besideURL = ofAttrs&^(1<<fVHost) | 1<<fMethod

// asksBesideURL reports whether the job has no condition, or a condition that
// reads only the fields besideURL of clf or combined. With a condition, it
// returns false if the format has a virtual host or the job has a shard, a
// route or an identity.
func (j *Job) asksBesideURL() bool {
	if j.keeps.where == nil {
		return true
	}
	if l, ok := j.reader.(*textlog.LogReader); !ok || l.Format.Vhost || j.id.on || j.keeps.shard != nil || j.keeps.routes {
		return false
	}
	for _, f := range j.keeps.where.Fields() {
		if !besideURL.has(fieldID(f)) {
			return false
		}
	}
	return true
}

// keepsUnread asks the condition about a record whose URL does not change.
// The URL raised no flag that is counted.
func (w *Worker) keepsUnread(rec []byte, st *Stats) bool {
	if w.job.base.origin == nil {
		w.n.cur.flags = relative
	}
	keep := w.job.keeps.where.Keep(w.view.show(besideURL|1<<fFlags, 0, &noSite, rec))
	w.n.cur.flags = codec.Flags{}
	w.view.count(st)
	return keep
}

var relative = codec.Flags{}.With(codec.FlagRelative)

// keepsMissed asks the condition about a record that readMissed has read.
func (w *Worker) keepsMissed(rec []byte, st *Stats) bool {
	keep := w.job.keeps.where.Keep(w.view.show(besideURL|1<<fFlags|1<<fNorm, 0, &noSite, rec))
	w.view.count(st)
	return keep
}

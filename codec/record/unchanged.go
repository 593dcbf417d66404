package record

import (
	"github.com/urlfold/urlfold/codec/internal/scan"
	"github.com/urlfold/urlfold/codec/params"
)

// This file finds out whether the URL of a record is in normal form, as most are. It
// may only give up, and never decide otherwise than Append.

// keeper is implemented by Locators that find the URL of most records with less
// work than Locate does.
type keeper interface {
	// canKeep reports whether the URL that keep finds is all that j reads.
	canKeep(j *Job) bool
	// marks returns the marks that keep needs of a block, or nil.
	marks() *scan.Block
	// keep returns the length of the record at offset pos of the block of n.walk, with
	// its line end, if n keeps the only URL of the record, or changes only its scheme
	// and authority, as n.fronted then says. Otherwise, or if it gives up, it returns 0.
	// The record must end before limit. head is its Position.Head. keep adds the flags
	// of the URL to n.cur and, if the job has a condition, what that reads to n.found.
	keep(n *normalizer, pos, limit int, head []byte) int
}

// keeperOf returns l as a keeper, or nil if the job needs more of a URL than its
// normal form and an identity that a copyKey can compute.
func (j *Job) keeperOf(l Locator) keeper {
	k, ok := l.(keeper)
	if !ok {
		k, ok = newFoundKeeper(l)
	}
	switch {
	case !ok:
		return nil
	case !j.asksBesideURL() || j.facts || j.filters || j.mends || j.readsParams, j.redact && (j.patterns != nil || j.render.keepsRecords()):
		return nil
	case !k.canKeep(j), j.id.on && !j.copiesKeys(k):
		return nil
	}
	return k
}

// keepsTarget reports whether a request target stays as it is and has no flag. The
// scheme and the authority before it must stay as they are, too. If so, it sets the
// identity and the key.
func (n *normalizer) keepsTarget(target []byte) bool {
	query, ok := n.job.norm.KeepsTarget(target, &n.res)
	n.cur.url, n.pathLen = target, len(target)
	if query != nil {
		n.pathLen -= len(query) + len("?")
	}
	return ok && (query == nil || n.keepsQuery(query)) && n.nameTarget(target) && n.keyTarget(target)
}

// keeps reports whether an absolute URL stays as it is, and has no flag. If so, it
// sets the identity.
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
	return params.EmptyPair(query) < 0 && (!n.job.tellsSigned() || !n.signed(query))
}

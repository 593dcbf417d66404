package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// This file computes the identity of a record whose URL does not change.
// Like AppendRun, it may give up, and its results must not differ from the
// results of identify.

// copyKey computes keys of URLs and targets that are their own normal form,
// without the codec. Up to K1, the canonical string, which is hashed for the
// key, is the URL itself, or the target if the scheme and authority are
// unknown. Beyond K1, copyKey computes only the keys of targets without a query
// whose path the level does not change. Their canonical string is front and the
// target.
type copyKey struct {
	level codec.Level
	norm  *codec.Normalizer
	bare  bool        // scheme and authority are unknown, so front precedes only "//"
	front []byte      // beginning of the canonical string
	hits  codec.Rules // rules that change the scheme and the authority for the key
	text  []byte      // scratch
	root  codec.Result
	src   []byte // the text that root describes
	out   []byte // the normal form of src
}

// identityKey returns a copyKey for the identities of the job, or nil if the
// identities are not keys up to K3.
func (j *Job) identityKey() *copyKey {
	if !j.id.key || j.id.time {
		return nil
	}
	return j.newCopyKey(j.id.level)
}

// copiesKeys reports whether a copyKey computes the identities of most records that k
// finds: beyond K1 it does so only for targets, not for absolute URLs.
func (j *Job) copiesKeys(k keeper) bool {
	key := j.identityKey()
	_, targets := k.(logKeeper)
	return key != nil && (targets || key.level <= codec.LevelEquivalent)
}

// newCopyKey returns a copyKey for a level up to K3. It returns nil for a
// higher level, and for a base that is not a URL. Up to K1, it also returns nil if
// the profile changes the scheme or the authority for the key.
func (j *Job) newCopyKey(level codec.Level) *copyKey {
	if level > codec.LevelPage {
		return nil
	}
	k := &copyKey{level: level, norm: j.norm, bare: j.base.origin == nil}
	k.src = append(bytes.Clone(j.base.origin), '/')
	if k.bare {
		k.src = append(bytes.Clone(placeholder), '/')
	}
	var err error
	if k.out, err = j.norm.Append(nil, k.src, &k.root); err != nil {
		return nil
	}
	root := k.root.AppendKey(nil, level)
	if k.hits = k.root.KeyApplied().Minus(j.keeps.shardRules); level <= codec.LevelEquivalent && (!k.hits.IsZero() || !bytes.Equal(root, k.src)) {
		return nil
	}
	if k.front = bytes.TrimSuffix(root, []byte("/")); k.bare {
		k.front = []byte("/.") // appendKey does the same
	}
	return k
}

// ofTarget returns the key of a target that ends in query, which can be empty.
// It returns false if the level may change the target.
func (k *copyKey) ofTarget(target, query []byte) (codec.Key, bool) {
	if k.level > codec.LevelEquivalent && (len(query) > 0 || !k.norm.KeepsPath(k.level, target)) {
		return codec.Key{}, false
	}
	if !k.bare || len(target) > 1 && target[0] == '/' && target[1] == '/' {
		k.text = append(append(k.text[:0], k.front...), target...)
		target = k.text
	}
	return k.root.HashKey(k.level, target), true
}

// hitsOfKeys returns the rules that change the scheme and the authority of a URL for the
// keys of a record that stays as it is.
func (w *Worker) hitsOfKeys() (hits codec.Rules) {
	if w.n.copyKey != nil {
		hits = hits.Union(w.n.copyKey.hits)
	}
	if w.n.planKey != nil {
		hits = hits.Union(w.n.planKey.hits)
	}
	return hits
}

// nameTarget sets the identity of a record with a target that stays as it is, if the
// job asks for one. It returns false if it cannot.
func (n *normalizer) nameTarget(target []byte) (ok bool) {
	if n.copyKey == nil {
		return true
	}
	n.fact.Identity, ok = n.copyKey.ofTarget(target, target[n.pathLen:])
	return ok
}

// nameURL is nameTarget for an absolute URL. The level is at most K1: see copiesKeys.
func (n *normalizer) nameURL(url []byte) {
	if k := n.copyKey; k != nil {
		n.fact.Identity = k.root.HashKey(k.level, url)
	}
}

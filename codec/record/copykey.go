package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// This file computes the identity of a record whose URL does not change. Like
// AppendRun, it may give up, and must not decide otherwise than identify.

// copyKey computes keys of targets and URLs that are their own normal form. Up to K1
// the canonical string is the URL, or the target if scheme and authority are unknown.
// At K2 this holds for targets without a query if K2 has nothing to do in their path.
type copyKey struct {
	level codec.Level
	bare  bool   // the scheme and authority are unknown: only a target that begins with "//" has a front
	front []byte // of the canonical string
	text  []byte // scratch
	root  codec.Result
	src   []byte // that root describes
	norm  []byte
}

// identityKey returns a copyKey for the identities of the job, or nil if there is
// none: identities must be keys up to K2.
func (j *Job) identityKey() *copyKey {
	if !j.id.key || j.id.level > codec.K2 || j.id.time {
		return nil
	}
	return j.newCopyKey(j.id.level)
}

// newCopyKey returns a copyKey for a level up to K2, or nil if there is none: the URL
// of the root path must be its own canonical string.
func (j *Job) newCopyKey(level codec.Level) *copyKey {
	k := &copyKey{level: level, bare: j.origin == nil, front: j.origin}
	k.src = append(bytes.Clone(j.origin), '/')
	if k.bare {
		k.front = []byte("/.") // as appendKey does
		k.src = append(bytes.Clone(placeholder), '/')
	}
	var err error
	k.norm, err = j.norm.Append(nil, k.src, &k.root)
	if err != nil || !bytes.Equal(k.root.AppendKey(nil, k.level), k.src) || k.root.KeyApplied() != 0 {
		return nil
	}
	return k
}

// ofTarget returns the key of a target whose query is query, or nil. It returns
// false if K2 may change the target.
func (k *copyKey) ofTarget(target, query []byte) (codec.Key, bool) {
	if k.level == codec.K2 && (query != nil || params.MayHavePathSession(target)) {
		return codec.Key{}, false
	}
	if !k.bare || len(target) > 1 && target[0] == '/' && target[1] == '/' {
		k.text = append(append(k.text[:0], k.front...), target...)
		target = k.text
	}
	return k.root.HashKey(k.level, target), true
}

// nameTarget sets the identity of a record with a target that stays as it is, if the
// job asks for one. It returns false if it cannot.
func (n *normalizer) nameTarget(target, query []byte) (ok bool) {
	if n.copyKey == nil {
		return true
	}
	n.fact.Identity, ok = n.copyKey.ofTarget(target, query)
	return ok
}

// nameURL is nameTarget for an absolute URL.
func (n *normalizer) nameURL(url []byte) bool {
	k := n.copyKey
	if k == nil {
		return true
	}
	n.fact.Identity = k.root.HashKey(k.level, url)
	return k.level <= codec.K1
}

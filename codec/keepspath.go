package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// KeepsPath reports whether the key rules up to level lv leave path unchanged.
// path is the path of an http or https URL that is its own normal form and has
// neither a query nor a fragment. KeepsPath may return false even if no rule
// changes path, and does so for levels above LevelPage.
// Not covered by the stability page.
func (n *Normalizer) KeepsPath(lv Level, path []byte) bool {
	lv = n.keyLevel(lv)
	switch {
	case lv <= LevelEquivalent:
		return true
	case lv > LevelPage || params.MayHavePathSession(path):
		return false
	case lv == LevelFetch:
		return true
	}
	return !n.policy.rewritesK3() && (len(path) == 1 || path[len(path)-1] != '/') &&
		!bytes.Contains(path, slashes) && len(cutIndexFile(path, path)) == len(path)
}

package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// keptHost says what normalizer.keepsHost has found out about a host. Nearly every
// record has the host of the one before.
type keptHost struct {
	origin
	ok   bool
	same bool // the normal form has the same scheme and authority
}

// keepsHost reports whether a target for which keepsTarget reports true stays as
// it is on the host of a record. If so, it adds the flags of such a URL to n.cur.
func (n *normalizer) keepsHost(host []byte) bool {
	k := &n.kept
	if !bytes.Equal(host, k.host) {
		k.host = append(k.host[:0], host...)
		if k.ok = len(host) > 1 && markLen(host) == 0 && isHost(host); k.ok {
			n.keepOrigin(k)
		}
	}
	return n.keptOrigin(k)
}

// keepsOrigin is keepsHost for the scheme and authority that n.found says, or
// those of the job. If written is set, those of the record must stay as they are, too.
func (n *normalizer) keepsOrigin(rec []byte, written bool) bool {
	f, k := n.found, &n.kept
	host := f.requestHost(rec)
	if host == nil {
		return n.baseKept
	}
	if n.copyKey != nil {
		return false // it knows no other origin than that of the job
	}
	if !k.isOf(f, host, rec) {
		k.read(f, host, rec)
		n.keepOrigin(k)
	}
	return (k.same || !written) && n.keptOrigin(k)
}

// keepOrigin finds out about an origin that has been read.
func (n *normalizer) keepOrigin(k *keptHost) {
	k.compose(n.job.scheme)
	n.full, n.norm, k.ok = n.job.keepsOrigin(n.full, n.norm, k.text, &n.res)
	k.same = k.ok && bytes.Equal(n.full, n.norm)
}

// keptOrigin returns k.ok. If it is set, keptOrigin adds the flags of a URL with
// that origin to n.cur.
func (n *normalizer) keptOrigin(k *keptHost) bool {
	if k.ok && k.guessed {
		n.cur.flags = n.cur.flags.With(codec.SchemeGuessed)
	}
	return k.ok
}

// originKept reports whether a target for which keepsTarget reports true stays as
// it is after the scheme and authority of the job.
func (j *Job) originKept() bool {
	if j.origin == nil {
		return true // the placeholder
	}
	_, _, ok := j.keepsOrigin(nil, nil, j.origin, new(codec.Result))
	return ok
}

// maxOrigin is the length of the longest scheme and authority that keepsOrigin
// accepts, which codec.Normalizer.KeepsTarget allows for.
const maxOrigin = 64

// keepsOrigin reports whether the normal form of a URL with the scheme and the
// authority in text has the same path, and no flag. It returns src and norm, which
// are scratch.
func (j *Job) keepsOrigin(src, norm, text []byte, r *codec.Result) (_, _ []byte, ok bool) {
	src = append(append(src[:0], text...), '/')
	norm, err := j.norm.Append(norm[:0], src, r)
	ok = err == nil && len(text) <= maxOrigin && r.Flags.IsZero() && isWeb(r.Out.Bytes(norm, codec.Scheme)) &&
		!r.In.Has(codec.Username) && string(r.Out.Bytes(norm, codec.Path)) == "/"
	return src, norm, ok
}

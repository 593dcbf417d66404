package codec

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/zeebo/xxh3"
)

// A Level says how tolerant a key is. URLs that are equal at one level are equal
// at every higher one.
type Level uint8

// The levels.
const (
	K0 Level = iota // RFC 3986 §6.2.2: case, unreserved escapes, dot segments
	K1              // and §6.2.3: default port, empty path, spelling of IP addresses
	K2              // and for a crawler: no fragment, userinfo, session ids, click ids; parameters in any order; http = https
	K3              // and for analytics: one "www.", double slashes, index files, trailing slash, parameters of the site

	numLevels = iota
)

var levelNames = []string{"k0", "k1", "k2", "k3"}

// keyFunctions names what makes the keys of each level: level, reading, version.
// A change of what a key means is a new version.
var keyFunctions = [...][numLevels]string{
	RFC:    {"k0-rfc/1", "k1-rfc/1", "k2-rfc/1", "k3-rfc/1"},
	WHATWG: {"k0-whatwg/1", "k1-whatwg/1", "k2-whatwg/1", "k3-whatwg/1"},
}

// String returns the level's name: "k1".
func (lv Level) String() string { return nameOf(lv, levelNames) }

// ParseLevel returns the level of that name.
func ParseLevel(name string) (Level, error) { return parseName[Level]("level", name, levelNames) }

// KeyFunction returns the name and version of the function that makes the keys
// of a level by a standard: "k1-rfc/1". Every hash is seeded with it, so keys of different
// functions do not meet.
func KeyFunction(std Standard, lv Level) string { return keyFunctions[std][lv] }

// A Key stands for a canonical string. Equal strings have equal keys, on every
// machine and in every release. Different ones have different keys, but for
// accidents (expect the first among some 2^64) and, with XXH3, for malice. The
// zero Key means no URL; it is never the key of one.
type Key struct{ Hi, Lo uint64 }

// AppendTo appends k as 32 lower-case hex digits, big-endian.
func (k Key) AppendTo(dst []byte) []byte {
	var b [16]byte
	return hex.AppendEncode(dst, k.put(&b))
}

// AppendText implements encoding.TextAppender. It never fails.
func (k Key) AppendText(dst []byte) ([]byte, error) { return k.AppendTo(dst), nil }

// String returns what AppendTo appends.
func (k Key) String() string { return string(k.AppendTo(nil)) }

// Compare returns -1, 0 or +1. Keys sort as their text does.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Hi, o.Hi), cmp.Compare(k.Lo, o.Lo))
}

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return k == Key{} }

// ParseKey reads what AppendTo writes, in either case of letters. The error is
// ErrKey.
func ParseKey(text []byte) (Key, error) {
	var b [16]byte
	if len(text) != 32 {
		return Key{}, ErrKey
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return Key{}, ErrKey
	}
	return keyOf(b[:]), nil
}

// keyOf reads a key from its first 16 bytes, and keeps off the zero Key.
func keyOf(b []byte) Key {
	k := Key{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	if k.IsZero() {
		k.Lo = 1
	}
	return k
}

// A Hash says how a canonical string becomes a Key.
type Hash uint8

// The hashes.
const (
	XXH3       Hash = iota // XXH3-128, seeded with the XXH3-64 of the key function's name: fast
	SHA256                 // the first 128 bits of SHA-256 over name, a zero byte, string: where someone may look for collisions
	HMACSHA256             // the same under HMAC (RFC 2104): where keys leave the house
)

var hashNames = []string{"xxh3-128", "sha256-128", "hmac-sha256"}

// String returns the hash's name: "xxh3-128".
func (h Hash) String() string { return nameOf(h, hashNames) }

// ParseHash returns the hash of that name.
func ParseHash(name string) (Hash, error) { return parseName[Hash]("hash", name, hashNames) }

// WithHash chooses the hash of keys. The default is XXH3.
func WithHash(h Hash) Option { return func(n *Normalizer) { n.hasher.hash = h } }

// WithStandard chooses the reading on which keys are computed. The default is the
// profile's. A URL of which the other standard has no reading has the keys of the
// profile's reading; for the whatwg reading it gets the flag WHATWGReject.
func WithStandard(rd Standard) Option { return func(n *Normalizer) { n.keys = rd } }

// MinHMACKey is the least length of a key for WithHMACKey that programs should
// accept from users, in bytes: 128 bits cannot be guessed.
const MinHMACKey = 16

// WithHMACKey chooses HMACSHA256 under this key, which is copied. The key should
// be secret and have 16 bytes or more.
func WithHMACKey(key []byte) Option {
	key = append([]byte(nil), key...)
	return func(n *Normalizer) { n.hasher.hash, n.hasher.secret = HMACSHA256, key }
}

// An OptionError says why New refused its options.
type OptionError struct{ Reason string }

// Error returns the reason.
func (e *OptionError) Error() string { return "codec: " + e.Reason }

// A hasher makes keys of canonical strings.
type hasher struct {
	hash   Hash
	secret []byte
	names  *[numLevels]string // of the key functions
	seeds  [numLevels]uint64  // for XXH3
}

func (h *hasher) prepare(rd Standard) error {
	h.names = &keyFunctions[rd]
	if int(h.hash) >= len(hashNames) {
		return &OptionError{"there is no such hash"}
	}
	if h.hash == HMACSHA256 && len(h.secret) == 0 {
		return &OptionError{"hmac-sha256 needs a key"}
	}
	for lv := range h.seeds {
		h.seeds[lv] = xxh3.HashString(h.names[lv])
	}
	return nil
}

// key hashes a canonical string. s is work space.
func (h *hasher) key(lv Level, canonical []byte, s *scratch) Key {
	if h.hash == XXH3 {
		x := xxh3.Hash128Seed(canonical, h.seeds[lv])
		if x.Hi|x.Lo == 0 {
			x.Lo = 1
		}
		return Key{x.Hi, x.Lo}
	}
	if s.mac == nil || s.mac.owner != h {
		s.mac = newKeyedHash(h)
	}
	return s.mac.key(lv, canonical)
}

// A keyedHash is SHA-256, plain or under HMAC, for one hasher; a Result keeps it
// so that it is made once.
type keyedHash struct {
	owner *hasher
	hash  hash.Hash
	text  []byte
	sum   [sha256.Size]byte
}

func newKeyedHash(h *hasher) *keyedHash {
	if h.hash == HMACSHA256 {
		return &keyedHash{owner: h, hash: hmac.New(sha256.New, h.secret)}
	}
	return &keyedHash{owner: h, hash: sha256.New()}
}

func (k *keyedHash) key(lv Level, canonical []byte) Key {
	k.text = append(append(k.text[:0], k.owner.names[lv]...), 0)
	k.hash.Reset()
	k.hash.Write(k.text) // never fails, by the contract of hash.Hash
	k.hash.Write(canonical)
	return keyOf(k.hash.Sum(k.sum[:0]))
}

// canonical returns the canonical string of a level: norm where that is it, else
// bytes of r that last until the next call. Each level is computed from the one
// before, or from what has the same one, so that URLs equal at one level are
// equal at every higher one.
func (n *Normalizer) canonical(lv Level, src, norm []byte, r *Result) []byte {
	if lv < K2 {
		return n.standard(lv, src, norm, r)
	}
	s := &r.scratch
	k1 := n.standard(K1, src, norm, r)
	u := s.parts(k1, norm, r)
	key, plain := n.plainK2(k1, u, s)
	if !plain {
		s.k2, key.signed = n.appendK2(s.k2[:0], k1, u, s)
		key.text = s.k2
	}
	if key.signed {
		r.Flags = r.Flags.With(SignedURL)
	}
	if lv == K2 {
		return key.text
	}
	if plain {
		if k3, ok := n.plainK3(&key, u, s); ok {
			return k3
		}
		key.parts(u, &s.out)
	}
	s.k3 = n.appendK3(s.k3[:0], key.text, &s.out, s)
	return s.k3
}

// parts returns the components of a canonical string, which may be norm.
func (s *scratch) parts(canonical, norm []byte, r *Result) *URL {
	switch {
	case s.dropped && (s.clean || sameBytes(canonical, s.full)):
		return &s.whole
	case s.clean || sameBytes(canonical, norm):
		return &r.Out
	}
	_, _ = split(canonical, &s.in)
	return &s.in
}

// sameBytes reports whether a and b are the same memory.
func sameBytes(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// standard returns the canonical string of K0 or K1.
func (n *Normalizer) standard(lv Level, src, norm []byte, r *Result) []byte {
	s := &r.scratch
	if s.clean {
		return src
	}
	if n.keys == n.profile.Standard && (n.level == int(lv) || lv == K0 && n.level == int(K1) && s.applied&schemeRules == 0) {
		return norm
	}
	text := n.keyText(src, norm, r)
	switch {
	case n.keys != WHATWG:
	case s.canonical:
		return text
	case s.patched:
		s.key = appendPatched(s.key[:0], text, s.kept)
		return s.key
	}
	with := syntax
	if lv == K1 {
		with = scheme
	}
	s.key = with.appendPlain(s.key[:0], text, s)
	return s.key
}

// keyText returns a text that has, by RFC 3986, the K0 that the input has in the
// reading of n's keys.
func (n *Normalizer) keyText(src, norm []byte, r *Result) []byte {
	s := &r.scratch
	if n.keys != n.profile.Standard {
		return n.otherText(src, norm, r)
	}
	switch {
	case s.dropped:
		return s.full
	case n.level == int(K0) || n.profile.Standard == WHATWG && !s.fallback:
		return norm // which has the same K0
	case s.resolved:
		return s.text
	}
	return src
}

// otherText is keyText for keys on another reading than the profile's. Where that
// has no answer it is the one of the profile's reading.
func (n *Normalizer) otherText(src, norm []byte, r *Result) []byte {
	s := &r.scratch
	if s.resolved && n.keys == WHATWG {
		src = s.text
	}
	if n.keys == RFC {
		if s.resolved {
			s.text, _ = Resolve(s.text[:0], s.base.src, src)
			src = s.text
		}
		if _, err := split(src, &s.in); err != 0 {
			return norm
		}
		return src
	}
	if s.other == nil {
		s.other = new(Result)
	}
	var err Error
	s.other.reset()
	s.full, err = browser.appendWHATWG(s.full[:0], nil, src, s.other)
	if err != 0 {
		r.Flags = r.Flags.With(WHATWGReject)
		return src
	}
	return s.full
}

// appendPlain appends the normal form of a URL that has one, and says nothing
// about it. Of s it uses the fields in and out.
func (n *Normalizer) appendPlain(dst, src []byte, s *scratch) []byte {
	if _, _, ok := parseClean(src, &s.in); ok {
		return append(dst, src...)
	}
	if out, ok := n.onePassPlain(dst, src, s); ok {
		return out
	}
	_, _ = split(src, &s.in)
	dst, _ = n.appendURL(dst, src, &s.in, &s.out, 0, nil)
	return dst
}

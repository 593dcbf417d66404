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

// A Level selects how much a key ignores. From LevelSyntax to LevelPage, URLs
// that are equal at one level are equal at the higher ones too. LevelMatch and
// LevelShape are outside this order. The zero Level is LevelDefault.
type Level uint8

// The levels. The specification of keys calls the four levels that nest K0 to
// K3.
const (
	// LevelDefault is the level of the profile: see Profile.Key.
	LevelDefault Level = iota
	// LevelSyntax, K0, identifies URLs that RFC 3986 §6.2.2 calls equivalent:
	// letter case, escapes of unreserved bytes, dot segments.
	LevelSyntax
	// LevelEquivalent, K1, adds RFC 3986 §6.2.3: default port, empty path,
	// notation of IP addresses.
	LevelEquivalent
	// LevelFetch, K2, is for crawlers. It ignores fragment, userinfo, session
	// ids, click ids and the order of parameters, and treats http and https as
	// equal.
	LevelFetch
	// LevelPage, K3, is for analytics. It also ignores "www.", double slashes,
	// index files, trailing slashes, and the parameters listed for the site.
	LevelPage

	numLevels = iota // number of levels so far: LevelDefault, and K0 to K3

	// LevelMatch identifies URLs for which the program that the profile
	// reproduces returns the same text. Only profiles that reproduce a program
	// have keys of this level.
	LevelMatch = Level(numLevels)

	// LevelShape is for inventories of what a site serves. It is computed from
	// LevelFetch: host and port, the path as the template of package template,
	// and the sorted set of parameter names, without scheme and values. URLs that
	// are equal at LevelFetch are equal at LevelShape.
	LevelShape = LevelMatch + 1

	allLevels = LevelShape + 1
)

var levelNames = []string{"", "syntax", "equivalent", "fetch", "page", "match", "shape"}

// shortNames are other names of the levels, which ParseLevel accepts.
var shortNames = []string{"", "k0", "k1", "k2", "k3", "match", "surface"}

// keyFunctions names the function that computes the keys of each level: level,
// standard, version. A change of what a key means needs a new version.
var keyFunctions = [...][numLevels]string{
	RFC3986: {"", "k0-rfc/1", "k1-rfc/1", "k2-rfc/1", "k3-rfc/1"},
	WHATWG:  {"", "k0-whatwg/1", "k1-whatwg/1", "k2-whatwg/1", "k3-whatwg/1"},
}

// surfaceFunctions names the functions of LevelShape.
var surfaceFunctions = [...]string{RFC3986: "surface-rfc/1", WHATWG: "surface-whatwg/1"}

// String returns the name, such as "equivalent", "" for LevelDefault, or
// "unknown".
func (lv Level) String() string { return nameOf(lv, levelNames) }

// ParseLevel returns the level with the given name. It also takes k0, k1, k2 and k3
// for the levels from LevelSyntax to LevelPage, and surface for LevelShape. The
// error is a *NameError.
func ParseLevel(name string) (Level, error) {
	if lv, err := parseName[Level]("level", name, shortNames); err == nil {
		return lv, nil
	}
	return parseName[Level]("level", name, levelNames)
}

// KeyFunction returns the name and version of the function that computes keys
// of a level by a standard, such as "k1-rfc/1". The name seeds every hash, so
// keys of different functions do not coincide. The key functions of LevelMatch
// belong to profiles: see [Normalizer.KeyFunction]. KeyFunction returns "" for
// LevelMatch and LevelDefault. Not covered by the stability page.
func KeyFunction(std Standard, lv Level) string {
	switch {
	case lv == LevelShape:
		return surfaceFunctions[std]
	case lv >= numLevels:
		return ""
	}
	return keyFunctions[std][lv]
}

// A Key is a 128-bit hash of a canonical string. Equal strings have equal keys,
// on every machine and in every release. Different strings have different keys,
// except for random collisions (expect the first among some 2^64 URLs) and,
// with XXH3, deliberate ones. The zero Key means "no URL" and is never the key
// of a URL. Keys can be compared with ==, and marshal as their hex digits.
type Key struct{ hi, lo uint64 }

// KeyFrom returns the key with the given bytes, which are big-endian: the
// reverse of [Key.Bytes].
func KeyFrom(b [16]byte) Key {
	return Key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// KeyFromUint64s returns the key with the given halves: the reverse of
// [Key.Uint64s]. Not covered by the stability page.
func KeyFromUint64s(hi, lo uint64) Key { return Key{hi, lo} }

// Bytes returns the bytes of k, big-endian. They sort like the keys.
func (k Key) Bytes() (b [16]byte) {
	k.put(&b)
	return b
}

// Uint64s returns the two halves of k: its first and its last 64 bits. Each
// half alone is a 64-bit hash of the URL. Not covered by the stability page.
func (k Key) Uint64s() (hi, lo uint64) { return k.hi, k.lo }

// AppendTo appends k as 32 lower-case hex digits, big-endian.
func (k Key) AppendTo(dst []byte) []byte {
	var b [32]byte
	for i, half := range [2]uint64{k.hi, k.lo} {
		binary.BigEndian.PutUint64(b[i*16:], hexDigits(uint32(half>>32)))
		binary.BigEndian.PutUint64(b[i*16+8:], hexDigits(uint32(half)))
	}
	return append(dst, b[:]...)
}

// hexDigits returns the eight lower-case hex digits of n, the first one in the
// highest byte.
func hexDigits(n uint32) uint64 {
	const each = 0x0101010101010101
	x := uint64(n)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	x = (x | x<<8) & 0x00FF00FF00FF00FF
	x = (x | x<<4) & (0x0F * each)      // a digit in each byte
	letters := (x + 6*each) >> 4 & each // 1 in the bytes from 10
	return x + '0'*each + letters*('a'-10-'0')
}

// MarshalText implements encoding.TextMarshaler: 32 lower-case hex digits. It
// never fails.
func (k Key) MarshalText() ([]byte, error) { return k.AppendTo(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It accepts the texts that
// ParseKey accepts.
func (k *Key) UnmarshalText(text []byte) error { return setName(k, text, ParseKey[string]) }

// String returns the text that AppendTo appends.
func (k Key) String() string { return string(k.AppendTo(nil)) }

// Compare returns -1, 0 or +1. Keys sort in the order of their hex digits.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.hi, o.hi), cmp.Compare(k.lo, o.lo))
}

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return k == Key{} }

// ParseKey parses the 32 hex digits that AppendTo appends, in upper or lower
// case. 32 zeros are the zero Key. The error is a *KeyError.
func ParseKey[T ~string | ~[]byte](text T) (Key, error) {
	var digits [32]byte
	var b [16]byte
	if len(text) != len(digits) {
		return Key{}, &KeyError{KeyHex}
	}
	copy(digits[:], text)
	if _, err := hex.Decode(b[:], digits[:]); err != nil {
		return Key{}, &KeyError{KeyHex}
	}
	return KeyFrom(b), nil
}

// keyOf returns the key in the first 16 bytes of b. It never returns the zero
// Key, which means "no URL".
func keyOf(b []byte) Key {
	k := KeyFrom([16]byte(b))
	if k.IsZero() {
		k.lo = 1
	}
	return k
}

// A Hash selects how a canonical string is hashed to a Key. The zero Hash is
// XXH3.
type Hash uint8

// The hashes.
const (
	// XXH3 is XXH3-128, seeded with the XXH3-64 of the key function's name. It
	// is fast, but does not resist deliberate collisions.
	XXH3 Hash = iota
	// SHA256 is the first 128 bits of SHA-256 over the key function's name, a
	// zero byte and the string. It resists deliberate collisions.
	SHA256
	// HMACSHA256 is SHA256 with HMAC (RFC 2104). Only somebody who has the secret can
	// check which URL a key belongs to, so you may give keys to third parties.
	HMACSHA256
)

var hashNames = []string{"xxh3-128", "sha256-128", "hmac-sha256"}

// String returns the name used in output, such as "xxh3-128", or "unknown".
func (h Hash) String() string { return nameOf(h, hashNames) }

// WithHash sets the hash of keys. The default is XXH3. HMACSHA256 needs a
// secret: use WithHMACKey.
func WithHash(h Hash) Option {
	return func(n *Normalizer) error {
		n.hasher.hash = h
		return nil
	}
}

// Hash returns the hash of n's keys.
func (n *Normalizer) Hash() Hash { return n.hasher.hash }

// WithStandard sets the standard that keys are computed by. The default is the
// profile's standard. If the other standard cannot parse a URL, its keys are
// computed by the profile's standard; if the other standard is WHATWG, the URL
// also gets the flag FlagWHATWGReject.
func WithStandard(std Standard) Option {
	return func(n *Normalizer) error {
		n.keys = std
		return nil
	}
}

// WithHMACKey selects HMACSHA256 with the given secret, which it copies. The
// secret must not be empty and should have at least MinHMACKey bytes.
func WithHMACKey(key []byte) Option {
	key = append([]byte(nil), key...)
	return func(n *Normalizer) error {
		n.hasher.hash, n.hasher.secret = HMACSHA256, key
		return nil
	}
}

// An OptionError reports why New rejected its options.
type OptionError struct{ Reason string }

// Error returns "codec: " and the reason.
func (e *OptionError) Error() string { return "codec: " + e.Reason }

// A hasher computes keys from canonical strings.
type hasher struct {
	hash   Hash
	secret []byte
	names  [allLevels]string // names of the key functions
	seeds  [allLevels]uint64 // seeds for XXH3
}

func (h *hasher) prepare(rd Standard, m *match) error {
	copy(h.names[:], keyFunctions[rd][:])
	h.names[LevelShape] = surfaceFunctions[rd]
	if m != nil {
		h.names[LevelMatch] = m.key
	}
	if int(h.hash) >= len(hashNames) {
		return &OptionError{"unknown hash"}
	}
	if h.hash == HMACSHA256 && len(h.secret) == 0 {
		return &OptionError{"hmac-sha256 needs a key: use WithHMACKey"}
	}
	if h.hash != HMACSHA256 && h.secret != nil {
		return &OptionError{"the hash " + h.hash.String() + " has no secret: use WithHMACKey or WithHash, not both"}
	}
	for lv := range h.seeds {
		h.seeds[lv] = xxh3.HashString(h.names[lv])
	}
	return nil
}

// key hashes a canonical string. It uses s as work space.
func (h *hasher) key(lv Level, canonical []byte, s *scratch) Key {
	if h.hash == XXH3 {
		return keyOfHash(xxh3.Hash128Seed(canonical, h.seeds[lv]))
	}
	if s.mac == nil || s.mac.owner != h {
		s.mac = newKeyedHash(h)
	}
	return s.mac.key(lv, canonical)
}

// keyOfHash returns h as a Key, but never the zero Key.
func keyOfHash(h xxh3.Uint128) Key {
	return Key{h.Hi, h.Lo | uint64(b2i(h.Hi|h.Lo == 0))}
}

// A keyedHash computes SHA-256, plain or with HMAC, for one hasher. A Result
// keeps its keyedHash, to allocate only once.
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

// canonical returns the canonical string of a level: norm if the string equals
// norm, otherwise bytes in r that are valid until the next call. It is nil if
// the URL has no key of that level. Each level is computed from the canonical
// string of the level before, or from a text with the same key at the level
// before, so that URLs equal at one level are equal at every higher level.
// LevelShape is computed from K2.
func (n *Normalizer) canonical(lv Level, src, norm []byte, r *Result) []byte {
	switch {
	case !r.hasKey(lv):
		return nil
	case lv == LevelMatch:
		return norm
	case lv < LevelFetch:
		return n.standard(lv, src, norm, r)
	}
	return n.lossy(lv, r)
}

// lossy is canonical for K2, K3 and LevelShape of a URL that has keys.
func (n *Normalizer) lossy(lv Level, r *Result) []byte {
	s := &r.scratch
	k1, u := n.partsOfK1(r)
	plain, single := n.plainKey(lv, k1, u, s)
	switch {
	case plain && lv == LevelFetch:
		return n.plainK2(k1, s.workText(k1), u, r)
	case plain && single && lv == LevelPage && !n.policy.rewritesK3():
		return n.plainK3(k1, s.workText(k1), u, r)
	}
	k2 := n.partsOfK2(plain, k1, u, r)
	switch lv {
	case LevelFetch:
		return k2
	case LevelPage:
		s.k3 = n.appendK3(s.k3[:0], k2, &s.out, s)
	default:
		s.k3 = n.appendSurface(s.k3[:0], k2, &s.out, r.Flags.Has(FlagSignedURL), s)
	}
	return s.k3
}

// partsOfK2 returns the K2 of k1, and sets s.out to the components of K2. u has the
// components of k1. plain says that plainK2 can compute the K2.
func (n *Normalizer) partsOfK2(plain bool, k1 []byte, u *URL, r *Result) (k2 []byte) {
	s := &r.scratch
	if plain {
		k2 = n.plainK2(k1, s.workText(k1), u, r)
		n.plainParts(k2, u, &s.out)
		return k2
	}
	var signed bool
	s.k2, signed = n.appendK2(s.k2[:0], k1, u, s)
	r.noteSigned(signed)
	return s.k2
}

// partsOfK1 returns K1 and its components.
func (n *Normalizer) partsOfK1(r *Result) (k1 []byte, u *URL) {
	s := &r.scratch
	switch {
	case s.clean && !s.dropped:
		return s.src, &r.Out
	case s.canonical && !s.dropped && n.keys == WHATWG:
		return s.norm, &r.Out
	}
	k1 = n.standard(LevelEquivalent, s.src, s.norm, r)
	return k1, s.parts(k1, s.norm, r)
}

// parts returns the components of a canonical string, which may be norm.
func (s *scratch) parts(canonical, norm []byte, r *Result) *URL {
	u, text := &r.Out, norm
	if s.dropped {
		u, text = &s.whole, s.full
	}
	switch {
	case s.clean || sameBytes(canonical, text):
		return u
	case s.keyPatched:
		s.in = *u
		s.in.patch(s.kept)
		return &s.in
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
	if n.keys == n.profile.Standard && (n.level == lv || lv == LevelSyntax && n.level == LevelEquivalent && s.applied&schemeRules == 0) {
		return norm
	}
	text := n.keyText(src, norm, r)
	if n.keys == WHATWG && (s.canonical || s.patched) {
		return s.patchedKey(text)
	}
	with := syntax
	if lv == LevelEquivalent {
		with = scheme
	}
	s.key = with.appendPlain(s.key[:0], text, s)
	return s.key
}

// patchedKey returns the canonical string of text, a serialized URL, for K0 and
// K1, where it is the same. s.canonical or s.patched must be set.
func (s *scratch) patchedKey(text []byte) []byte {
	if s.canonical {
		return text
	}
	s.key, s.keyPatched = appendPatched(s.key[:0], text, s.kept), true
	return s.key
}

// keyText returns a text whose K0, by RFC 3986, is the K0 of the input by the
// standard of n's keys.
func (n *Normalizer) keyText(src, norm []byte, r *Result) []byte {
	s := &r.scratch
	if n.keys != n.profile.Standard {
		return n.otherText(src, norm, r)
	}
	switch {
	case s.dropped:
		return s.full
	case n.level == LevelSyntax || n.profile.Standard == WHATWG && !s.fallback:
		return norm // norm has the same K0 as the input
	case s.resolved:
		return s.text
	}
	return src
}

// otherText is keyText for keys whose standard differs from the standard of the
// profile. If the standard of the keys cannot parse the input, otherText returns
// the text by the standard of the profile.
func (n *Normalizer) otherText(src, norm []byte, r *Result) []byte {
	s := &r.scratch
	if s.resolved && n.keys == WHATWG {
		src = s.text
	}
	if n.keys == RFC3986 {
		if s.resolved {
			var err Error
			if src, err = s.target(src); err != 0 {
				return norm
			}
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
		r.Flags = r.Flags.With(FlagWHATWGReject)
		return src
	}
	return s.full
}

// appendPlain appends the normal form of a URL that is known to have one,
// without flags or diagnostics. It uses the fields in and out of s.
func (n *Normalizer) appendPlain(dst, src []byte, s *scratch) []byte {
	o, _, ok := parseClean(src, &s.in, &s.survey)
	if ok {
		return append(dst, src...)
	}
	if out, ok := n.onePassPlain(dst, src, o, s); ok {
		return out
	}
	_, _ = split(src, &s.in)
	dst, _ = n.appendURL(dst, src, &s.in, &s.out, 0, nil)
	return dst
}

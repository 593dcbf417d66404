package params

// sieve rejects most names that neither a Matcher nor this package recognizes. It
// looks only at their first four bytes.
type sieve struct {
	starts [1 << startHashBits / 64]uint64 // for the start of each name or prefix, the bit of its hash
	first  [256]bool                       // whether a prefix of fewer than four bytes starts with the byte, in either case
}

// The upper half of a nameStart is the first four bytes of a name as a
// big-endian number, padded with zeros. The other four bytes are ignored.
type nameStart uint64

// startOf returns the nameStart of a name.
func startOf(name []byte) nameStart { return nameStart(shortOrder(name[:min(len(name), 4)])) }

const startHashBits = 12

// hash returns a hash that ignores ASCII case.
func (n nameStart) hash() uint64 {
	const spaces = 0x20_20_20_20 // the bits that distinguish upper and lower case
	return (uint64(n)>>32 | spaces) * 0x9E3779B1 << 32 >> (64 - startHashBits)
}

// passes reports whether a name with the start n may be recognized. The name
// must be bare, form-decoded and not empty.
func (s *sieve) passes(n nameStart) bool {
	h := n.hash()
	return s.starts[h/64]>>(h%64)&1 != 0 || s.first[n>>56]
}

// passesName is passes for a name, which may be empty.
func (s *sieve) passesName(name []byte) bool { return len(name) > 0 && s.passes(startOf(name)) }

// addName makes a name pass, and all names with the same start.
func (s *sieve) addName(name string) {
	h := startOf([]byte(name)).hash()
	s.starts[h/64] |= 1 << (h % 64)
}

// addPrefix makes all names pass that begin with prefix, which must be in lower case.
func (s *sieve) addPrefix(prefix string) {
	if len(prefix) >= 4 {
		s.addName(prefix)
		return
	}
	c := prefix[0]
	s.first[c] = true
	if 'a' <= c && c <= 'z' {
		s.first[c-('a'-'A')] = true
	}
}

// heart is the sieve for the names in knownNames.
var heart = func() *sieve {
	s := new(sieve)
	for _, name := range knownNames {
		s.addName(name)
	}
	return s
}()

// sieveOf returns the sieve for the names in ix and in knownNames.
func sieveOf(ix *index) *sieve {
	s := *heart
	for _, e := range ix.exact {
		s.addName(e.name)
	}
	for _, p := range ix.prefixed {
		s.addPrefix(p.prefix)
	}
	return &s
}

// sieve returns the sieve of m, which can be nil.
func (m *Matcher) sieve() *sieve {
	if m == nil {
		return heart
	}
	return m.names
}

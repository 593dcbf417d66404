package params

// sieve rejects most names that neither a Matcher nor this package recognizes.
// It hashes the first and last byte of a name and its length, which is enough
// for most parameters of most queries.
type sieve struct {
	exact [sieveBits / 64]uint64 // a bit for each name, see sieveHash
	first [256]bool              // whether there is a pattern for names that start with the byte, in either case
}

const sieveBits = 1 << 12

// sieveHash returns the hash of a name of n bytes, which must not be 0, from its first
// and last byte. It ignores ASCII case.
func sieveHash(first, last byte, n int) uint32 {
	return (uint32(first|0x20)*0x9E3779B1 + uint32(last|0x20)*0x85EBCA6B + uint32(n)*0xC2B2AE35) >> 20
}

// passes reports whether a name may be recognized, from its first and last byte and
// its length, which must not be 0. The name must be bare and form-decoded.
func (s *sieve) passes(first, last byte, n int) bool {
	h := sieveHash(first, last, n) % sieveBits
	return s.exact[h/64]>>(h%64)&1 != 0 || s.first[first]
}

// passesName is passes for a name, which may be empty.
func (s *sieve) passesName(name []byte) bool {
	return len(name) > 0 && s.passes(name[0], name[len(name)-1], len(name))
}

func (s *sieve) add(name string) {
	h := sieveHash(name[0], name[len(name)-1], len(name))
	s.exact[h/64] |= 1 << (h % 64)
}

// addFirst makes all names that start with c pass. c must be in lower case.
func (s *sieve) addFirst(c byte) {
	s.first[c] = true
	if 'a' <= c && c <= 'z' {
		s.first[c-('a'-'A')] = true
	}
}

// heart is the sieve for the names in knownNames.
var heart = func() *sieve {
	s := new(sieve)
	for _, name := range knownNames {
		s.add(name)
	}
	for last := 'a'; last <= 'z'; last++ {
		s.add(aspSession[:len(aspSession)-1] + string(last))
	}
	return s
}()

// sieveOf returns the sieve for the names in ix and in knownNames.
func sieveOf(ix *index) *sieve {
	s := *heart
	for _, e := range ix.exact {
		s.add(e.name)
	}
	for _, p := range ix.prefixed {
		s.addFirst(p.prefix[0])
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

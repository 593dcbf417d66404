package params

import (
	"bytes"
	"strings"
)

// scope is a set of hosts and paths that rules apply to. Rules with the same
// hosts and paths share a scope.
type scope struct {
	host *automaton // nil if the host was found by name or does not matter
	path *automaton // nil if the path does not matter
	any  [numActions][]pattern
}

// hostKind says which hosts a host rule covers.
type hostKind uint8

const (
	hostBelow   hostKind = iota // example.com and its subdomains
	hostUnder                   // *.example.com: its subdomains
	hostAlone                   // =example.com
	hostTLD                     // example.*: example and its subdomains, under any registrable suffix
	hostPattern                 // ^...
	hostAny                     // ""
)

// splitHost returns the kind of ListRule.Host and the name in it.
func splitHost(host string) (kind hostKind, name string) {
	switch {
	case host == "":
		return hostAny, ""
	case host[0] == '^':
		return hostPattern, host
	case host[0] == '=':
		return hostAlone, host[1:]
	case strings.HasPrefix(host, "*."):
		return hostUnder, host[2:]
	case strings.HasSuffix(host, ".*"):
		return hostTLD, host[:len(host)-2]
	}
	return hostBelow, host
}

// hostEntry holds the scopes of a name in a hostTable.
type hostEntry struct {
	name   string
	scopes [hostTLD + 1][]uint32
}

// hostTable finds hosts by their last labels. It uses open addressing with a
// hash that is computed from right to left, so that one pass over a host looks
// up all of its suffixes.
type hostTable struct {
	entries []hostEntry
	byName  map[string]int // index of entry; nil after build
	slots   []uint32       // 1 + index of entry; the length is a power of two
	tld     bool           // the table has hostTLD scopes
}

const hashSeed, hashPrime = 2166136261, 16777619 // FNV-1a, 32 bits

func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(lower(c))) * hashPrime }

// add registers a scope for a name.
func (t *hostTable) add(kind hostKind, name string, scope uint32) {
	t.tld = t.tld || kind == hostTLD
	i, ok := t.byName[name]
	if !ok {
		i = len(t.entries)
		t.byName[name] = i
		t.entries = append(t.entries, hostEntry{name: name})
	}
	e := &t.entries[i]
	e.scopes[kind] = append(e.scopes[kind], scope)
}

// build creates the slots after all names have been added.
func (t *hostTable) build() {
	n := 4
	for n < 4*len(t.entries) {
		n *= 2
	}
	t.slots, t.byName = make([]uint32, n), nil
	for i, e := range t.entries {
		h := uint32(hashSeed)
		for j := len(e.name) - 1; j >= 0; j-- {
			h = hashByte(h, e.name[j])
		}
		slot := h & uint32(n-1)
		for t.slots[slot] != 0 {
			slot = (slot + 1) & uint32(n-1)
		}
		t.slots[slot] = uint32(i) + 1
	}
}

// find returns the entry for a name with the hash h, or nil.
func (t *hostTable) find(name []byte, h uint32) *hostEntry {
	mask := uint32(len(t.slots) - 1)
	for slot := h & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		if e := &t.entries[t.slots[slot]-1]; equalFold(name, e.name) {
			return e
		}
	}
	return nil
}

// walk activates the scopes in s that match host. If tld is set, host is the
// part before a registrable suffix.
func (t *hostTable) walk(host []byte, tld bool, s *Scratch) {
	h := uint32(hashSeed)
	for i := len(host) - 1; i >= 0; i-- {
		h = hashByte(h, host[i])
		if i > 0 && host[i-1] != '.' {
			continue
		}
		e := t.find(host[i:], h)
		switch {
		case e == nil:
		case tld:
			s.activate(e.scopes[hostTLD])
		default:
			s.activate(e.scopes[hostBelow])
			if i == 0 {
				s.activate(e.scopes[hostAlone])
			} else {
				s.activate(e.scopes[hostUnder])
			}
		}
	}
}

// secondLevels are the labels that some countries use between their own label
// and the names that they register.
var secondLevels = []string{"ac", "co", "com", "edu", "gob", "gov", "gr", "ltd", "me", "ne", "net", "nom", "or", "org", "web"}

// cutTLD removes the last label or, if short is set, the last two labels. It
// returns nil if host has too few labels or if the removed part is not a suffix
// for registrations. Without the Public Suffix List, a suffix is one label of
// at least two letters, or one of secondLevels and a label of two letters.
func cutTLD(host []byte, short bool) []byte {
	i := bytes.LastIndexByte(host, '.')
	if i <= 0 || len(host)-i-1 < 2 || !isAlphaLabel(host[i+1:]) {
		return nil
	}
	if !short {
		return host[:i]
	}
	country := host[i+1:]
	host = host[:i]
	i = bytes.LastIndexByte(host, '.')
	if i <= 0 || len(country) != 2 {
		return nil
	}
	for _, label := range secondLevels {
		if equalFold(host[i+1:], label) {
			return host[:i]
		}
	}
	return nil
}

// isAlphaLabel distinguishes the last label of a name from the last number of
// an IPv4 address.
func isAlphaLabel(label []byte) bool {
	return kinds[label[0]]&(kindUpper|kindLower) != 0
}

// Scratch is the working memory of one goroutine. The zero Scratch is ready for
// use. It grows as needed and does not shrink. Not covered by the stability page.
type Scratch struct {
	owner      *Matcher // the Matcher that the next four fields belong to
	active     []uint32 // scopes selected by the host
	state      []uint8  // by scope
	host, path []byte

	charts []chart // charts of the current query
	odd    uint64  // bits of odd bytes on any chart
	tidied tidyQuery
	fields []field
	names  []byte // decoded names of fields
	value  []byte // one decoded value
	drops  []Dropped

	Recorder Recorder // called for each rule that changes a query; nil is faster
}

// States of a scope.
const (
	stateOff     uint8 = iota // does not match this host
	stateUnknown              // matches this host by name; patterns not tried yet
	stateOn
	stateNo // a pattern does not match
)

func (s *Scratch) activate(scopes []uint32) {
	for _, i := range scopes {
		if s.state[i] == stateOff {
			s.state[i] = stateUnknown
			s.active = append(s.active, i)
		}
	}
}

// Site is a host and a path, prepared by Matcher.Site. No scoped rule applies
// to the zero Site. Not covered by the stability page.
type Site struct{ scratch *Scratch }

// Site selects the rules for a host and a path. host is as in a URL, without
// port and userinfo; path is raw. Until the next call with the same Scratch,
// the Site is valid, and host and path are retained. URLs without a query need
// no Site. With a nil Matcher, no rule applies. Not covered by the stability page.
func (m *Matcher) Site(host, path []byte, s *Scratch) Site {
	if m == nil || len(m.scopes) == 1 {
		return Site{}
	}
	return m.siteOf(host, path, s)
}

// siteOf is Site for a Matcher with scopes.
func (m *Matcher) siteOf(host, path []byte, s *Scratch) Site {
	for _, i := range s.active {
		s.state[i] = stateOff
	}
	s.active = s.active[:0]
	if s.owner != m {
		s.owner = m
		s.state = append(s.state[:0], make([]uint8, len(m.scopes))...)
	}
	s.host, s.path = host, path
	s.activate(m.wide)
	if len(m.hosts.entries) > 0 {
		m.hosts.walk(host, false, s)
	}
	if m.hosts.tld {
		m.hosts.walk(cutTLD(host, false), true, s)
		m.hosts.walk(cutTLD(host, true), true, s)
	}
	return Site{scratch: s}
}

// covers reports whether a scope of m applies to the site. Scope 0 applies
// everywhere. Patterns are matched on first use.
func (m *Matcher) covers(scope uint32, site Site) bool {
	if scope == 0 {
		return true
	}
	s := site.scratch
	if s == nil || s.owner != m {
		return false
	}
	if s.state[scope] == stateUnknown {
		sc := &m.scopes[scope]
		s.state[scope] = stateOn
		if sc.host != nil && !sc.host.match(s.host) || sc.path != nil && !sc.path.match(s.path) {
			s.state[scope] = stateNo
		}
	}
	return s.state[scope] == stateOn
}

package params

import (
	"bytes"
	"strings"
)

// A scope is a place that rules apply to: hosts and paths. Rules with the same place share it.
type scope struct {
	host *automaton // nil if the host was found by name, or does not matter
	path *automaton // nil if the path does not matter
	any  [numActions][]pattern
}

// A hostKind says which hosts a host rule names.
type hostKind uint8

const (
	hostBelow   hostKind = iota // example.com and all below
	hostUnder                   // *.example.com: all below
	hostAlone                   // =example.com
	hostTLD                     // example.*: example, and all below, under any registrable suffix
	hostPattern                 // ^...
	hostAny                     // ""
)

// splitHost returns the kind of Rule.Host, and the name in it.
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

// A hostEntry is what a hostTable holds of one name.
type hostEntry struct {
	name   string
	scopes [hostTLD + 1][]uint32
}

// A hostTable finds hosts by their last labels: open addressing on a hash that grows by a byte from right to left, so
// that all suffixes of a host are looked up in one pass.
type hostTable struct {
	entries []hostEntry
	byName  map[string]int // index of entry, until build
	slots   []uint32       // 1 + index of entry; the length is a power of two
	tld     bool           // there are hostTLD scopes
}

const hashSeed, hashPrime = 2166136261, 16777619 // FNV-1a, 32 bits

func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(lower(c))) * hashPrime }

// add files a scope under a name.
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

// build makes the slots, after all names are added.
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

// find returns the entry of a name with that hash, or nil.
func (t *hostTable) find(name []byte, h uint32) *hostEntry {
	mask := uint32(len(t.slots) - 1)
	for slot := h & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		if e := &t.entries[t.slots[slot]-1]; equalFold(name, e.name) {
			return e
		}
	}
	return nil
}

// walk activates in s what the table says about host. With tld, host is one whose registrable suffix was cut.
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

// secondLevels are the labels that countries put between their own and the names that they register, where they do.
var secondLevels = []string{"ac", "co", "com", "edu", "gob", "gov", "gr", "ltd", "me", "ne", "net", "nom", "or", "org", "web"}

// cutTLD cuts the last label, and with short the label before it too. It returns nil if host has not that many, or if
// they are not what names are registered under: without the Public Suffix List, that is one label of two letters or
// more, or one of secondLevels and a label of two letters.
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

// isAlphaLabel tells the last label of a name from that of an IPv4 address.
func isAlphaLabel(label []byte) bool {
	return kinds[label[0]]&(kindUpper|kindLower) != 0
}

// A Scratch is work space for one goroutine. The zero Scratch is ready for use; it grows and keeps its size.
type Scratch struct {
	owner      *Matcher // whose scopes the next four are about
	active     []uint32 // scopes that the host calls for
	state      []uint8  // for each scope
	host, path []byte

	charts []chart // of a query
	odd    uint64  // not 0 if an odd byte is on one of them
	tidied tidyQuery
	fields []field
	names  []byte // decoded names of fields
	value  []byte // one decoded value
	drops  []Dropped

	Recorder Recorder // is called for each rule that changes a query; nil for speed
}

// The states of a scope.
const (
	stateOff     uint8 = iota // not on this host
	stateUnknown              // on this host by its name; patterns not tried yet
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

// A Site is a host and a path as a Matcher sees them. It is made by Matcher.Site. The zero Site is one that no scoped rule applies to.
type Site struct {
	Separators Separators // what separates the fields of queries there
	scratch    *Scratch
}

// Site narrows the rules to those of a host and a path. The host is as in a URL, without port and userinfo; the path is raw. Both are
// borrowed, and the Site is good, until the next call with the same Scratch. A URL without a query needs none. A nil Matcher has no rules.
func (m *Matcher) Site(host, path []byte, s *Scratch) Site {
	if m == nil || len(m.scopes) == 1 {
		return Site{}
	}
	s.reset(m)
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

// reset makes s ready for a host of m.
func (s *Scratch) reset(m *Matcher) {
	for _, i := range s.active {
		s.state[i] = stateOff
	}
	s.active = s.active[:0]
	if s.owner != m {
		s.owner = m
		s.state = append(s.state[:0], make([]uint8, len(m.scopes))...)
	}
}

// covers reports whether a scope of m applies to the site. Scope 0 is everywhere. Patterns are tried when first asked for.
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

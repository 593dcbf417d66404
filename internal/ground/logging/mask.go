package logging

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// stars replaces a secret.
const stars = "***"

// minSecret is the minimum length of a secret that a Masker replaces, in bytes.
// Shorter texts also occur by chance.
const minSecret = 4

// A Masker replaces secrets in texts for output: the passwords in URLs, and the
// secrets passed to Add. It is the last line of defense; other code should not
// put secrets into such texts in the first place. The zero Masker masks the
// passwords in URLs. It is safe for concurrent use.
type Masker struct {
	mu      sync.Mutex
	secrets []string
	replace atomic.Pointer[strings.Replacer]
}

// Add adds secrets to m, both verbatim and percent-encoded. They are never
// removed, because an old secret may still be in use after a reload. Add
// ignores secrets of fewer than 4 bytes.
func (m *Masker) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if len(s) >= minSecret {
			m.secrets = append(m.secrets, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
	// Longer secrets first: if one secret is a prefix of another, replacing it
	// first would expose the rest of the longer one.
	slices.SortFunc(m.secrets, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	m.secrets = slices.Compact(m.secrets)
	pairs := make([]string, 0, 2*len(m.secrets))
	for _, s := range m.secrets {
		pairs = append(pairs, s, stars)
	}
	m.replace.Store(strings.NewReplacer(pairs...))
}

// Mask returns s with its secrets replaced, or s itself if it contains none.
func (m *Masker) Mask(s string) string {
	if r := m.replace.Load(); r != nil {
		s = r.Replace(s)
	}
	// "://user:pass@" becomes "://user:***@". A userinfo without a colon is
	// replaced completely, because NATS puts a token there.
	var b strings.Builder
	rest := s
	for {
		i := strings.Index(rest, "://")
		if i < 0 {
			break
		}
		b.WriteString(rest[:i+3])
		rest = rest[i+3:]
		// The authority ends at the first of "/?#" (RFC 3986 §3.2), in browsers also
		// at '\', or at the end of the URL in the surrounding text. Its last '@' ends
		// the userinfo (https://url.spec.whatwg.org/#authority-state).
		authority := rest
		if end := strings.IndexAny(rest, "/?#\\ \t\r\n\"'`<>"); end >= 0 {
			authority = rest[:end]
		}
		at := strings.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		if user, _, ok := strings.Cut(authority[:at], ":"); ok {
			b.WriteString(user)
			b.WriteByte(':')
		}
		b.WriteString(stars)
		rest = rest[at:]
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(rest)
	return b.String()
}

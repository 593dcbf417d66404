package logging

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// stars is what is shown in place of a secret.
const stars = "***"

// minSecret is the length of the shortest secret that a Masker looks for, in
// bytes. A shorter one cannot be told from the text around it.
const minSecret = 4

// A Masker hides secrets in text that is about to be shown: the passwords of
// URLs, and secrets that it was told of. It is the last line of defence, behind
// code that does not put them there. The zero Masker hides the passwords of URLs.
// It may be used from many goroutines.
type Masker struct {
	mu      sync.Mutex
	secrets []string
	replace atomic.Pointer[strings.Replacer]
}

// Add makes m hide more secrets, as they are and as they are escaped in URLs. What
// was added stays: after a change of the configuration the old secret may still be
// in use. Secrets of fewer than 4 bytes are ignored.
func (m *Masker) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if len(s) >= minSecret {
			m.secrets = append(m.secrets, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
	// The longer one first: of two secrets that begin alike, the rest of the longer
	// would be left to read.
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

// Mask returns s without secrets; s itself if it holds none.
func (m *Masker) Mask(s string) string {
	if r := m.replace.Load(); r != nil {
		s = r.Replace(s)
	}
	return maskURLs(s)
}

// maskURLs hides the passwords in the URLs of s: "://user:pass@" becomes
// "://user:***@". A userinfo without a colon is hidden whole: for NATS it is a
// token.
func maskURLs(s string) string {
	var b strings.Builder
	rest := s
	for {
		i := strings.Index(rest, "://")
		if i < 0 {
			break
		}
		b.WriteString(rest[:i+3])
		rest = rest[i+3:]
		// The authority ends at the first of "/?#" (RFC 3986 §3.2), or where the text
		// around the URL goes on; browsers end it at '\' too. Its last '@' ends the
		// userinfo (https://url.spec.whatwg.org/#authority-state).
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

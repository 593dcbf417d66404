// Package redact hides values in text that match patterns: addresses of email
// and of hosts, tokens, and what regular expressions match. It also describes a
// panic without the text of a record.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// The values that need no pattern: passwords are hidden with every pattern, because
// a URL shows where its password is. None hides nothing.
const (
	Passwords = "passwords"
	None      = "none"
)

// Stars replaces a hidden value. '*' is a sub-delim, which every component of a URL
// may contain (RFC 3986 §2.2), and browsers accept it in a host.
const Stars = "***"

// Limits of the patterns of a job: the work for a byte of text grows with them.
const (
	maxPatterns = 32
	maxSize     = 4096 // maximum length in bytes of all regular expressions
	maxRepeated = 128  // the same if they contain repetitions, which multiply the work
)

// A pattern is one kind of value.
type pattern struct {
	re     *regexp.Regexp
	inner  bool       // the value is the first group, the rest of the match is around it
	within *[256]bool // bytes of words: any other byte ends a word, and a value never extends beyond its word
	need   string     // a word can hold a value only if it contains this text as often as least says; searching for a text is faster than a regular expression
	least  int
}

const (
	quad   = `\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}` // fast, and hides 256.1.1.1 as well
	group  = `[\da-f]{1,4}`
	low    = `(?:(?:` + group + `:){0,6}(?:` + quad + `|` + group + `))`
	ip6    = `(?:(?:` + group + `:){7}` + group + `|(?:` + group + `:){6}` + quad + `|` + group + `(?::` + group + `){0,6}::` + low + `?|::` + low + `)(?:%[\w.~-]+)?`
	letter = `[\pL\pM\pN\x{FFFD}` // \x{FFFD} replaces bytes that are not UTF-8
)

// builtin are the patterns with a name. Besides letters and digits, the values
// of a pattern can contain the bytes in the field others.
var builtin = []struct {
	name, expr, others, need string
	least                    int
}{
	{"email", letter + `_]` + letter + `._+'-]*@(?:` + letter + `-]+\.)+\pL` + letter + `-]*`, "_.+'-@", "@", 1},
	{"ipv4", quad, ".", ".", 3},
	{"ipv6", `(?i)(?:^|[^\da-z])(\[` + ip6 + `\]|` + ip6 + `)(?:[^\da-z]|$)`, "[:.]%_~-", ":", 2},
	{"jwt", `(?i)eyJ[\w-]{8,}(?:\.[\w-]*){1,4}`, "_.-", ".", 1}, // a host is in lower case
}

// bytesWith returns the set of the bytes for which is returns true.
func bytesWith(is func(c byte) bool) *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = is(byte(c))
	}
	return &t
}

// Names returns the accepted values of Parse, except for regular expressions.
func Names() []string {
	list := []string{Passwords}
	for _, b := range builtin {
		list = append(list, b.name)
	}
	return append(list, None)
}

// Patterns is a set of patterns. It is safe for concurrent use.
type Patterns struct {
	named, own []pattern
	v4, v6     bool // addresses of hosts are among them
	again      bool // what is hidden can let another pattern match
}

// Parse returns the patterns with the given names; /REGEX/ is a regular
// expression instead of a name. It returns nil if no value names a pattern;
// then only passwords can be hidden. hides reports whether anything is to be
// hidden, passwords included.
func Parse(values []string) (p *Patterns, hides bool, err error) {
	all, size := &Patterns{}, 0
	if len(values) > maxPatterns {
		return nil, false, fmt.Errorf("%d values: at most %d are allowed", len(values), maxPatterns)
	}
	for _, v := range values {
		switch i := slices.Index(Names(), v) - 1; {
		case v == Passwords:
		case v == None:
			if len(values) > 1 {
				return nil, false, errors.New(None + " cannot be combined with other values")
			}
			return nil, false, nil
		case i >= 0:
			b := &builtin[i]
			re := regexp.MustCompile(b.expr)
			all.named = append(all.named, pattern{re, re.NumSubexp() > 0, bytesWith(func(c byte) bool {
				return c|0x20-'a' < 26 || c-'0' < 10 || c >= utf8.RuneSelf || strings.IndexByte(b.others, c) >= 0
			}), b.need, b.least})
			all.v4, all.v6 = all.v4 || v == "ipv4", all.v6 || v == "ipv6"
		case len(v) > 1 && v[0] == '/' && v[len(v)-1] == '/':
			re, err := regexp.Compile(v[1 : len(v)-1])
			switch size += len(v); {
			case err != nil:
				return nil, false, fmt.Errorf("invalid regular expression: %w", err)
			case re.MatchString(""):
				return nil, false, fmt.Errorf("%s matches the empty text", v)
			case size > maxSize || strings.ContainsRune(v, '{') && size > maxRepeated:
				return nil, false, fmt.Errorf("the regular expressions are too long: together at most %d bytes, or %d if one contains a repetition such as {3}", maxSize, maxRepeated)
			}
			all.own = append(all.own, pattern{re: re, within: bytesWith(func(c byte) bool { return strings.IndexByte(ends, c) < 0 })})
		default:
			_, err := suggest.Index("value", append(Names(), "/REGEX/"), v)
			if now := map[string]string{"true": Passwords, "yes": Passwords, "false": None, "no": None}[v]; now != "" {
				err = fmt.Errorf("%q is now %q", v, now)
			}
			return nil, false, err
		}
	}
	for _, p := range slices.Concat(all.named, all.own) {
		p.re.Longest()
	}
	all.again = len(all.own) > 0 || all.v6
	if len(all.named)+len(all.own) == 0 {
		all = nil
	}
	return all, len(values) > 0, nil
}

// OrPasswords returns values, or passwords if they hide nothing.
func OrPasswords(values []string) []string {
	if len(values) == 0 || values[0] == None {
		return []string{Passwords}
	}
	return values
}

// HidesHosts reports whether p, which may be nil, hides addresses of hosts.
func (p *Patterns) HidesHosts() bool { return p != nil && (p.v4 || p.v6) }

// HidesHost reports whether p hides host, a host in the serialized form of the URL
// Standard. A URL can contain the same host in a form that no pattern matches, as in
// http://0x7f.1/.
func (p *Patterns) HidesHost(host []byte) bool {
	if bytes.HasPrefix(host, []byte("[")) {
		return p.v6
	}
	return p.v4 && len(host) > 0 && len(bytes.Trim(host, "0123456789.")) == 0
}

// A Masker hides values by patterns. It is not safe for concurrent use.
type Masker struct {
	*Patterns
	plain, spaced []byte // the text without escapes; spaced has '+' as a space
	found, marks  []bool // for each byte of plain, and of the text, whether it belongs to a value
	texts         [2][]byte
}

// NewMasker returns a Masker of p, which may be nil.
func (p *Patterns) NewMasker() *Masker {
	if p == nil {
		return nil
	}
	return &Masker{Patterns: p}
}

// maxRounds bounds how often text is searched again after values in it were
// hidden, because a regular expression such as \bx may match only then.
const maxRounds = 8

// Append appends text with its values replaced by stars. form says that
// spaces in text were '+' before. If text is the result of an earlier call,
// Append leaves it unchanged. m may be nil.
func (m *Masker) Append(dst, text []byte, form bool) []byte {
	if m == nil {
		return append(dst, text...)
	}
	for round := range maxRounds {
		marks := m.Mark(text, form)
		switch {
		case marks == nil:
			return append(dst, text...)
		case !m.again:
			return AppendMarked(dst, text, marks)
		}
		next := &m.texts[round%2]
		*next = AppendMarked((*next)[:0], text, marks)
		text = *next
	}
	return append(dst, Stars...)
}

// AppendMarked appends text with each run of bytes for which marks is set replaced
// by stars.
func AppendMarked(dst, text []byte, marks []bool) []byte {
	for i := 0; i < len(text); {
		if !marks[i] {
			dst = append(dst, text[i])
			i++
			continue
		}
		dst = append(dst, Stars...)
		for i < len(text) && marks[i] {
			i++
		}
	}
	return dst
}

// Mark returns which bytes of text belong to values, or nil if none do. The result is
// valid until the next call. The patterns apply to the text without its escapes: see
// [Character]. form is as for Append.
func (m *Masker) Mark(text []byte, form bool) []bool {
	m.plain = m.plain[:0]
	if !bytes.ContainsAny(text, `%\&`) {
		m.plain = append(m.plain, text...)
	} else {
		for i, n := 0, 0; i < len(text); i += n {
			m.plain, n = appendCharacter(m.plain, text[i:])
		}
	}
	if form {
		replace(m.plain, ' ', '+')
	}
	m.found = grown(m.found, len(m.plain))
	hit := m.search(m.named, m.plain)
	hit = m.search(m.own, m.plain) || hit
	if len(m.own) > 0 && bytes.IndexByte(m.plain, '+') >= 0 {
		m.spaced = append(m.spaced[:0], m.plain...)
		replace(m.spaced, '+', ' ')
		hit = m.search(m.own, m.spaced) || hit
	}
	if !hit {
		return nil
	}
	m.marks = grown(m.marks, len(text))
	m.plain = m.plain[:0]
	for i, n := 0, 0; i < len(text); i += n {
		at := len(m.plain)
		m.plain, n = appendCharacter(m.plain, text[i:])
		if slices.Contains(m.found[at:len(m.plain)], true) {
			for k := range n {
				m.marks[i+k] = true
			}
		}
	}
	return m.marks
}

// grown returns a slice of n times false, in the memory of s if it suffices.
func grown(s []bool, n int) []bool {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

func replace(text []byte, old, now byte) {
	for i, c := range text {
		if c == old {
			text[i] = now
		}
	}
}

// ends are the bytes that no value contains. The quote and the control characters
// separate fields of records in which a value could swallow the next field, and the
// star is what has been hidden already.
const ends = "*\"\t\n\r"

// search sets found for the values of patterns in plain. It reports whether there is
// one.
func (m *Masker) search(list []pattern, plain []byte) (hit bool) {
	for i := range list {
		p := &list[i]
		for start := 0; start < len(plain); start++ {
			end := start
			for end < len(plain) && p.within[plain[end]] {
				end++
			}
			if end > start && bytes.Count(plain[start:end], []byte(p.need)) >= p.least {
				hit = p.mark(m.found[start:end], plain[start:end]) || hit
			}
			start = end
		}
	}
	return hit
}

// mark sets found for the values in text. It reports whether there is one.
func (p *pattern) mark(found []bool, text []byte) (hit bool) {
	set := func(from, to int) {
		for i := from; i < to; i++ {
			found[i], hit = true, true
		}
	}
	if !p.inner {
		for _, at := range p.re.FindAllIndex(text, -1) {
			set(at[0], at[1])
		}
		return hit
	}
	for from := 0; ; { // the text after a value can also be the text before the next value
		at := p.re.FindSubmatchIndex(text[from:])
		if at == nil {
			return hit
		}
		set(from+at[2], from+at[3])
		from += at[3]
	}
}

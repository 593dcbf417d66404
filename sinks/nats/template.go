package nats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/codec"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/record"
)

// A template produces the subject of a record from text and variables in
// braces.
type template struct {
	parts []part
	cache sync.Map // from a subject as a string to the same string as any
	size  sync.Mutex
	left  int // remaining capacity of the cache
}

// maxCached is the maximum number of subjects in the cache of a template.
// Further subjects are allocated each time.
const maxCached = 1 << 16

type partKind uint8

const (
	text partKind = iota
	hostKey
	urlKey
	subject
)

type part struct {
	kind partKind
	text string
	mod  uint64 // number of shards; 0: the whole number
}

var errTemplate = errors.New("invalid variable in the subject: must be {host_key%64}, {key%64}, {key} or {subject}")

// parseTemplate parses a template.
func parseTemplate(s string) (*template, error) {
	t := &template{left: maxCached}
	for rest := s; rest != ""; {
		lit, more, found := strings.Cut(rest, "{")
		if lit != "" {
			t.parts = append(t.parts, part{text: lit})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(more, "}")
		p, err := parsePart(name)
		if !closed {
			return nil, errTemplate
		}
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, p)
		rest = after
	}
	if !client.IsSubject(string(t.append(nil, &record.Fact{}, "a"))) {
		return nil, errors.New("invalid subject: must consist of non-empty tokens separated by dots, without wildcards or spaces")
	}
	return t, nil
}

// parsePart parses the text between braces.
func parsePart(name string) (part, error) {
	name, mod, sharded := strings.Cut(name, "%")
	kinds := map[string]partKind{"host_key": hostKey, "key": urlKey, "subject": subject}
	kind, ok := kinds[name]
	if !ok || sharded && kind == subject {
		return part{}, errTemplate
	}
	p := part{kind: kind}
	if sharded {
		n, err := strconv.ParseUint(mod, 10, 32)
		if err != nil || n == 0 {
			return part{}, errors.New("the number of shards must be between 1 and 4294967295")
		}
		p.mod = n
	}
	return p, nil
}

// append appends the subject of a record with the facts f. in is the subject of
// the message that contained the record.
func (t *template) append(dst []byte, f *record.Fact, in string) []byte {
	for i := range t.parts {
		switch p := &t.parts[i]; {
		case p.kind == text:
			dst = append(dst, p.text...)
		case p.kind == subject:
			dst = append(dst, in...)
		case p.kind == hostKey && p.mod == 0:
			dst = fmt.Appendf(dst, "%016x", f.Host)
		case p.kind == hostKey:
			dst = strconv.AppendUint(dst, f.Host%p.mod, 10)
		case p.mod == 0:
			dst = f.Key.AppendTo(dst)
		default:
			_, low := f.Key.Uint64s()
			dst = strconv.AppendUint(dst, low%p.mod, 10)
		}
	}
	return dst
}

// make returns the subject of a record. It is empty if the template contains
// the subject of the input and this subject is missing, invalid, or reserved
// for the server.
func (t *template) make(f *record.Fact, in string) string {
	if t.takes(subject) && (strings.HasPrefix(in, "$") || !client.IsSubject(in)) {
		return ""
	}
	if len(t.parts) == 1 && t.parts[0].kind == text {
		return t.parts[0].text
	}
	var b [128]byte
	made := t.append(b[:0], f, in)
	if s, ok := t.cache.Load(string(made)); ok {
		return s.(string)
	}
	s := string(made)
	t.size.Lock()
	defer t.size.Unlock()
	if t.left > 0 {
		t.left--
		t.cache.Store(s, s)
	}
	return s
}

// takes reports whether the template contains a part of this kind.
func (t *template) takes(k partKind) bool {
	for _, p := range t.parts {
		if p.kind == k {
			return true
		}
	}
	return false
}

// holdsKey reports whether records with different keys have different subjects.
func (t *template) holdsKey() bool { return slices.Contains(t.parts, part{kind: urlKey}) }

// facts reports whether the template requires facts.
func (t *template) facts() bool { return t.takes(hostKey) || t.takes(urlKey) }

// filter returns a subject filter that matches all subjects of t, with "*" for
// the tokens that vary. It is empty if t contains the subject of the input,
// which may have any number of tokens.
func (t *template) filter() string {
	if t.takes(subject) {
		return ""
	}
	var made strings.Builder
	for _, p := range t.parts {
		if p.kind == text {
			made.WriteString(p.text)
		} else {
			made.WriteString("*")
		}
	}
	tokens := strings.Split(made.String(), ".")
	for i, tok := range tokens {
		if strings.Contains(tok, "*") {
			tokens[i] = "*"
		}
	}
	return strings.Join(tokens, ".")
}

// shards calls f with each subject that t can produce, until f returns false.
// It reports false, without calling f, if the subjects cannot be enumerated:
// there must be at most one variable, with at most limit shards.
func (t *template) shards(limit uint64, f func(subject string) bool) bool {
	mod := uint64(1)
	for _, p := range t.parts {
		switch {
		case p.kind == text:
		case p.kind == subject, p.mod == 0, mod > 1, p.mod > limit:
			return false
		default:
			mod = p.mod
		}
	}
	for i := range mod {
		var fact record.Fact
		fact.Host, fact.Key = i, codec.KeyFromUint64s(0, i)
		if !f(string(t.append(nil, &fact, ""))) {
			break
		}
	}
	return true
}

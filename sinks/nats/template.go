package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/codec/record"
	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A template makes the subject of a record: text and parts in braces.
type template struct {
	parts []part
	cache sync.Map // from what it has made, as a string, to that string as any
	size  sync.Mutex
	left  int // how many more the cache may hold
}

// maxCached bounds the subjects that a template remembers, so that it makes each of
// them once. More than these are made anew each time.
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
	mod  uint64 // shards; 0: the whole number
}

var errTemplate = errors.New("the parts of a subject are {host_key%64}, {key%64}, {key} and {subject}")

// parseTemplate reads a template.
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
		return nil, errors.New("is no subject: tokens between dots, none empty, without wildcards and spaces")
	}
	return t, nil
}

// parsePart reads what stands between braces.
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
			return part{}, errors.New("the number of shards is between 1 and 4294967295")
		}
		p.mod = n
	}
	return p, nil
}

// append appends the subject of a record with that fact, which came in a message
// with the subject in.
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
			dst = strconv.AppendUint(dst, f.Key.Lo%p.mod, 10)
		}
	}
	return dst
}

// make returns the subject of a record. It is empty if the template asks for the
// subject of the input and that is none, or one of the server's own.
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

// takes reports whether there is a part of that kind.
func (t *template) takes(k partKind) bool {
	for _, p := range t.parts {
		if p.kind == k {
			return true
		}
	}
	return false
}

// perRecord reports whether two records may have two subjects.
func (t *template) perRecord() bool { return t.takes(hostKey) || t.takes(urlKey) || t.takes(subject) }

// facts reports whether it needs facts.
func (t *template) facts() bool { return t.takes(hostKey) || t.takes(urlKey) }

// filter returns a filter that matches all subjects that t can make, with "*" for
// the tokens that differ; empty if the subject of the input is in it, which may be
// of any number of tokens.
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

// shards calls f with each subject that t can make, until it returns false, if they
// are known: one sharded part at most, of at most limit shards. It reports whether.
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
		fact.Host, fact.Key.Lo = i, i
		if !f(string(t.append(nil, &fact, ""))) {
			break
		}
	}
	return true
}

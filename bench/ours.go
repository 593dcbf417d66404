package bench

import (
	"github.com/urlfold/urlfold/codec"
)

// ours returns the rows of urlfold: parsing alone; the normal forms of RFC 3986
// §6.2.2, and of §6.2.3 with the hash of key K1; the form of the URL Standard;
// the default profile with K1; and the lossy keys. All of them report flags and
// diagnostics.
func ours() []Peer {
	return []Peer{
		overBytes("urlfold Parse", parse),
		overBytes("urlfold rfc3986", normalize("rfc3986", noKey)),
		overBytes("urlfold rfc3986-scheme+K1", normalize("rfc3986-scheme", codec.LevelEquivalent)),
		overBytes("urlfold whatwg", normalize("whatwg", noKey)),
		overBytes("urlfold equiv+K1", normalize("equiv", codec.LevelEquivalent)),
		overBytes("urlfold crawler+K2", normalize("crawler", codec.LevelFetch)),
		overBytes("urlfold analytics+K3", normalize("analytics", codec.LevelPage)),
	}
}

// A job appends its result for src to dst and returns the extended slice.
type job func(dst, src []byte, r *codec.Result) ([]byte, error)

// overBytes makes a Peer from a job. Like a worker, it reuses one Result and
// one output slice.
func overBytes(name string, do job) Peer {
	one := func(src string) (string, error) {
		out, err := do(nil, []byte(src), new(codec.Result))
		return string(out), err
	}
	var (
		r   codec.Result
		out []byte
	)
	return Peer{Name: name, One: one, Run: func(s *Set) (length, refused int) {
		for _, src := range s.URLs {
			var err error
			out, err = do(out[:0], src, &r)
			if err != nil {
				refused++
			}
			length += len(out)
		}
		return length, refused
	}}
}

// parse appends the path, like the row of net/url does.
func parse(dst, src []byte, r *codec.Result) ([]byte, error) {
	if err := codec.Parse(src, r); err != nil {
		return dst, err
	}
	return append(dst, r.In.Bytes(src, codec.Path)...), nil
}

// noKey means that no key is computed.
const noKey = codec.LevelPage + 1

func normalize(profile string, lv codec.Level) job {
	p, err := codec.Lookup(profile)
	if err != nil {
		panic("bench: no profile " + profile)
	}
	n, err := codec.New(p)
	if err != nil {
		panic(err) // built-in profiles always compile
	}
	if lv == noKey {
		return n.Append
	}
	return func(dst, src []byte, r *codec.Result) ([]byte, error) {
		out, err := n.Append(dst, src, r)
		if err != nil {
			return dst, err
		}
		if r.Key(lv).IsZero() {
			panic("bench: the key of a URL is zero")
		}
		return out, nil
	}
}

package recordconf

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/record"
)

func profile(t *testing.T, name string) codec.Profile {
	t.Helper()
	p, err := codec.Lookup(name)
	if err != nil {
		t.Fatalf("no profile %s", name)
	}
	return p
}

// TestNormalizer checks that each setting reaches the codec.
func TestNormalizer(t *testing.T) {
	const key = "0123456789abcdef"
	keyOf := func(c config.Codec, url string) codec.Key {
		t.Helper()
		var secret []byte
		if text := c.HMACKey.Reveal(); text != "" {
			secret = []byte(text)
		}
		n, err := NewNormalizer(&c, profile(t, "equiv"), codec.DefaultPolicy(), secret)
		if err != nil {
			t.Fatal(err)
		}
		var r codec.Result
		if _, err := n.Append(nil, []byte(url), &r); err != nil {
			t.Fatal(err)
		}
		return r.Key(codec.LevelEquivalent)
	}
	const url = "http://h/?\u00e9#\u00e9"
	seen := map[codec.Key]string{}
	for name, s := range map[string]config.Codec{
		"default": {}, "sha256": {Hash: "sha256-128"}, "hmac": {Hash: "hmac-sha256", HMACKey: key},
		"other key": {Hash: "hmac-sha256", HMACKey: key + "!"}, "standard": {Standard: "rfc3986"}, "encoding": {QueryEncoding: "latin1"},
	} {
		k := keyOf(s, url)
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	if keyOf(config.Codec{}, url) != keyOf(config.Codec{Hash: "xxh3-128", Standard: "whatwg", QueryEncoding: "utf-8"}, url) {
		t.Error("the defaults are others")
	}
}

// TestNormalizerMistakes checks that all mistakes are reported, each with its field.
func TestNormalizerMistakes(t *testing.T) {
	f := func(p codec.Profile, c config.Codec, key []byte, want ...string) {
		t.Helper()
		n, err := NewNormalizer(&c, p, nil, key)
		var got []string
		for _, err := range errlist.Flatten(err) {
			e, ok := errors.AsType[*record.ConfigError](err)
			if !ok {
				t.Fatalf("%v is no ConfigError", err)
			}
			got = append(got, e.Field+": "+err.Error())
		}
		if n != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	equiv, rfc := profile(t, "equiv"), profile(t, "rfc3986")
	const secret = "hunter2"
	f(equiv, config.Codec{Standard: "whatwgg", Hash: "xxh4-128", QueryEncoding: "shiftjs"}, []byte(secret),
		`Standard: unknown standard "whatwgg" (did you mean "whatwg"?)`, `Hash: unknown hash "xxh4-128" (did you mean "xxh3-128"?)`,
		`QueryEncoding: unknown encoding "shiftjs" (did you mean "shift_jis"?)`)
	f(equiv, config.Codec{}, []byte(secret), "HMACKey: requires hash hmac-sha256, but the hash is xxh3-128")
	f(equiv, config.Codec{}, []byte{}, "HMACKey: requires hash hmac-sha256, but the hash is xxh3-128")
	f(equiv, config.Codec{Hash: "hmac-sha256"}, nil, "HMACKey: hmac-sha256 requires a key of at least 16 bytes, got 0")
	f(equiv, config.Codec{Hash: "hmac-sha256"}, []byte(secret), "HMACKey: hmac-sha256 requires a key of at least 16 bytes, got 7")
	f(rfc, config.Codec{QueryEncoding: "gbk"}, nil,
		"QueryEncoding: profile rfc3986 uses RFC 3986, which supports only UTF-8; choose a profile with standard whatwg")
	f(equiv, config.Codec{}, nil, "Profile: codec: the policy is nil")
	f(codec.Profile{}, config.Codec{Hash: "md5", QueryEncoding: "gbk"}, nil, `Hash: unknown hash "md5" (must be one of: xxh3-128, sha256-128, hmac-sha256)`)
	f(codec.Profile{}, config.Codec{QueryEncoding: "gbk"}, nil)
}

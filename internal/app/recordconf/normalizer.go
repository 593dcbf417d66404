package recordconf

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/charset"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// NewNormalizer returns the normalizer that c configures, with a profile and
// its policy. hmacKey is nil if none is given. If p.Name is empty, because the
// profile is invalid, NewNormalizer only validates the other settings and
// returns nil. The error joins a [record.ConfigError] for each invalid setting.
// The Field of such an error is the name of a field of c; Profile means the
// profile and its policy. No error repeats the HMAC key.
func NewNormalizer(c *config.Codec, p codec.Profile, policy *codec.Policy, hmacKey []byte) (*codec.Normalizer, error) {
	std, hash := p.Standard, codec.XXH3
	hashErr := set(&hash, "Hash", named[codec.Hash]("hash", Hashes()), c.Hash)
	encoding, encodingErr := encodingOf(c.QueryEncoding, p)
	err := errors.Join(
		set(&std, "Standard", standard, c.Standard),
		hashErr,
		mistake("QueryEncoding", encodingErr),
	)
	option := codec.WithHash(hash)
	if hashErr == nil {
		err = errors.Join(err, mistake("HMACKey", checkKey(hash, hmacKey)))
		if hash == codec.HMACSHA256 {
			option = codec.WithHMACKey(hmacKey)
		}
	}
	if err != nil || p.Name == "" {
		return nil, err
	}
	n, err := codec.New(p, option, codec.WithStandard(std), codec.WithPolicy(policy), codec.WithQueryEncoding(encoding))
	return n, mistake("Profile", err)
}

// checkKey checks that an HMAC key is given if and only if the hash requires
// one.
func checkKey(hash codec.Hash, key []byte) error {
	switch {
	case hash != codec.HMACSHA256 && key != nil:
		return fmt.Errorf("requires hash %v, but the hash is %v", codec.HMACSHA256, hash)
	case hash == codec.HMACSHA256 && len(key) < codec.MinHMACKey:
		return fmt.Errorf("%v requires a key of at least %d bytes, got %d", hash, codec.MinHMACKey, len(key))
	}
	return nil
}

// encodingOf returns the encoding of queries with this label, or nil for UTF-8.
func encodingOf(label string, p codec.Profile) (codec.QueryEncoding, error) {
	if label == "" {
		return nil, nil
	}
	e, err := charset.Lookup(label)
	switch {
	case err != nil:
		_, err = suggest.Index("encoding", charset.Names(), label)
		return nil, err
	case e == nil:
		return nil, nil
	case p.Name != "" && p.Standard != codec.WHATWG:
		return nil, fmt.Errorf("profile %s uses RFC 3986, which supports only UTF-8; choose a profile with standard whatwg", p.Name)
	}
	return e, nil
}

// mistake returns err as an error in a field, or nil if err is nil.
func mistake(field string, err error) error {
	if err == nil {
		return nil
	}
	return &record.ConfigError{Field: field, Err: err}
}

// Probe returns a substitute for a normalizer with invalid settings, so that
// all other settings can still be validated.
func Probe() *codec.Normalizer {
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		panic("BUG: " + err.Error()) // built-in profiles are valid
	}
	return n
}

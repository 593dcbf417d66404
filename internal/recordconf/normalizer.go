package recordconf

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/suggest"
)

// Normalizer holds the settings of a normalizer as users write them. An empty
// string means the default.
type Normalizer struct {
	Profile       codec.Profile
	Policy        *codec.Policy
	Standard      string // of keys
	Hash          string // of keys
	HMACKey       []byte // nil if not given
	QueryEncoding string // a label of the Encoding Standard
}

// New returns the normalizer. If the profile has no name, because it is
// invalid, New validates the other settings and returns a nil Normalizer. The
// error joins a [record.ConfigError] for each invalid setting. Its Field is the
// name of a field of s; Profile stands for the profile and its policy. No error
// repeats the HMAC key.
func (s *Normalizer) New() (*codec.Normalizer, error) {
	standard, hash := s.Profile.Standard, codec.XXH3
	hashErr := set(&hash, "Hash", named[codec.Hash]("hash", Hashes()), s.Hash)
	encoding, encodingErr := s.encoding()
	err := errors.Join(
		set(&standard, "Standard", named[codec.Standard]("standard", Standards()), s.Standard),
		hashErr,
		mistake("QueryEncoding", encodingErr),
	)
	option := codec.WithHash(hash)
	if hashErr == nil {
		err = errors.Join(err, mistake("HMACKey", s.checkKey(hash)))
		if hash == codec.HMACSHA256 {
			option = codec.WithHMACKey(s.HMACKey)
		}
	}
	if err != nil || s.Profile.Name == "" {
		return nil, err
	}
	n, err := codec.New(s.Profile, option, codec.WithStandard(standard), codec.WithPolicy(s.Policy), codec.WithQueryEncoding(encoding))
	return n, mistake("Profile", err)
}

// checkKey checks that an HMAC key is given if and only if the hash requires
// one.
func (s *Normalizer) checkKey(hash codec.Hash) error {
	switch {
	case hash != codec.HMACSHA256 && s.HMACKey != nil:
		return fmt.Errorf("requires hash %v, but the hash is %v", codec.HMACSHA256, hash)
	case hash == codec.HMACSHA256 && len(s.HMACKey) < codec.MinHMACKey:
		return fmt.Errorf("%v requires a key of at least %d bytes, got %d", hash, codec.MinHMACKey, len(s.HMACKey))
	}
	return nil
}

// encoding returns the encoding of queries, or nil for UTF-8.
func (s *Normalizer) encoding() (codec.QueryEncoding, error) {
	if s.QueryEncoding == "" {
		return nil, nil
	}
	e, err := charset.Lookup(s.QueryEncoding)
	switch {
	case err != nil:
		_, err = suggest.Index("encoding", charset.Names(), s.QueryEncoding)
		return nil, err
	case e == nil:
		return nil, nil
	case s.Profile.Name != "" && s.Profile.Standard != codec.WHATWG:
		return nil, fmt.Errorf("profile %s uses RFC 3986, which supports only UTF-8; choose a profile with standard whatwg", s.Profile.Name)
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

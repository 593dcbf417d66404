package recordconf

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/suggest"
)

// Normalizer are the settings of a normalizer as a user writes them, besides those
// of its profile. An empty text means the default.
type Normalizer struct {
	Profile       codec.Profile
	Policy        *codec.Policy
	Standard      string // of keys
	Hash          string // of keys
	HMACKey       []byte // nil: none was given
	QueryEncoding string // a label of the Encoding Standard
}

// New returns the normalizer. A profile without a name stands for one with
// mistakes: New checks the other settings, and returns nil. The error joins a [record.ConfigError] for each
// mistake in a setting, whose Field is that of s; Profile stands for the profile and
// its policy. No error repeats the key.
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

// checkKey checks that a key is given if the hash needs one, and only then.
func (s *Normalizer) checkKey(hash codec.Hash) error {
	switch {
	case hash != codec.HMACSHA256 && s.HMACKey != nil:
		return fmt.Errorf("a key goes with the hash %v only, and the hash is %v", codec.HMACSHA256, hash)
	case hash == codec.HMACSHA256 && len(s.HMACKey) < codec.MinHMACKey:
		return fmt.Errorf("%v needs a key of at least %d bytes", hash, codec.MinHMACKey)
	}
	return nil
}

// encoding returns the encoding of queries, nil for UTF-8.
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
		return nil, fmt.Errorf("profile %s uses RFC 3986, which knows no encoding but UTF-8; choose a profile with the standard whatwg", s.Profile.Name)
	}
	return e, nil
}

// mistake returns err as a mistake in a field, or nil.
func mistake(field string, err error) error {
	if err == nil {
		return nil
	}
	return &record.ConfigError{Field: field, Err: err}
}

// Probe returns a normalizer that stands for one whose settings have mistakes, so
// that the mistakes in all other settings are found.
func Probe() *codec.Normalizer {
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		panic("BUG: " + err.Error()) // a built-in profile has no mistakes
	}
	return n
}

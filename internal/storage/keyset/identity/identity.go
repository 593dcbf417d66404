// Package identity says what the keys of a kept set depend on, so that the command
// and package kept read each other's sets.
package identity

import (
	"encoding/hex"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset"
)

// The properties of a set.
const (
	By          = "by" // what is compared: the name of a level, or a field
	KeyOf       = "key of"
	Profile     = "profile"
	KeyFunction = "key function"
	Hash        = "hash"
	Secret      = "hmac key"
	Lists       = "lists"
	Suffixes    = "public suffix list"
	Unicode     = "unicode"
)

// Names returns the properties in the order in which they are shown.
func Names() []string {
	return []string{By, KeyOf, Profile, KeyFunction, Hash, Secret, Lists, Suffixes, Unicode}
}

// AllURLs is the value of KeyOf for sets with the keys of all URLs of a record.
const AllURLs = "all"

// Of returns the identity of a set whose keys are the values of an output field.
// by is the name of the field. For the keys of a level, use OfKeys.
func Of(n *codec.Normalizer, by, keyOf string) keyset.Identity {
	return keyset.Identity{By: by, KeyOf: keyOf, Profile: n.Profile().Name, Unicode: codec.UnicodeVersion}
}

// OfKeys returns everything that n's keys of a level depend on.
func OfKeys(n *codec.Normalizer, lv codec.Level, keyOf string) (keyset.Identity, error) {
	if lv == codec.LevelDefault {
		lv = n.Profile().Key
	}
	id := Of(n, lv.String(), keyOf)
	id[KeyFunction], id[Hash] = n.KeyFunction(lv), n.Hash().String()
	if lists := n.PolicyVersions(lv); lists != "" {
		id[Lists] = lists
	}
	if n.Hash() == codec.HMACSHA256 {
		check, err := secretCheck(n)
		if err != nil {
			return nil, err
		}
		id[Secret] = check
	}
	return id, nil
}

// secretCheck returns a text that differs for different secrets of hmac-sha256:
// the first digits of the key of a fixed URL, encoded in hex.
func secretCheck(n *codec.Normalizer) (string, error) {
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://check.invalid/"), &r); err != nil {
		return "", err
	}
	return hex.EncodeToString(r.Key(codec.LevelSyntax).AppendTo(nil)[:8]), nil
}

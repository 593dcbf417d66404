package file

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// MaxShards is the maximum number of shards.
const MaxShards = 1 << 20

// A Share is the part of the inputs that one of several processes reads. Its text
// is INDEX/COUNT, such as 0/7. The zero Share is all inputs.
type Share struct {
	Index, Of int
}

// Owns reports whether the input with the relative path rel, with slashes,
// belongs to the share.
func (s Share) Owns(rel string) bool {
	return s.Of == 0 || xxh3.HashString(rel)%uint64(s.Of) == uint64(s.Index)
}

// String returns the text of s, or an empty text for the zero Share.
func (s Share) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// MarshalText returns what String returns.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads INDEX/COUNT.
func (s *Share) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*s = Share{}
		return nil
	}
	index, of, ok := strings.Cut(string(text), "/")
	if !ok {
		return errors.New("must be INDEX/COUNT, such as 0/7 for the first of seven shards")
	}
	if s.Of, err = strconv.Atoi(of); err != nil || s.Of < 1 || s.Of > MaxShards {
		return fmt.Errorf("the number of shards must be from 1 to %d", MaxShards)
	}
	if s.Index, err = strconv.Atoi(index); err != nil || s.Index < 0 || s.Index >= s.Of {
		return fmt.Errorf("the index must be from 0 to %d, because the first of %d shards is 0", s.Of-1, s.Of)
	}
	return nil
}

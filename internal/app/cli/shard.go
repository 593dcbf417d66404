package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// This file implements --shard: the share of one of several processes.

// byPath is the value of --shard-by that assigns whole inputs.
const byPath = "path"

// shardByNames are the values of --shard-by.
var shardByNames = append([]string{byPath}, record.IdentityNames()...)

// maxShards is the maximum number of shards.
const maxShards = 1 << 20

// A share is the value of --shard: shard index of several. The zero share is all
// of the input.
type share struct {
	index, of int
	by        string // one of shardByNames
}

// String returns the share as --shard has it: "2/7".
func (s share) String() string { return fmt.Sprintf("%d/%d", s.index, s.of) }

// owns reports whether the input with the relative path rel, with slashes,
// belongs to the share.
func (s share) owns(rel string) bool { return xxh3.HashString(rel)%uint64(s.of) == uint64(s.index) }

// parseShare parses the value of --shard.
func parseShare(text string) (s share, err error) {
	index, of, ok := strings.Cut(text, "/")
	if !ok {
		return s, errors.New("want INDEX/COUNT, such as 0/7 for the first of seven shards")
	}
	if s.of, err = strconv.Atoi(of); err != nil || s.of < 1 || s.of > maxShards {
		return s, fmt.Errorf("the number of shards must be from 1 to %d", maxShards)
	}
	if s.index, err = strconv.Atoi(index); err != nil || s.index < 0 || s.index >= s.of {
		return s, fmt.Errorf("the index must be from 0 to %d, because there are %d shards and the first one is 0", s.of-1, s.of)
	}
	return s, nil
}

// resolveShard sets the share. It needs the results of resolveUnique.
func (s *settings) resolveShard(bad *command.Mistakes) {
	if s.Share == "" {
		return
	}
	var err error
	s.share, err = parseShare(s.Share)
	bad.Add("--shard", err)
	usual := byPath
	if s.Unique != "" {
		usual = s.By
	}
	s.share.by = record.FieldName(cmp.Or(s.ShardBy, usual))
	if _, err := suggest.Index("field", shardByNames, s.share.by); err != nil {
		bad.Add("--shard-by", err)
		return
	}
	bad.Add("--shard-by", s.checkShare())
	if s.share.by != byPath && err == nil {
		s.record.Shard = record.Shard{Index: s.share.index, Of: s.share.of, By: s.share.by}
	}
}

// checkShare returns an error if the share cannot be combined with the other
// flags.
func (s *settings) checkShare() error {
	switch {
	case s.Unique != "" && s.share.by != s.By:
		return fmt.Errorf("with --dedupe, must be %s, the field that --dedupe compares: otherwise records with the same %s would be in different shards", s.By, s.By)
	case s.share.by == byPath && (len(s.paths) == 0 || slices.Contains(s.paths, stdinPath)):
		return errors.New("stdin has no path: name the input files, or use --shard-by key")
	}
	return nil
}

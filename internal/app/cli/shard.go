package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/sources/file"
)

// This file implements --shard: the share of one of several processes.

// byPath is the value of --shard-by that assigns whole inputs.
const byPath = "path"

// shardByNames are the values of --shard-by.
var shardByNames = append([]string{byPath}, record.IdentityNames()...)

// A share is the value of --shard: the index of a shard and the number of
// shards. The zero share is all of the input.
type share struct {
	index, of int
	by        string // one of shardByNames
}

// String returns the share as --shard has it: "2/7".
func (s share) String() string { return s.inputs().String() }

// owns reports whether the input with the relative path rel, with slashes,
// belongs to the share.
func (s share) owns(rel string) bool { return s.inputs().Owns(rel) }

// inputs returns the share of whole inputs.
func (s share) inputs() file.Share { return file.Share{Index: s.index, Of: s.of} }

// parseShare parses the value of --shard.
func parseShare(text string) (share, error) {
	var s file.Share
	err := s.UnmarshalText([]byte(text))
	return share{index: s.Index, of: s.Of}, err
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
	var wrong error
	if s.share.by, wrong = record.IdentityName(cmp.Or(s.ShardBy, usual), byPath); wrong != nil {
		bad.Add("--shard-by", wrong)
		return
	}
	bad.Add("--shard-by", s.checkShare())
	if s.share.by != byPath && err == nil {
		s.record.Shard = record.Shard{Index: s.share.index, Of: s.share.of, By: s.share.by}
	}
}

// checkShare returns an error if the share cannot be combined with the other
// options.
func (s *settings) checkShare() error {
	switch {
	case s.Unique != "" && s.share.by != s.By:
		return fmt.Errorf("with --dedupe, must be %s, the field that --dedupe compares: otherwise records with the same %s would be in different shards", s.By, s.By)
	case s.share.by == byPath && (len(s.paths) == 0 || slices.Contains(s.paths, stdinPath)):
		return errors.New("stdin has no path: name the input files, or use --shard-by key")
	}
	return nil
}

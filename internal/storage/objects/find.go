package objects

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Found is an object that a path names.
type Found struct {
	Object
	Rel string // path relative to the folder, or to the fixed part of the glob; it does not lead out of a folder
}

// Find calls visit for the objects that name, a path, selects, in the order of
// their keys: the object with this key, all objects in the folder, or the
// objects that match the glob. It leaves out the empty objects that stand for
// folders and, if order is not nil, the objects that order skips. named reports
// whether name is the path of one object.
func (s *Store) Find(ctx context.Context, name string, order *Order, visit func(Found)) (named bool, err error) {
	bucket, key := Split(name)
	if bucket == "" {
		return false, errors.New("missing bucket: want s3://BUCKET/KEY")
	}
	if key != "" && !strings.HasSuffix(key, "/") {
		o, err := s.Head(ctx, name)
		if err == nil {
			visit(Found{o, Local(path.Base(key))})
			return true, nil
		}
		if KindOf(err) != NotFound {
			return false, err
		}
	}
	folder, glob := key, ""
	if strings.ContainsAny(key, `*?[{`) {
		if !doublestar.ValidatePattern(key) {
			return false, errors.New("invalid glob")
		}
		folder, glob = doublestar.SplitPattern(key)
		folder = strings.TrimPrefix(folder, ".")
	}
	if folder != "" && !strings.HasSuffix(folder, "/") {
		folder += "/"
	}
	prefix := folder + fixed(glob)
	return false, s.List(ctx, bucket, prefix, order, func(o Object) {
		rel := strings.TrimPrefix(o.Key, folder)
		switch {
		case o.StandsForFolder():
		case glob != "" && !doublestar.MatchUnvalidated(glob, rel):
		default:
			visit(Found{o, Local(rel)})
		}
	})
}

// fixed returns the part of a glob before its first special character: a prefix
// that the store can list.
func fixed(glob string) string {
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		return glob[:i]
	}
	return glob
}

// Local returns rel as a path that does not lead out of its folder: keys may
// contain "..", and begin with a slash.
func Local(rel string) string {
	if clean := strings.TrimPrefix(path.Clean("/"+rel), "/"); clean != rel {
		return clean
	}
	return rel // no allocation
}

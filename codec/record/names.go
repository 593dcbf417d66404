package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// parse returns the index of name in names. The error is a *codec.NameError.
func parse(what string, names []string, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, &codec.NameError{What: what, Name: name, Near: suggest.Nearest(names, name)}
}

// nameOf returns the name of v.
func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

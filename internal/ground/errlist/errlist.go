// Package errlist splits joined errors, so that each one can be given a place,
// sorted and printed on its own line.
package errlist

import (
	"errors"
	"io"
	"reflect"
)

// Flatten returns the errors that err joins (see [errors.Join]), recursively
// and in order. It returns err itself if it joins none, and nil if err is nil.
// An error of fmt.Errorf with several %w counts as one, because its text says
// more than theirs.
func Flatten(err error) []error { return appendAll(nil, err) }

var joinType = reflect.TypeOf(errors.Join(io.EOF))

func appendAll(list []error, err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case ok && reflect.TypeOf(err) == joinType:
		for _, err := range joined.Unwrap() {
			list = appendAll(list, err)
		}
	case err != nil:
		list = append(list, err)
	}
	return list
}

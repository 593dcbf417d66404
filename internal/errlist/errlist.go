// Package errlist splits joined errors, so that each one can be given a place,
// sorted and printed on its own line.
package errlist

// Flatten returns the errors that err joins (see [errors.Join]), recursively
// and in order. It returns err itself if it joins none, and nil if err is nil.
func Flatten(err error) []error { return appendAll(nil, err) }

func appendAll(list []error, err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case ok:
		for _, err := range joined.Unwrap() {
			list = appendAll(list, err)
		}
	case err != nil:
		list = append(list, err)
	}
	return list
}

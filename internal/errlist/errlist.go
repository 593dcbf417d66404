// Package errlist takes joined errors apart, so that each mistake can be placed,
// sorted and written on a line of its own.
package errlist

// Flatten returns the errors that errors.Join made err of, and those that these
// were made of, in their order. It returns err itself if it joins none, and nothing
// for nil.
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

package codec

import "strconv"

// A NameError says that nothing of a kind has a name.
type NameError struct {
	What string // the kind: "rule", "level"
	Name string
}

// Error returns the kind and the name: `unknown rule "esc-uper"`.
func (e *NameError) Error() string { return "unknown " + e.What + " " + strconv.Quote(e.Name) }

// parseName returns the value whose name is at its place in names.
func parseName[T ~uint8](what, name string, names []string) (T, error) {
	for i, n := range names {
		if n == name && name != "" {
			return T(i), nil
		}
	}
	return 0, &NameError{what, name}
}

// nameOf returns the name of v, or "unknown".
func nameOf[T ~uint8](v T, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

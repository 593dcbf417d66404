package explain

import "github.com/urlfold/urlfold/codec"

// A difference is a component in which two URLs differ.
type difference struct {
	component     string
	before, after string // absent, empty, or the text
}

// Placeholders for components without text.
const (
	absent = "(none)"
	empty  = "(empty)"
)

// differences returns the components in which two URLs differ, in the order of
// a URL.
func differences(a, b string) []difference {
	var ra, rb codec.Result
	_ = codec.Parse([]byte(a), &ra) // Parse sets the components even if it returns an error
	_ = codec.Parse([]byte(b), &rb)
	var out []difference
	for c := codec.Scheme; c <= codec.Fragment; c++ {
		ta, tb := componentText(a, &ra.In, c), componentText(b, &rb.In, c)
		if ta != tb {
			out = append(out, difference{c.String(), ta, tb})
		}
	}
	return out
}

// stepDifference returns the change of a step.
func stepDifference(st *codec.Step) difference {
	text := func(s string, none bool) string {
		switch {
		case none:
			return absent
		case s == "":
			return empty
		}
		return s
	}
	return difference{st.Component.String(), text(st.Before, st.Added), text(st.After, st.Removed)}
}

// componentText returns the text of a component, or a placeholder.
func componentText(url string, u *codec.URL, c codec.Component) string {
	s := u.Span(c)
	switch {
	case !u.Has(c):
		return absent
	case s.Len() == 0:
		return empty
	}
	return url[s.Start:s.End]
}

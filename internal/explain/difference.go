package explain

import "github.com/urlfold/urlfold/codec"

// A difference is a component that two URLs do not share.
type difference struct {
	component     string
	before, after string // absent, empty, or the text
}

// How a component is shown that has no text.
const (
	absent = "(none)"
	empty  = "(empty)"
)

// differences returns the components in which two URLs differ, in their order.
func differences(a, b string) []difference {
	var ra, rb codec.Result
	_ = codec.Parse([]byte(a), &ra) // the components are there even with an error
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

// stepDifference returns what a step has changed.
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

// componentText returns a component for people.
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

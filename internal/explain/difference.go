package main

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

// differences returns the components in which two URLs differ, fit to be shown.
func (x *explainer) differences(a, b string) []difference {
	return x.hideDifferences(differences(a, b))
}

// hideDifferences hides passwords that are to be hidden; that they differ is
// told.
func (x *explainer) hideDifferences(diff []difference) []difference {
	for i := range diff {
		d := &diff[i]
		d.before, d.after = x.hideSecrets(d.before), x.hideSecrets(d.after)
		if x.redact && d.component == codec.Password.String() {
			d.before, d.after = hideText(d.before), hideText(d.after)
		}
	}
	return diff
}

// hideText hides a component that is there.
func hideText(text string) string {
	if text == absent || text == empty {
		return text
	}
	return "***"
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

package explain

import (
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// A redactor hides passwords, if that is asked for, wherever they appear: a
// password to one standard may be a part of the path to the other.
type redactor struct {
	on      bool
	base    []byte
	secrets []string
}

// forget drops the passwords of the URLs before.
func (x *redactor) forget() { x.secrets = x.secrets[:0] }

// remember keeps the passwords of URLs, so that hideSecrets finds them.
func (x *redactor) remember(urls ...string) {
	for _, url := range urls {
		if p := x.password([]byte(url)); p.Len() > 0 {
			x.secrets = append(x.secrets, url[p.Start:p.End])
		}
	}
}

// hide returns a URL with its password as ***, if that is asked for.
func (x *redactor) hide(url string) string {
	if p := x.password([]byte(url)); p.Len() > 0 {
		url = url[:p.Start] + "***" + url[p.End:]
	}
	return x.hideSecrets(url)
}

// hideSecrets returns text with *** for the passwords that are known.
func (x *redactor) hideSecrets(text string) string {
	for _, secret := range x.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// hideDifferences hides passwords. That they differ remains visible.
func (x *redactor) hideDifferences(diff []difference) []difference {
	for i := range diff {
		diff[i] = x.hideDifference(diff[i])
	}
	return diff
}

// hideDifference hides the passwords in one difference.
func (x *redactor) hideDifference(d difference) difference {
	hide := x.hideSecrets
	switch {
	case d.component == codec.WholeURL.String():
		hide = x.hide
	case x.on && d.component == codec.Password.String():
		hide = hideText
	}
	d.before, d.after = hide(d.before), hide(d.after)
	return d
}

// hideText hides a component that is there.
func hideText(text string) string {
	if text == "" || text == absent || text == empty {
		return text
	}
	return "***"
}

// password returns the span of the password to hide: all that either standard
// takes for one. It is empty if nothing is to be hidden.
func (x *redactor) password(url []byte) codec.Span {
	if !x.on {
		return codec.Span{}
	}
	var r, b codec.Result
	_ = codec.Parse(url, &r) // the components are there even with an error
	if _, err := browserNormalizer.AppendRef(nil, x.base, url, &b); err != nil && len(x.base) == 0 {
		_, _ = browserNormalizer.AppendRef(nil, []byte("http://h/"), url, &b) // a reference has one too
	}
	rfc, browser := r.In.Span(codec.Password), b.In.Span(codec.Password)
	switch {
	case rfc.Len() == 0:
		return browser
	case browser.Len() == 0:
		return rfc
	}
	return codec.Span{Start: min(rfc.Start, browser.Start), End: max(rfc.End, browser.End)}
}

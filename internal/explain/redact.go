package explain

import (
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// A redactor masks passwords wherever they appear, if it is on. Text that is a
// password by one standard may be part of the path by the other.
type redactor struct {
	on      bool
	base    []byte
	secrets []string
}

// forget discards the passwords of earlier URLs.
func (x *redactor) forget() { x.secrets = x.secrets[:0] }

// remember adds the passwords of URLs to those that hideSecrets masks.
func (x *redactor) remember(urls ...string) {
	for _, url := range urls {
		if p := x.password([]byte(url)); p.Len() > 0 {
			x.secrets = append(x.secrets, url[p.Start:p.End])
		}
	}
}

// hide returns a URL with its password masked, if the redactor is on.
func (x *redactor) hide(url string) string {
	if p := x.password([]byte(url)); p.Len() > 0 {
		url = url[:p.Start] + "***" + url[p.End:]
	}
	return x.hideSecrets(url)
}

// hideSecrets returns text with all remembered passwords masked.
func (x *redactor) hideSecrets(text string) string {
	for _, secret := range x.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// hideDifferences masks passwords in place. It stays visible that they differ.
func (x *redactor) hideDifferences(diff []difference) []difference {
	for i := range diff {
		diff[i] = x.hideDifference(diff[i])
	}
	return diff
}

// hideDifference masks the passwords in a difference.
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

// hideText masks a component unless it is absent or empty.
func hideText(text string) string {
	if text == "" || text == absent || text == empty {
		return text
	}
	return "***"
}

// password returns the span of the password to mask, which covers the passwords
// by both standards. It is empty if there is nothing to mask.
func (x *redactor) password(url []byte) codec.Span {
	if !x.on {
		return codec.Span{}
	}
	var r, b codec.Result
	_ = codec.Parse(url, &r) // Parse sets the components even if it returns an error
	if _, err := browserNormalizer.AppendRef(nil, x.base, url, &b); err != nil && len(x.base) == 0 {
		_, _ = browserNormalizer.AppendRef(nil, []byte("http://h/"), url, &b) // a reference may have a password, too
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

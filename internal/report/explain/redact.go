package explain

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/redact"
)

// A redactor that is on masks passwords, and the text that patterns match, wherever
// they appear. Text that is a password by one standard may be part of the path by the
// other.
type redactor struct {
	on      bool
	base    []byte
	secrets []string
	masker  *redact.Masker // nil: there are no patterns
}

// forget discards the passwords of earlier URLs.
func (x *redactor) forget() { x.secrets = x.secrets[:0] }

// remember makes hideSecrets mask the passwords of URLs, and the users and
// hosts of these URLs that patterns match.
func (x *redactor) remember(urls ...string) {
	for _, url := range urls {
		if p := x.password([]byte(url)); p.Len() > 0 {
			x.secrets = append(x.secrets, url[p.Start:p.End])
		}
		if x.masker == nil {
			continue
		}
		var r codec.Result
		_ = codec.Parse([]byte(url), &r)
		marks := x.marks([]byte(url))
		for _, c := range []codec.Component{codec.Username, codec.Host} {
			if s := r.In.Span(c); s.Len() > 0 && !slices.Contains(marks[s.Start:s.End], false) {
				x.secrets = append(x.secrets, url[s.Start:s.End])
			}
		}
	}
}

// marks returns which bytes of a URL are masked.
func (x *redactor) marks(url []byte) []bool {
	p, marks := x.password(url), make([]bool, len(url))
	set := func(s codec.Span) {
		for i := s.Start; i < s.End; i++ {
			marks[i] = true
		}
	}
	if x.masker != nil {
		text := slices.Clone(url)
		for i := p.Start; i < p.End; i++ {
			text[i] = redact.Stars[0]
		}
		copy(marks, x.masker.Mark(text, false))
		var b codec.Result
		norm, err := browserNormalizer.AppendRef(nil, x.base, url, &b)
		if err == nil && x.masker.HidesHost(b.Out.Bytes(norm, codec.Host)) {
			set(b.In.Span(codec.Host))
		}
	}
	set(p)
	var r codec.Result
	_ = codec.Parse(url, &r)
	if host := r.In.Span(codec.Host); host.Start > 0 && url[host.Start-1] == '@' {
		marks[host.Start-1] = false // the '@' after the password is not hidden
	}
	return marks
}

// hide returns a URL with its password masked, if the redactor is on.
func (x *redactor) hide(url string) string {
	return x.hideSecrets(string(redact.AppendMarked(nil, []byte(url), x.marks([]byte(url)))))
}

// hideSecrets masks every remembered text in text, and every part of text that
// patterns match.
func (x *redactor) hideSecrets(text string) string {
	for _, secret := range x.secrets {
		text = strings.ReplaceAll(text, secret, redact.Stars)
	}
	return string(x.masker.Append(nil, []byte(text), false))
}

// hideDifferences masks passwords in place. Two masked texts remain a
// difference.
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

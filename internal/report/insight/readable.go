package insight

import (
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/iri"
)

// Readable returns a page, template, site or URL as people read it: with the
// characters that escapes and A-labels encode, if they are safe to show. See
// [iri.Append].
func Readable(text string) string {
	front := ""
	if !strings.HasPrefix(text, "/") && !strings.Contains(text, "://") {
		front = "http://"
	}
	whole := []byte(front + text)
	var r codec.Result
	if codec.Parse(whole, &r) != nil {
		return text
	}
	return strings.TrimPrefix(string(iri.Append(nil, whole, &r.In)), front)
}

package crawlercommons

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

// quirks are the bugs of crawler-commons that this package reproduces. Each has a
// row in the documentation. The result "" means that the URL is rejected.
var quirks = []struct{ name, in, want string }{
	{"shifted-query", "http://h/%7Efoo?a=b", "http://h/~foo?a?b"},           // the '?' is searched before escapes in the path are decoded
	{"shifted-query-exception", "http://h/%7E%7E?a", ""},                    // and an exception follows if nothing is left after it
	{"http-prefix", "httpbin.org/get", "http://httpbin.orghttpbin.org/get"}, // a host that starts with "http" and has no scheme is doubled
	{"ipv6-rejected", "http://[::1]/", ""},                                  // brackets are escaped, and the escaped host has an invalid port
	{"dots-of-name", "http://h/../..a/b", "http://ha/b"},                    // a name that starts with two dots after a ".." at the root loses them and its slash
	{"file-slashes", "file:///a%7e", "file:/a~"},                            // a file URL that changes loses its empty authority
	{"mailto-slashes", "mailto:a@b%7e", "mailto://a@b~"},                    // a mailto URL that changes gets slashes
	{"two-at-signs", "http://a@b@c/d", "http:/d"},                           // userinfo with '@' removes the host
	{"no-authority", "http:/a", "http:/a"},                                  // an http URL without a host is accepted
	{"slashes-of-authority", "http:////a//b", "http:/a/b"},                  // and four slashes are one
	{"escaped-delimiter", "http://h%2Fx/y", "http://h/x/x/y"},               // an escaped slash in the host becomes a slash, and the path is doubled
	{"escaped-fragment", "http://h%23x/y", "http://h#x/"},                   // an escaped '#' in the host starts a fragment
	{"plus-in-host", "http://a+b%41/", ""},                                  // in a host with an escape, '+' is a space
	{"backslash", "http://h\\a", ""},                                        // backslashes are not escaped, and not accepted
	{"signed-port", "http://h:+8080/", "http://h:8080/"},                    // a port can have a sign
	{"large-port", "http://h:99999/", "http://h:99999/"},                    // and any number up to 2147483647
	{"root-dots", "http://h../", "http://h./"},                              // one of several dots at the end of the host is removed
	{"url-prefix", "url:http://h/", "http://h/"},                            // a prefix "url:" is removed
	{"empty-value", "http://h/?b=&a&&=x", "http://h/?a&b"},                  // empty values lose their '=', and fields without a name are lost
	{"unknown-scheme", "gopher://h/", ""},                                   // schemes that Java does not know are rejected
}

func TestQuirks(t *testing.T) {
	page := peertest.MatchingPage(t)
	for _, q := range quirks {
		if !strings.Contains(page, "| `"+q.name+"` |") {
			t.Errorf("docs/reference/matching.md has no row for %s", q.name)
		}
		got := peertest.Apply(appendOf(New()), []byte(q.in))
		if got.Text != q.want || got.Rejected != (q.want == "") {
			t.Errorf("%s: %q gives %v; crawler-commons returns %q", q.name, q.in, got, q.want)
		}
	}
}

package purell

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/peertest"
)

// quirks are the bugs of purell that this package reproduces. Each has a row in
// the documentation.
var quirks = []struct {
	name  string
	level level
	in    string
	want  string
}{
	{"escaped-slash", safe, "http://h/a%2Fb", "http://h/a/b"},                     // an escaped slash in the path becomes a slash
	{"escaped-percent-query", safe, "http://h/?%7e=%c3", "http://h/?%7e=%c3"},     // the query keeps lower-case hex digits and needless escapes
	{"empty-fragment", safe, "http://h/?#", "http://h/"},                          // an empty fragment and an empty query disappear
	{"not-idempotent", usuallySafeGreedy, "http://h/a//", "http://h/a/"},          // one slash is removed per call
	{"dots-eat-root", usuallySafeGreedy, "file:///../a", "file://a"},              // ".." at the root removes the slash of the root, so that the path becomes a host
	{"port-in-label", safe, "http://b\u00fccher:80/", "http://xn--bcher:80-65a/"}, // the port is encoded with the last label of an internationalized host
	{"wide-delimiters", safe, "http://h\uff0fa/", "http://h/a/"},                  // a fullwidth delimiter in the host becomes a delimiter after the URL is split
	{"no-mapping", safe, "http://fa\u00df.de/", "http://xn--fa-hia.de/"},          // hosts are not mapped by IDNA: \u00df stays
	{"zone-decoded", safe, "http://[fe80::1%25en0]/", "http://[fe80::1%en0]/"},    // the zone of an IPv6 address loses its escape
	{"names-decoded", allGreedy, "http://h/?a%26b=1", "http://h?a&b=1"},           // sorting decodes parameter names and does not encode them again
	{"semicolon-dropped", allGreedy, "http://h/?a=1;b=2&c=3", "http://h?c=3"},     // sorting drops parameters that contain a semicolon or an invalid escape
	{"equals-added", allGreedy, "http://h/?a", "http://h?a="},                     // sorting adds '=' to a parameter without a value
	{"octal-overflow", allGreedy, "http://0777.01.01.01/", "http://511.1.1.1"},    // octal parts above 255 stay above 255
	{"octal-eight", allGreedy, "http://08.01.01.01/", "http://0.1.1.1"},           // parts that start with 0 and contain 8 or 9 become 0
	{"dword-overflow", allGreedy, "http://4294967297/", "http://0.0.0.1"},         // a number of more than 32 bits as host loses its upper bits
	{"https-to-http", allGreedy, "https://h:80/", "http://h:80"},                  // after the default port is removed, https becomes http
	{"userinfo-kept", allGreedy, "http://u:p@h/", "http://u:p@h"},                 // userinfo stays, with a password
}

func TestQuirks(t *testing.T) {
	page := peertest.MatchingPage(t)
	for _, q := range quirks {
		if !strings.Contains(page, "| `"+q.name+"` |") {
			t.Errorf("docs/reference/matching.md has no row for %s", q.name)
		}
		n := &normalizer{level: q.level}
		if got := peertest.Apply(appendOf(n), []byte(q.in)); got.Text != q.want || got.Rejected {
			t.Errorf("%s: %q gives %v; purell returns %q", q.name, q.in, got, q.want)
		}
	}
}

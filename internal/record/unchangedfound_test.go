package record

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// anyLogLines are lines of several error logs.
const anyLogLines = `2026/11/22 10:00:00 [error] 7#7: *1 forbidden, client: 192.0.2.7, request: "GET /a?b HTTP/1.1", host: "example.com"
2026/11/22 10:00:01 [error] 7#7: *2 Not Found, client: 192.0.2.8, request: "POST /%7ea HTTP/1.1", host: "example.com", referrer: "http://example.com/"
2026-11-22 10:00:02 HEAD /c 304, got http://example.com:80/e
2026-11-22 10:00:03 É ABC DEF GET "/d"
`

// finders returns configurations whose workers have a foundKeeper, or one that uses
// Locate, with a log of their format.
func finders(t testing.TB) (list []namedLog) {
	t.Helper()
	var all []namedLog
	for _, l := range namedLogs(t) {
		if _, special := l.config.special(t); !special {
			all = append(all, l)
		}
	}
	for _, l := range textlog.FixedLogs {
		lines := l.Sample + "\n" + strings.NewReplacer("/index.html", "/a/../b", ".com:443/", ".com/a?b", "/status/418", "//%7e").Replace(l.Sample) + "\n"
		all = append(all, namedLog{l.ID, Config{Format: l.ID}, []byte(lines)})
	}
	all = append(all, namedLog{"log", Config{Format: "log"}, []byte(anyLogLines)})
	for _, layout := range []string{
		`$remote_addr - $remote_user [$time_local] "$request" $status "$http_user_agent"`,
		`%v:%p %h %t "%r" %>s`, `$scheme://$host$request_uri $status`, `$host $request_method $uri$is_args$args "$http_referer"`,
	} {
		text := strings.NewReplacer("$remote_addr", "192.0.2.7", "$remote_user", "-", "$time_local", "10/Oct/2000:13:55:36 -0700", "$request_uri", "/a?b", "$request_method", "GET",
			"$request", "GET /a?b HTTP/1.1", "$status", "200", "$http_user_agent", "a", "%v", "www.example.com", "%p", "443", "%h", "192.0.2.7", "%t", "[10/Oct/2000:13:55:36 -0700]", "%r", "GET /a?b HTTP/1.1", "%>s", "200",
			"$scheme", "https", "$host", "www.example.com", "$uri$is_args$args", "/a?b", "$http_referer", "-").Replace(layout)
		all = append(all, namedLog{layout, Config{Format: layout}, []byte(text + "\n" + strings.Replace(text, "/a?b", "/%7e", 1) + "\n")})
	}
	for _, l := range all {
		for i, base := range []string{"", "http://www.example.com", "https://{host}/"} {
			for k, name := range []string{"rfc3986-scheme", "equiv", "whatwg", "logclean"} {
				l := l
				l.config.Normalizer, l.config.Base, l.config.Target = normalizers[name], base, TargetRequest
				if k == 3 {
					l.config.MaxRecord, l.config.Target = 300, TargetAll
				}
				if _, err := New(l.config); err == nil && (i == 0 || k < 3) {
					list = append(list, l)
				}
			}
		}
	}
	return list
}

// special returns the keeper for c, and whether it is one that does not use Locate.
func (c *Config) special(t testing.TB) (k keeper, special bool) {
	t.Helper()
	d := *c
	d.Target = TargetRequest
	switch k = newJob(t, d).NewWorker().keeper; k.(type) {
	case *foundKeeper:
		return k, false
	case tableKeeper:
		return k, k.(tableKeeper).Composer == nil
	}
	return k, true
}

// TestUnchangedFound compares AppendRun with Append for logs of all formats, as they
// are and damaged. The environment variable URLFOLD_MUTATIONS sets the number of
// mutations of each.
func TestUnchangedFound(t *testing.T) {
	count := 30
	if n, err := strconv.Atoi(os.Getenv("URLFOLD_MUTATIONS")); err == nil {
		count = n / 10
	}
	for _, l := range finders(t) {
		t.Run(l.name+" "+l.config.Base+" "+l.config.Normalizer.Profile().Name, func(t *testing.T) {
			t.Parallel()
			n, c := checkNext(t, l.config, l.text), &l.config
			switch {
			case n > 0, c.Target == TargetAll, c.Format == "azure-front-door", c.Format == "cef": // all URLs of these formats have defects
			case c.Base == "https://{host}/" && slices.Contains([]string{"jsonl", "gcp-lb", "logfmt.fortigate", "aws-cloudtrail", "azure-storage", "azure-key-vault", "cloudflare-gateway", "zscaler", "paloalto-url", "har"}, l.name): // the URLs of these formats are absolute
			case c.Format == "akamai-datastream", c.Format == "akamai-siem" && c.Base == "": // the port is always the default port of the scheme
			default:
				t.Error("no record was copied")
			}
			rnd := rand.New(rand.NewPCG(3, 4))
			for range count {
				checkNext(t, l.config, mutate(rnd, l.text))
			}
		})
	}
}

func TestUnchangedFoundAllocates(t *testing.T) {
	for _, l := range finders(t) {
		j := newJob(t, l.config)
		w, head := j.NewWorker(), l.text[:j.Framing().Head(l.text)]
		var out, dead []byte
		var st Stats
		all := func() {
			for in := l.text[len(head):]; len(in) > 0; {
				at := Position{Head: head, Off: 1}
				var n int
				if out, n = appendNext(w, out[:0], in, &at, &st); n == 0 {
					n = w.Next(in)
					out, dead = w.Append(out[:0], dead[:0], in[:n], at, &st)
				}
				in = in[n:]
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%s, base %q: %v allocations, want 0", l.name, l.config.Base, n)
		}
	}
}

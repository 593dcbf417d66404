package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestDirectives checks directives as they stand in configurations.
func TestDirectives(t *testing.T) {
	f := func(format, rec, want string) {
		t.Helper()
		if got := sitesOf(t, newJob(t, Config{Format: format, Target: TargetAll}), rec); got != want {
			t.Errorf("%s\n%q: got %q, want %q", format, rec, got, want)
		}
	}
	const line = `192.0.2.1 - - [01/May/2024:10:00:00 +0200] "GET /a HTTP/1.1" 200`
	for _, format := range []string{
		"log_format main\tescape=json\t'$remote_addr - $remote_user [$time_local] \"$request\" $status';",
		"log_format main '$remote_addr - $remote_user [$time_local] \"$request\" $status'",
		"\n  # the usual one\n\n\tlog_format  main  '$remote_addr - $remote_user '   # client\n    '[$time_local] \"$request\" '\r\n    '$status' ; # end\n",
		"log_format\nmain\n\"$remote_addr - $remote_user [$time_local] \\\"$request\\\" \"\n$status;",
		"log_format main escape=default '$remote_addr - $remote_user [$time_local] \"$request\"' ' ${status}';",
		"escape=none\t'$remote_addr - $remote_user '\n'[$time_local] \"$request\" $status'",
		"escape=json\n$remote_addr - $remote_user [$time_local] \"$request\" $status\n",
		`LogFormat "%h %l %u %t \"%r\" %>s" common`,
		"# a comment\n\tLogFormat\t\"%h %l %u %t \\\n\\\"%r\\\" %>s\"\n",
		`logformat "%h %l %u %t \"%r\" %>s"`,
		`LogFormat '%h %l %u %t "%r" %>s' common # comment`,
		`CustomLog "logs/access_log" "%h %l %u %t \"%r\" %>s" env=!image`,
		`%h %l %u %t &quot;%r&quot; %s`, // as in server.xml of Tomcat
		`log-format "%ci - - [%trg] %{+Q}r %ST"`,
		`log-format %{+Q}o\ %{-Q}ci\ -\ -\ [%trg]\ %r\ %ST`,
		`log-format '%ci - - [%trg]   "%r" %ST'`,
		"log-format \"%ci - - [%trg] \\\n            %{+Q}r %ST\"",
		`logformat combined %>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs`,
		"logformat  short %>a - - [%tl] \\\n  \"%rm %ru HTTP/%rv\" %03>Hs",
	} {
		f(format, line, "/a")
	}
	f("log_format json escape=json\n'{'\n'\"u\":\"$request_uri\",'\n'\"s\":$status'\n'}';", `{"u":"/a?x=\"y\"","s":200}`, `/a?x=\"y\"`)
	f(`log_format x '$request_uri\t$status';`, "/a b\t200", "/a b")
	f(`log_format x '\'$request_uri\' \\$status';`, `'/a' \200`, "/a")

	// A broken directive is not taken for literal text.
	for format, want := range map[string]string{
		"log_format main\n  '$remote_addr\n  \"$request\";":    "line 2, column 3: a quote is not closed",
		"log_format main '$request'\"$status\";":               "line 1, column 27: no space follows the closing quote",
		"log_format main '$request';\naccess_log /a.log main;": "line 2, column 1: text follows the end of the directive",
		"http {\n  log_format main '$request';\n}":             "line 2, column 3: text precedes the directive",
		"access_log a; LOG_FORMAT main '$request';":            "line 1, column 15: text precedes",
		"log_format main;":                          "the directive log_format has no format",
		"log_format main escape=json;":              "the directive log_format has no format",
		"log_format '$request';":                    "the directive log_format has no format",
		"log_format main escape=xml '$request';":    "escape=xml must be default, json or none",
		"log_format main 'none';":                   "has no URL",
		"$remote_addr\n$request":                    "line 1, column 13: a format has one line",
		"'$remote_addr \"$request\"":                "line 1, column 1: a quote is not closed",
		"escape=json\t'$remote_addr' \"$request":    "a quote is not closed",
		"Log_Format main '$request';":               "invalid log format",
		`LogFormat "%h \"%r\"`:                      "line 1, column 11: a quote is not closed",
		"LogFormat \"%h %r\" a\nLogFormat \"%h\" b": "line 2, column 1: text follows the end of the directive",
		`LogFormat`:                                "the directive LogFormat has no format",
		`LogFormat combined`:                       "has no URL",
		`log-format %ci %r`:                        "a backslash before each of its spaces",
		`log-format "%ci %"`:                       "is not followed by a variable",
		`log-format "%{+json}o %ci %r"`:            "+json of log-format is not supported",
		`log-format "%ci%r"`:                       "no text separates %ci and %r",
		`logformat squid`:                          "has no URL",
		`logformat squid %>a %`:                    "is not followed by a format code",
		"logformat squid %>a %ru\nlogformat b %ru": "text follows the line",
	} {
		_, err := New(Config{Normalizer: newNormalizer(t, "rfc3986"), Format: format})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", format, err, want)
		}
	}
}

// layoutLines are lines of HAProxy and Squid with the layouts that their manuals show.
var layoutLines = []struct{ format, line, want string }{
	{haproxyHTTP, `10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {www.example.org|curl/8 (x)} {} "GET /%7ea HTTP/1.1"`, `/%7ea|www.example.org|10.0.1.2|200|2750|0.109|`},
	{haproxyHTTP, `Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {} "GET /b#C3#A9?c=#22 HTTP/1.1"`, `/bé?c="||10.0.1.2|200|2750|0.109|`},
	{haproxyHTTP, `2001:db8::7:33317 [06/Feb/2009:12:14:14.655] https-in~ static/<NOSRV> -1/-1/-1/-1/+1 503 +217 - - SC-- 0/0/0/0/3 0/0 "POST /c d HTTP/1.1"`, `/c d||2001:db8::7|503|||`},
	{haproxyHTTP, `10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in http-in/<NOSRV> -1/-1/-1/-1/0 400 0 - - PR-- 0/0/0/0/0 0/0 "<BADREQ>"`, ``},
	{haproxyCLF, `127.0.0.1 - - [09/Jul/2018:16:57:47 +0000] "GET /%7ed HTTP/1.1" 200 2750 "" "" 33317 147 "http-in" "static" "srv1" 10 0 30 69 109 ---- 1 1 1 1 0 0 0 "-" "-" `, `/%7ed||127.0.0.1|200|2750|0.109|`},
	{`log-format "%T %ci \"%HM %HP%HQ %HV\" %ST host=%{+Q}[req.hdr(Host),lower] ua=%{+Q}[req.hdr(User-Agent)] id=%ID"`, `x 192.0.2.7 "GET /e?f=1 HTTP/1.1" 200 host="www.example.com" ua="curl/8" id=7`, `/e?f=1|www.example.com|192.0.2.7|200|||curl/8`},
	{`log-format "%{+E,+Q}HU %[src] %{+Q,-Q}HM %% %[var(txn.a),json(utf8s)] %(n)ST"`, `"/g" 192.0.2.7 GET % x 404`, `/g||192.0.2.7|404|||`},
	{`log-format "%ci %HU"`, `192.0.2.7 http://www.example.com/h`, `http://www.example.com/h||192.0.2.7||||`},

	{squidNative, `1066036250.603    310 192.0.0.196 TCP_MISS/200 1869 GET http://www.example.com/%7ea - HIER_DIRECT/192.0.2.80 text/html`, `http://www.example.com/%7ea||192.0.0.196|200|1869|0.31|`},
	{squidNative, `1066036251.003 123456 192.0.0.196 TCP_TUNNEL/200 39 CONNECT www.example.com:443 bob HIER_DIRECT/192.0.2.80 -`, ``},
	{squidNative, `1066036252.100      0 2001:db8::7 NONE/000 0 GET http://www.example.com/b? - HIER_NONE/- -`, `http://www.example.com/b?||2001:db8::7||0|0|`},
	{squidCombined, `192.0.2.7 - bob [02/Nov/2026:06:25:15 +0100] "GET http://www.example.com/c d HTTP/1.1" 200 5 "http://r.example/" "curl/8 (x)" TCP_MISS:HIER_DIRECT`, `http://www.example.com/c d||192.0.2.7|200|5||curl/8 (x)`},
	{squidCombined, `192.0.2.7 - - [02/Nov/2026:06:25:15 +0100] "NONE error:transaction-end-before-headers HTTP/0.0" 0 0 "-" "-" NONE_NONE:HIER_NONE`, ``},
	{`logformat x %-9>A %6tr %>rs %>rd %>rP %>rp %{Host}>h %err_code %ssl::>sni %note{a} %http::rm`, `h.example     12 https www.example.com 443 /e www.example.com ERR_NONE - - GET`, `/e|www.example.com|h.example|||0.012|`},
	{`logformat x %'ru %"{User-Agent}>h %% %{Referer}>h`, `http://www.example.com/f curl/8 % -`, `http://www.example.com/f||||||curl/8`},
	{`logformat x %tg %#ru %Hs`, `t http://www.example.com/g 304`, `http://www.example.com/g|||304|||`},
}

const (
	haproxyHTTP   = `log-format "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"`
	haproxyCLF    = `log-format "%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc %ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl"`
	squidNative   = `logformat squid      %ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt`
	squidCombined = `logformat combined   %>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh`
)

// TestProxyLayouts checks lines of HAProxy and Squid, and that only the URL changes.
func TestProxyLayouts(t *testing.T) {
	c := Config{Render: RenderTSV, Fields: []string{"url", "vhost", "client", "status", "bytes", "duration", "agent"}}
	for _, l := range layoutLines {
		c.Format = l.format
		got, _, st := runJob(t, newJob(t, c), []byte(l.line+"\n"))
		want := strings.ReplaceAll(l.want, "|", "\t") + "\n"
		if l.want == "" {
			want = ""
		}
		if string(got) != want || st.Rejects[Unparsed] > 0 {
			t.Errorf("%s\n%s: got %q, want %q; %d unparsed", l.format, l.line, got, want, st.Rejects[Unparsed])
		}
		out, _, _ := runJob(t, newJob(t, Config{Format: l.format}), []byte(l.line))
		if want := strings.NewReplacer("%7e", "~", "/c d", "/c%20d", "#C3#A9", "%C3%A9", "#22", "%22").Replace(l.line); string(out) != want {
			t.Errorf("%s: rewritten\n%s, want\n%s", l.format, out, want)
		}
		j := newJob(t, Config{Format: l.format})
		w := j.NewWorker()
		w.locateIn([]byte(l.line), nil)
		if n := len(w.locator.(locate.Divider).Divide(nil, []byte(l.line), &w.found)); n < 1 {
			t.Errorf("%s: %d pieces of %s are text of the layout", l.format, n, l.line)
		}
	}
}

//go:build ignore

// Gen writes access.log.gz: an access log in combined format, in two gzip
// members, in which nearly every second line contains an anomaly that occurs in
// real logs. All names and addresses are reserved for documentation by RFC
// 2606, RFC 5737 and RFC 3849.
//
//	go run testdata/sample/gen.go -o testdata/sample/access.log.gz
//	go run testdata/sample/gen.go -plain | less
//
// The log is the same on every run. The compressed bytes may differ between
// releases of Go.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"time"
)

// A hit is one line of the log without the client and the time.
type hit struct {
	request string // as written between the quotes, with the server's escapes
	status  int
	referer string // as written, with the server's escapes
}

// ordinary is valid traffic.
var ordinary = []hit{
	{"GET / HTTP/1.1", 200, "-"},
	{"GET /style.css?v=12 HTTP/1.1", 200, "https://www.example.com/"},
	{"GET /img/logo.svg HTTP/1.1", 200, "https://www.example.com/"},
	{"GET /shop/cart?item=4711&qty=2 HTTP/2.0", 200, "https://www.example.com/shop/"},
	{"GET /blog/2026/10/percent-signs HTTP/1.1", 200, "https://search.example.net/?q=percent+encoding"},
	{"POST /api/v1/events HTTP/2.0", 204, "https://www.example.com/blog/"},
	{"GET /docs/%E6%97%A5%E6%9C%AC%E8%AA%9E/index.html HTTP/1.1", 200, "https://docs.example.org/"},
	{"HEAD /robots.txt HTTP/1.1", 200, "-"},
	{"GET /search?q=caf%C3%A9+au+lait&page=2 HTTP/1.1", 200, "https://www.example.com/search?q=caf%C3%A9"},
	{"GET /files/report%20final.pdf HTTP/1.1", 206, "-"},
	{"GET /a/b/c;v=1.2/d?x=%26&y=%3D HTTP/1.1", 200, "https://example.org/a?x=%2F"},
	{"OPTIONS /api/v1/items HTTP/1.1", 204, "https://app.example.com/#/items"},
}

// dirty is the traffic with anomalies, in groups.
var dirty = [][]hit{
	{ // malformed percent-encoding (RFC 3986, section 2.1)
		{"GET /sale/100% HTTP/1.1", 200, "-"},
		{"GET /sale?off=50%2 HTTP/1.1", 200, "-"},
		{"GET /price%zz/list HTTP/1.1", 404, "https://example.com/100%?a=%g1"},
		{"GET /q?t=%u0041%u00e9 HTTP/1.1", 200, "https://example.com/suche?t=%u00FC"},
		{"GET /%4%31/%%30 HTTP/1.1", 404, "-"},
	},
	{ // escapes that decode to unwanted bytes
		{"GET /download/a%00.jpg HTTP/1.1", 400, "-"},
		{"GET /log?m=a%0D%0ASet-Cookie:%20x=1 HTTP/1.1", 400, "https://example.com/?r=%0a%7f"},
		{"GET /caf%E9 HTTP/1.1", 404, "http://example.org/caf%e9?latin=1"},
		{"GET /%C0%AE%C0%AE/%C0%AFetc HTTP/1.1", 400, "-"},
		{"GET /emoji/%ED%A0%BD%ED%B8%80 HTTP/1.1", 404, "-"},
		{"GET /x%EF%BF%BE/%EF%B7%90 HTTP/1.1", 404, "-"},
		{"GET /%FF%FE%80 HTTP/1.1", 404, "-"},
	},
	{ // double escapes and path traversal
		{"GET /wiki/Main%2520Page HTTP/1.1", 404, "https://example.com/go?u=https%253A%252F%252Fexample.org%252F"},
		{"GET /r?to=%25252525252F HTTP/1.1", 302, "-"},
		{"GET /static/%2e%2e%2f%2e%2e%2fetc/passwd HTTP/1.1", 400, "-"},
		{"GET /static/..%2F..%2fsecret HTTP/1.1", 403, "-"},
		{"GET /static/%2E%2e/img/./../logo.svg HTTP/1.1", 200, "https://www.example.com/a/./b/../c"},
		{"GET /../../../../etc/hosts HTTP/1.1", 400, "-"},
	},
	{ // different spellings of the same page
		{"GET /%7Euser/ HTTP/1.1", 200, "https://example.com/%7euser/"},
		{"GET /~user/ HTTP/1.1", 200, "https://EXAMPLE.com:443/~user/"},
		{"GET /%61%62%63 HTTP/1.1", 200, "HTTPS://Example.COM/%61bc"},
		{"GET /docs/%e6%97%a5%e6%9c%ac%e8%aa%9e/index.html HTTP/1.1", 200, "-"},
		{"GET /shop/cart?qty=2&item=4711 HTTP/1.1", 200, "-"},
		{"GET /shop?utm_source=news&utm_medium=mail&id=7 HTTP/1.1", 200, "https://mail.example.net/?gclid=Cj0KCQ"},
		{"GET /page;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9?x=1 HTTP/1.1", 200, "-"},
		{"GET /a?b=1&amp;c=2 HTTP/1.1", 200, "https://example.com/?a=1&amp;b=2"},
		{"GET /empty? HTTP/1.1", 200, "https://example.com/?#"},
	},
	{ // bytes that must be escaped in a log, as nginx and Apache write them
		{`GET /caf\xC3\xA9/men\xC3\xBC HTTP/1.1`, 200, `https://example.com/caf\xC3\xA9`},
		{`GET /caf\xc3\xa9 HTTP/1.1`, 200, "-"},
		{`GET /raw\x01\x02\x7F HTTP/1.1`, 400, "-"},
		{`GET /tab\there?a=\n HTTP/1.1`, 400, "-"},
		{`GET /say?t=\x22hi\x22&p=C:\x5CTemp HTTP/1.1`, 200, "-"},
		{`GET /say?t=\"hi\"&p=C:\\Temp HTTP/1.1`, 200, `https://example.org/?q=\"quoted\"`},
		{`GET /latin\xE9 HTTP/1.1`, 404, "-"},
		{"GET /my file (1).txt HTTP/1.1", 200, "https://example.com/my file.html"},
		{"GET /<script>alert(1)</script>?x={a|b}^`c` HTTP/1.1", 403, "-"},
		{"GET /list?f[]=1&f[]=2&g={x} HTTP/1.1", 200, "-"},
		{"GET /stra\u00dfe HTTP/1.1", 404, "-"},
		{`GET /windows\x5Csystem32\x5C..\x5Cx HTTP/1.1`, 404, "-"},
	},
	{ // paths with an unusual shape
		{"GET //favicon.ico HTTP/1.1", 200, "-"},
		{"GET ///a//b/// HTTP/1.1", 200, "https://example.com//x///y"},
		{"GET /http://example.org/inner HTTP/1.1", 404, "-"},
		{"GET ?only=query HTTP/1.1", 400, "-"},
		{"GET index.html HTTP/1.1", 400, "-"},
		{"GET /page#section-2 HTTP/1.1", 200, "https://example.com/page#section-2"},
		{"GET /a??b=?c&&d==e&=f& HTTP/1.1", 200, "-"},
	},
	{ // absolute-form (RFC 9112, section 3.2.2)
		{"GET http://www.example.com:80/a HTTP/1.1", 200, "http://www.example.com:80/"},
		{"GET HTTPS://WWW.EXAMPLE.COM:443 HTTP/1.1", 200, "-"},
		{"GET http://www.example.com:0080/a HTTP/1.1", 200, "https://example.com:/x"},
		{"GET http://user:secret@example.com/private HTTP/1.1", 401, "https://anna:pw@example.org/"},
		{"GET http://[2001:DB8:0:0:0:0:0:1]:8080/v6 HTTP/1.1", 200, "http://[2001:db8::1]/"},
		{"GET http://[::ffff:192.0.2.1]/mapped HTTP/1.1", 200, "-"},
		{"GET http://[2001:db8::1%25eth0]/zone HTTP/1.1", 400, "-"},
		{"GET http://0xC0000201/hex HTTP/1.1", 200, "http://3221225985/"},
		{"GET http://0300.0.2.1/octal HTTP/1.1", 200, "http://192.0.513/short"},
		{"GET http://192.0.2.256/out-of-range HTTP/1.1", 400, "-"},
		{`GET http://evil.example\x5C@www.example.com/ HTTP/1.1`, 400, "-"},
		{"GET http://b%C3%BCcher.example/ HTTP/1.1", 200, `http://b\xC3\xBCcher.example/`},
		{"GET http://xn--bcher-kva.example./ HTTP/1.1", 200, "http://xn--a.example/"},
		{"GET http://exa_mple.example:99999/ HTTP/1.1", 400, "https://example.com:port/"},
		{"GET http:///no-host HTTP/1.1", 400, "-"},
		{"GET http://exa%6dple.example%2fx/ HTTP/1.1", 400, "-"},
		{"GET ftp://ftp.example.org:21/pub/ HTTP/1.1", 400, "android-app://com.example.app/"},
	},
	{ // not a URL, or barely one
		{"CONNECT www.example.com:443 HTTP/1.1", 405, "-"},
		{"CONNECT [2001:db8::7]:443 HTTP/1.1", 405, "-"},
		{"OPTIONS * HTTP/1.1", 200, "-"},
		{"-", 408, "-"},
		{"", 400, "-"},
		{`\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03\xA7n\x9B\x05\xE3\x8C`, 400, "-"},
		{`\x03\x00\x00\x13\x0E\xE0\x00\x00\x00\x00\x00\x01\x00\x08`, 400, "-"},
		{"GET /old-style", 200, "-"},
		{"GET", 400, "-"},
		{"PRI * HTTP/2.0", 400, "-"},
		{"SSH-2.0-probe", 400, "-"},
		{"get /lower-method http/1.1", 400, "-"},
	},
	{ // referers of many kinds
		{"GET /r1 HTTP/1.1", 200, ""},
		{"GET /r2 HTTP/1.1", 200, "about:blank"},
		{"GET /r3 HTTP/1.1", 200, "www.example.org/no-scheme"},
		{"GET /r4 HTTP/1.1", 200, "//cdn.example.net/lib.js"},
		{"GET /r5 HTTP/1.1", 200, "file:///C:/Users/anna/page.html"},
		{"GET /r6 HTTP/1.1", 200, "data:text/html,<p>hi</p>"},
		{"GET /r7 HTTP/1.1", 200, "javascript:void(0)"},
		{"GET /r8 HTTP/1.1", 200, "https://example.com/#!/route?utm_source=x"},
		{"GET /r9 HTTP/1.1", 200, "https://example.com/#:~:text=lane"},
		{"GET /r10 HTTP/1.1", 200, "https://bucket.example.net/k?X-Amz-Signature=00ff&X-Amz-Expires=60&utm_source=x"},
		{"GET /r11 HTTP/1.1", 200, ` https://example.com/leading-space`},
		{"GET /r12 HTTP/1.1", 200, "-%20-"},
	},
}

var (
	clients = []string{"192.0.2.7", "198.51.100.23", "203.0.113.200", "2001:db8::f00d", "198.51.100.4", "192.0.2.99"}
	agents  = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
		"ExampleBot/2.1 (+https://bot.example.org/about)",
		"curl/8.9.1",
		`weird \x22agent\x22 \\ with quotes`,
		"-",
	}
)

// lines returns the lines of the log, including their line ends.
func lines() []string {
	var out []string
	when := time.Date(2026, time.November, 2, 6, 25, 0, 0, time.FixedZone("", 3600))
	add := func(h hit) {
		n := len(out)
		user := "-"
		if h.status == 401 {
			user = "anna"
		}
		out = append(out, fmt.Sprintf("%s - %s [%s] \"%s\" %d %d \"%s\" \"%s\"\n",
			clients[n%len(clients)], user, when.Format("02/Jan/2006:15:04:05 -0700"),
			h.request, h.status, (n*7919)%50000, h.referer, agents[n*3%len(agents)]))
		when = when.Add(time.Duration(1+n%5) * time.Second)
	}
	n := 0
	for _, group := range dirty {
		for _, h := range group {
			add(ordinary[n%len(ordinary)])
			if n%4 == 3 {
				add(ordinary[n/4%len(ordinary)])
			}
			add(h)
			n++
		}
	}
	return spoil(out)
}

// spoil adds lines that are not log lines, and damages the ends of two lines.
func spoil(log []string) []string {
	half := len(log) / 2
	log[40] = log[40][:len(log[40])-1] + "\r\n"
	out := append([]string{}, log[:half]...)
	out = append(out, "\n", "rsyslogd: imuxsock lost 42 messages from pid 1234 due to rate-limiting\n")
	out = append(out, log[half:]...)
	last := len(out) - 1
	out[last] = out[last][:len(out[last])-1]
	return out
}

// compress returns the log as two gzip members without names or times in their
// headers. The members meet within a line, because a reader must not treat the
// end of a member as the end of a record.
func compress(log []byte) []byte {
	cut := len(log)*3/5 + 17
	var buf bytes.Buffer
	for _, part := range [][]byte{log[:cut], log[cut:]} {
		w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(part)
		}
		if err == nil {
			err = w.Close()
		}
		fatal(err)
	}
	return buf.Bytes()
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	plain := flag.Bool("plain", false, "write the log uncompressed to stdout")
	name := flag.String("o", "access.log.gz", "write the compressed log to this `file`")
	flag.Parse()
	var buf bytes.Buffer
	for _, line := range lines() {
		buf.WriteString(line)
	}
	if *plain {
		_, err := os.Stdout.Write(buf.Bytes())
		fatal(err)
		return
	}
	fatal(os.WriteFile(*name, compress(buf.Bytes()), 0o644))
}

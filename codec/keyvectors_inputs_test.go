package codec

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec/params"
)

// This file holds the URLs of testdata/vectors/keys.jsonl. Groups follow the
// sections of docs/reference/keys.md. A row that is added here is added to the
// file by go generate ./codec.

// A keyInputs collects inputs.
type keyInputs []keyInput

// add adds URLs of one standard.
func (l *keyInputs) add(group string, std Standard, urls ...string) {
	for _, url := range urls {
		*l = append(*l, keyInput{group: group, url: url, std: std})
	}
}

// both adds URLs of both standards.
func (l *keyInputs) both(group string, urls ...string) {
	l.add(group, WHATWG, urls...)
	l.add(group, RFC3986, urls...)
}

// options adds URLs of both standards with options.
func (l *keyInputs) options(opts keyOptions, urls ...string) {
	for _, url := range urls {
		for _, std := range []Standard{WHATWG, RFC3986} {
			*l = append(*l, keyInput{group: "options", url: url, std: std, opts: &opts})
		}
	}
}

func keyVectorInputs() []keyInput {
	var l keyInputs
	l.basics()
	l.hosts()
	l.schemes()
	l.malformed()
	l.sessions()
	l.signatures()
	l.parameters()
	l.queries()
	l.pages()
	l.suffixes()
	l.references()
	l.failures()
	l.surfaces()
	l.withOptions()
	return l
}

// surfaces have what the level surface reads: segments of each class, names of
// parameters, and URLs without an authority.
func (l *keyInputs) surfaces() {
	l.both("surface",
		"http://example.com/user/17/orders/2026-11-21", "http://example.com/0/007/20261121/12345678901234567890123456789012/-1/1.5/1e3/17.html/%31", "http://example.com/2026/11/21/",
		"http://example.com/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6/f81d4fae-7dec-11d0-a765-00a0c91e6bf/f81d4fae-7dec-11d0-a765-00a0c91e6bfg/aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
		"http://example.com/deadbeefdeadbee/deadbeefdeadbeef/DEADBEEFdeadbeef0/facade/d41d8cd98f00b204e9800998ecf8427e",
		"http://example.com/2024-02-29/2026-02-29/2100-02-29/2000-02-29/1900-02-28/2026-04-31/2026-13-01/2026-00-01/2026-01-00/2026-12-31/2026-1-2/12026-11-21",
		"http://example.com/dQw4w9WgXcQ_-aB3xYz9pQ/dQw4w9WgXcQ_-aB3xYz9p/dQw4w9WgXcQ_-aB3xYz9pQ==/dQw4w9WgXcQ_-aB3xYz9p===/dQw4w9WgXcQ_-aB3xYz9pQ===",
		"http://example.com/the-10-best-restaurants-of-2026/The-10-Best-Restaurants-Of-2026/GettingStartedWithTheCommandLine/1GettingStartedWithTheCommandLine/dQw4w9WgXcQ%2DaB3xYz9pQa/dQw4w9WgXcQ%5FaB3%2FYz9pQa",
		"http://example.com/{int}/%7Buuid%7D/a", "http://example.com/17;a=b/18;jsessionid=1/19", "http://example.com//17//a//", "https://example.com:8443/17#18",
		"http://example.com/?b=1&a=2&b=3&a=&c", "http://example.com/?b%61=1&ba=2", "http://example.com/?a%20b=1&a+b=2&a=3&A=4", "http://example.com/?=v", "http://example.com/?=v&a=1&=w", "http://example.com/?utm_source=1&id=2&gclid=3",
		"http://example.com/?%7e=1&~=2&-=3", "http://example.com/f?X-Amz-Signature=s&X-Amz-Date=d&%41=1&&X-Amz-Date=e&=f", "http://example.com/f/17?sig=1&se=2&a%2Bb=3&a+b=4&'=5", "http://example.com/?sig=1&se=2&&",
		"ftp://user@example.com:2121/17", "tel:117", "mailto:joe@example.com?subject=a&body=b", "x:/17?b=c", "x:17/18", "ws://example.com/1", "file:///home/1")
	l.add("surface", RFC3986, `http://evil.example\@good.example/17?a=1`, "/17?b=1&a=2", "//example.com/17", "17/18", "?a=1&b", "")
}

// basics are the syntax of RFC 3986: case, escapes, dot segments, empty parts.
func (l *keyInputs) basics() {
	l.both("example", "HTTPS://User@WWW.Example.COM:443/%7ea/./b/../index.html;jsessionid=1A2B?utm_source=mail&b=2&a=%20x&a=#top")
	l.both("syntax",
		"http://example.com", "http://example.com/", "HTTP://EXAMPLE.com/A", "http://example.com/?", "http://example.com/#", "http://example.com/?#",
		"http://example.com/%7Euser/%41%5a%30%2d%2E%5f", "http://example.com/%2f%3F%23%5b%5D%40%3a", "http://example.com/%c3%a9/é", "http://example.com/a b\"<>`{}|\\^[]",
		"http://example.com/?a b\"<>`{}|\\^[]'", "http://example.com/#a b\"<>`{}|\\^[]'#", "http://example.com/!$&'()*+,;=:@-._~/?!$&'()*+,;=:@-._~/?#!$&'()*+,;=:@-._~/?",
		"http://example.com/a/./b/../c", "http://example.com/a/b/..", "http://example.com/a/b/.", "http://example.com/../../a", "http://example.com/a//../b", "http://example.com/a/%2e%2E/b/%2e",
		"http://example.com/..a/.b/c./d..", "http://example.com/..;x/a", "http://example.com/a/..%2fb", "http://example.com//a", "http://example.com///",
		"http://user:pass@example.com/", "http://@example.com/", "http://:@example.com/", "http://user@example.com/", "http://user:@example.com/", "http://us%65r:p%40ss@example.com/", "http://a@b@example.com/", "http://us er:p\"w@example.com/",
		"http://example.com:80/", "http://example.com:/", "http://example.com:0080/", "http://example.com:00/", "http://example.com:8080/", "http://example.com:443/", "https://example.com:443/", "https://example.com:80/", "https://example.com:00443/",
		"http://ex_ample.com/", "http://example!$&'()*+,;=.com/", "http://%65xample.com/", "http://ex%2Dample.com/", "http://example.com./", "http://example.com../", "http://a..b/", "http://localhost/", "http://x/",
		"http://example.com/\x7f", "http://example.com/a?b?c#d?e", "http://example.com/a;b;c", "http://example.com/http://www.example.org//x")
	l.add("syntax", WHATWG, " http://example.com/ ", "\x00\x1fhttp://example.com/\x1f", "ht\ttp://exa\nmple.com/a\r\nb", "http:example.com", "http:/example.com", "http:///example.com", `http:\\example.com\a\..\b`, `http://evil.example\@good.example/`, "http://example.com/%5c\\")
	l.add("syntax", RFC3986, "http:example.com", "http:/example.com/a", "http:///a", `http://evil.example\@good.example/`, `http://evil.example%5c@good.example/a?b#c`, `http://e:%5C@www.good.example/index.html`, "http://example.com:99999/", "http://example.com:x/", " http://example.com/")
	l.both("not UTF-8", "http://example.com/\xe9", "http://example.com/?q=\xe9&r=%e9", "http://example.com/\xc3\x28#\xff\xfe", "http://us\xe9r@example.com/", "http://example.com/\xed\xa0\x80/\xf4\x90\x80\x80", "x://h\xe9/", "x:\xe9\xc3\xa9")
}

var nonASCIIHosts = []string{
	"bücher.example", "BÜCHER.example", "faß.de", "ẞ.example", "βόλος.com", "ΒΌΛΟΣ.com", "пример.испытание", "ПРИМЕР.РФ", "россия.рф", "例え.テスト",
	"例子.测试", "例子.測試", "한국.kr", "도메인.한국", "उदाहरण.परीक्षा", "தமிழ்.இந்தியா", "مثال.إختبار", "دبي.امارات", "דוגמה.טעסט", "ישראל.קום",
	"ไทย.com", "ตัวอย่าง.ไทย", "ქართული.ge", "հայ.հայ", "ελλάδα.ελ", "☃.net", "💩.la", "i❤.ws", "☕.example", "ａｂｃ.example",
	"ＷＷＷ.example.com", "例え。テスト", "日本｡jp", "münchen．de", "a\u0300.example", "\u212b.example", "ﬁ.example", "ı.example", "İ.example", "ÇA.example",
	"ŁÓDŹ.pl", "ñandú.es", "são-paulo.com.br", "český.cz", "ångström.se", "øre.dk", "þing.is", "türkiye.com.tr", "việt.vn", "中国.cn",
	"公司.cn", "食狮.公司.cn", "香港.hk", "台灣.tw", "日本語.jp", "㍻.jp", "½.example", "ª.example", "x².com", "www.bücher.example",
	"www.münchen.de", "www.食狮.公司.cn", "bücher.example.", "ü_x.example", "ü!.example", "xn--bcher-kva.ü.example", "a\u00adb.example", "b%C3%BCcher.example", "B%c3%bcCHER.Example", "%62ücher.example",
}

var refusedHosts = []string{
	"a\u200cb.example", "a\u200db.example", "\ue000.example", "\ufffd.example", "ü%2f.example", "ü b.example", "%FF.example", "%c3%28.example", "ü%00.example", "xn--é.example",
}

// hosts are names beyond ASCII, and addresses.
func (l *keyInputs) hosts() {
	for i, host := range nonASCIIHosts {
		tail := []string{"/", "", ":80/a", ":8080/a?b#c", "/é?ü=ö"}[i%5]
		scheme := []string{"http", "https", "ftp", "wss"}[i/5%4]
		l.both("non-ascii host", scheme+"://"+host+tail)
	}
	l.both("non-ascii host", "x://bücher.example/", "x://BÜCHER.example/", "//bücher.example/a", "file://bücher.example/a")
	for _, host := range refusedHosts {
		l.add("failure", WHATWG, "http://"+host+"/")
		l.add("non-ascii host", RFC3986, "http://"+host+"/")
	}
	l.both("ascii host", "http://xn--bcher-kva.example/", "http://XN--BCHER-KVA.example/", "http://xn--a.example/", "http://xn--8i7caa.example/", "http://-a-.example/", "http://a\"b.example/", "http://a`b{c}.example/")
	l.both("ipv4", "http://127.0.0.1/", "http://127.0.0.1./", "http://0x7f.1/", "http://0X7F.0x0.0X1/", "http://0177.0.0.1/", "http://2130706433/", "http://127.1/", "http://127.0.1/", "http://0/", "http://0x/",
		"http://1.2.3.4.example/", "http://%31.2.3.4/", "http://www.1.2.3.4/", "ftp://017.1/", "x://0x7f.1/", "x://1.2.3.4/", "http://192.168.1.1:8080/a", "http://4294967295/", "http://255.255.255.255/", "http://１２７.1/")
	l.add("ipv4", RFC3986, "http://256.1.1.1/", "http://1.2.3.4.5/", "http://4294967296/", "http://1.2.3.256/", "http://09.1.1.1/", "http://1..2/", "http://foo.0x4/", "http://1.2.3.4../", "http://0xg.1/", "http://1.256/", "http://1.16777215/", "http://1.16777216/", "file://0x7f.1/a", "ws://0x7f.1./")
	l.both("ipv6", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[2001:DB8::0:1]/", "http://[2001:db8:0:0:1:0:0:1]/", "http://[::]/", "http://[1:2:3:4:5:6:7::]/", "http://[::ffff:1.2.3.4]/", "http://[::FFFF:102:304]/",
		"http://[1:0:0:2::3]/", "http://[0:1:0:1:0:1:0:1]/", "https://[::1]:443/", "https://[::1]:8080/a", "x://[::1]/", "x://[0::1]:0/")
	l.add("ipv6", RFC3986, "http://[v1.a:B]/", "http://[V1F.a]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1%zz]/", "http://[1.2.3.4]/", "http://[]/", "http://[:::]/", "http://[1:2:3:4:5:6:7:8::]/", "http://[AB%c3 é]/", "http://[::1]")
}

// schemes are URLs of other schemes, files, opaque paths.
func (l *keyInputs) schemes() {
	l.both("file", "file:///a/b", "file:/a/b", "file:a", "file:", "file://", "file:///", "file://localhost/a", "file://LOCALHOST/a", "file://localhost", "file://host/a", "file://HOST/a", "file:///C:/a", "file:///C|/a", "file:///c:/../a",
		"file:///%43|/a", "file://localhost:/a", "file://u@localhost/a", "file:///a/index.html?utm_source=x#y", "file://www.example.com/a/", "file:///a//b/", "file://%6cocalhost/a", "file:////host/a", "file:///a;jsessionid=1")
	l.add("file", RFC3986, "file:/..//a", "file:/.//a/..", "file://@localhost/a", "file://localhost:0/a", "file://localhost:000", "FILE:/a", "file:///./..//a")
	l.both("opaque path", "mailto:a@Example.com", "mailto:a@example.com?subject=A%20B&subject=c", "javascript:alert(1)", "data:text/plain,%7e%3c a", "data:text/plain;base64,aGk=", "tel:+1-234", "urn:isbn:%30%31", "x:", "x:?", "x:#", "X:a/../b", "x:a//b/", "x:/a/../b", "x:/..//a", "x:/.//a", "x:/a/..//b",
		"x:a;jsessionid=1/b;sid=0123456789abcdef", "x:a/index.html", "x:%2e%2e/a", "blob:http://example.com/x", "about:blank", "about:blank?utm_source=a#b", "x:é")
	l.both("other scheme", "x://h", "x://h/", "x://H:/", "x://h:080/a", "x://@h/", "x://u:p@h/a", "x://h/a/../b", "x:///a", "x://h./a", "x://www.example.com/a//b/index.php", "git://WWW.Example.com/a", "redis://h?b=1&a=2", "postgres://u@h/db?sslmode=disable",
		"ws://h", "wss://h:443/", "wss://www.example.com/a/", "ws://h:80/?b&a", "ftp://h", "ftp://h:21/a/", "ftp://www.example.com/index.html", "ftp://@h/")
}

// malformed are escapes that are none.
func (l *keyInputs) malformed() {
	for _, tail := range []string{
		"/%", "/%4", "/%zz", "/%u0041", "/a%", "/%%", "/%%41", "/%%34%31", "/%4%31", "/%2%35", "/%%75%30%30%34%31", "/%G1", "/%1G", "/%-1", "/% 41", "/%\t41",
		"?b=%", "?b=%zz&c=%4", "?%zz=1", "?q=100%25", "?q=100%&r=%E9", "?%=%&%%=%%", "#%", "#%4g", "/%C3%", "/%E2%82%A", "/%c3%a9%", "/%25%", "/%2525%2", "/%x41", "/%٤١", "/%e9%zz/..", "/a;jsessionid=%", "?utm_source=%&a=%7", "/%2e%2",
	} {
		l.both("malformed escape", "http://example.com"+tail)
	}
	l.both("malformed escape", "http://u%:p%4@example.com/", "x://h%zz/", "x:%zz", "x:%%41")
	l.add("malformed escape", RFC3986, "http://h%zz/", "http://h%/", "http://%4%31/")
}

// sessionTails are paths and queries with session ids, and with names and values
// that look like some.
var sessionTails = []string{
	"/a;jsessionid=1", "/a;JSessionID=ABCDEF.node1/b", "/a;phpsessid=x/index.php", "/a;jsessionid", "/a;jsessionid=", "/a;sid=1", "/a;sid=0123456789abcdef", "/a;sid=0123456789abcdef.n1", "/a;sid=123e4567-e89b-12d3-a456-426614174000", "/a;cfid=1;cftoken=2/",
	"/a;cfid=1", "/a;cftoken=2;x=1;CFID=3", "/a;cfid=1/b;cftoken=2", "/a;x=1;jsessionid=2;y=3", "/;jsessionid=1", "/;jsessionid=1/b", "/a;sessionid=0123456789abcdef", "/(ABCDEFGHIJKLMNOPQRSTUVWX)/page.aspx", "/(S(abcdefghijklmnopqrstuvwx))/page.ASPX", "/(A(abcdefghijklmnopqrstuvwx)F(ABCDEFGHIJKLMNOPQRSTUVWX))/p.aspx",
	"/(S(abcdefghijklmnopqrstuvwx))/page.html", "/(short)/page.aspx", "/x/(S(abcdefghijklmnopqrstuvwx))/y/page.aspx;v=1", "/page.aspx/(S(abcdefghijklmnopqrstuvwx))", "/a.aspx/(S(abcdefghijklmnopqrstuvwx))/b.aspx/", "/(S(abcdefghijklmnopqrstuvwx));jsessionid=1/page.aspx", "/a%3Bjsessionid=1", "/a;j%73essionid=1", "//;jsessionid=1//a",
	"/?jsessionid=1", "/?PHPSESSID=abc&a=1", "/index.php?a=1&phpsessid=", "/?phpsessid", "/?ASPSESSIONIDQWERTYUI=x", "/?aspsessionidqwerty=x", "/?aspsessionidqwertyu1=x", "/?sessionid=12", "/?sessionid=0123456789abcdef", "/?session_id=0123456789abcdef.node-1", "/?session_id=0123456789ABCDEF.n1",
	"/?sid=0123456789abcde", "/?sid=0123456789abcdef", "/?sid={123e4567-e89b-12d3-a456-426614174000}", "/?sid=123E4567-E89B-12D3-A456-426614174000", "/?sid=abcDEF0123-_abcDEF0123", "/?sid=abcdef0123-_abcdef0123", "/?sid=a-long-worded-slug-for-people", "/?cfid=1&cftoken=2&a=3", "/?cfid=1&a=3", "/?CFID&b=1&CFToken",
	"/?%73id=0123456789abcdef", "/?s%49d=0123456789%61bcdef&b=2&a=1", "/?amp;phpsessid=1", "/?%3Fphpsessid=1", "/?%3Famp;phpsessid=1", "/?amp;%3Fphpsessid=1", "/?+phpsessid=1", "/?PHPSESSID=1&PHPSESSID=2#PHPSESSID=3", "//a//index.html;jsessionid=1?sid=0123456789abcdef", "/a/default.aspx?sessionid=123e4567-e89b-12d3-a456-426614174000",
}

func (l *keyInputs) sessions() {
	for i, tail := range sessionTails {
		host := []string{"http://example.com", "https://www.example.com", "https://www.example.co.uk:8443"}[i%3]
		l.add("session", WHATWG, host+tail)
		if i%2 == 0 {
			l.add("session", RFC3986, host+tail)
		}
	}
}

// signatures are signed URLs, and some that lack a part of what makes one.
func (l *keyInputs) signatures() {
	queries := []string{
		"X-Amz-Signature=1&X-Amz-Date=2", "b=2&a=1&x-amz-signature=1", "X-Goog-Signature=1&utm_source=x", "X-OSS-Signature=1&a=%20b", "X-TOS-Signature=1&&a=", "Signature=1&Expires=2&AWSAccessKeyId=3", "Expires=2&b&Signature=1", "Signature=1&b=2&a=1", "Expires=1&b=2&a=1",
		"Policy=1&Signature=2&Key-Pair-Id=3", "sv=1&sig=2&se=3&sr=4", "sig=1&si=2&b&a", "sig=1&b=2&a=1", "se=1&b=2&a=1", "q-sign-algorithm=1&q-signature=2", "hdnea=exp=1~acl=/*~hmac=2", "hdnts=1&b&a", "hdntl=1&b&a", "auth_key=1-2-3-4&a", "token=1&expires=2&b&a",
		"md5=1&expires=2&b&a", "token=1&md5=2&b&a", "oauth_signature=1&oauth_nonce=2&a", "b&a&oauth%5Fsignature=1", "amp;sig=1&amp;se=2&b&a", "%3Fsig=1&se&b&a", "sig&se&b&a", "Signature=1&expires=%zz&phpsessid=1&sid=0123456789abcdef", "b=it's&a&hdnea=1", "X-Amz-Signature2=1&b&a", "b=1&a=2#sig=1&se=2", "sig=1&se=2&se=3&gclid=4",
	}
	for i, q := range queries {
		front := []string{"https://www.example.com/a/?", "http://example.com/index.html?", "https://bucket.s3.amazonaws.com/a//b?", "https://example.com/a;jsessionid=1/?"}[i%4]
		l.add("signed", WHATWG, front+q)
		if i%2 == 1 {
			l.add("signed", RFC3986, front+q)
		}
	}
}

// parameters has a row for each rule of the built-in list.
func (l *keyInputs) parameters() {
	for i, rule := range params.Default().Rules {
		name := rule.Name
		switch i % 5 {
		case 1:
			name = strings.ToUpper(name)
		case 2:
			name = "amp;" + name
		case 3:
			name = "%3F" + name
		case 4:
			name = strings.ReplaceAll(name, "_", "%5f")
		}
		if strings.HasSuffix(rule.Name, "_") { // a prefix
			name += "x"
		}
		l.add("parameter", WHATWG, "https://example.com/a?z=1&"+name+"=v%20w&b=2")
	}
	l.both("parameter", "http://h/?utm_", "http://h/?utm_source", "http://h/?utmsource=1", "http://h/?xutm_source=1", "http://h/?UTM_Source=1&utm%5Fmedium=2", "http://h/?gclid=1", "http://h/?gclidx=1", "http://h/?gclid", "http://h/?gclid&fbclid&a", "http://h/?ref=1&source=2&cid=3&id=4",
		"http://h/?a=gclid", "http://h/?a[gclid]=1", "http://h/?gclid[]=1", "http://h/?%67clid=1", "http://h/?gcl+id=1", "http://h/?amp;amp;gclid=1", "http://h/?%3F%3Fgclid=1", "http://h/?AMP;gclid=1", "http://h/?a=1;gclid=2", "http://h/#gclid=1")
	l.both("parameter", "http://h/unsubscribe?mkt_tok=1&gclid=2", "http://h/a/UnsubscribePage.html?MKT%5FTOK=1", "http://h/email/emailWebview?amp;mkt_tok=1", "http://h/unsubscrib%65?ck_subscriber_id=1", "http://h/a;b=unsubscribe?mkt_tok=1", "http://h/(unsubscribe)?mkt_tok=1", "http://h/a;jsessionid=unsubscribe?mkt_tok=1", "http://h/unsubscribe?_hsenc=1", "http://h/x//unsubscribe/?mkt_tok=1#!/a?mkt_tok=2",
		"http://h/?spm=1", "http://h/?spm=a.b.c", "http://h/?spm=a2g0o.home.1000002.1", "http://h/?spm=a21bo.jianhua%2Fa.201876.d1.x~!5", "http://h/?spm=a.b.c.d.e.f.g", "http://h/?spm=a.b..d", "http://h/?spm", "http://h/?elq=d41d8cd98f00b204e9800998ecf8427E", "http://h/?elq=d41d8cd98f00b204e9800998ecf8427", "http://h/?__s=k4nzq3ht8v0oz1c2q8bf&a", "http://h/?__s=news&a", "http://h/?at_home=1&sfmc_page=2&at_custom7=3")
}

// queries are the fields of queries: order, spelling, empty ones.
func (l *keyInputs) queries() {
	l.both("query", "http://h/?b=1&a=2", "http://h/?a=2&a=1", "http://h/?b&a&b=1&a=1", "http://h/?q2=1&q=2&q1", "http://h/?B=1&a=2&A=3&b", "http://h/?a=", "http://h/?a", "http://h/?=", "http://h/?=v", "http://h/?&&a&&", "http://h/?&", "http://h/?a=b=c", "http://h/?a==", "http://h/?a=%3d",
		"http://h/?a=%20b", "http://h/?a=+b", "http://h/?a=%2Bb", "http://h/?a=~*!'()", "http://h/?a=%7E%2A%21%27%28%29", "http://h/?a/b:c@d?e=/:@?", "http://h/?%C3%BC=1&é=2&z=3", "http://h/?\U0001F600=1&\uffff=2&\ue000=3", "http://h/?%26=1&%3D=2&%2B=3&%23=4", "http://h/?a%00b=1&a=2", "http://h/?a-b.c_d*e=1",
		"http://h/?a;b=1", "http://h/?+b=1&%20a=2&a+=3", "http://h/?%61=1&b=2&a=3", "http://h/?amp;b=1&b=2", "http://h/?a=1&a=1&b", "http://h/?a=%E4%BD%A0&a=你", "http://h/?%zz=1&%=2", "http://h/?a='&'=b", "http://h/?0=1&10=2&9=3&-=4&_=5&.=6&*=7")
}

// pages are paths that K3 brings together.
func (l *keyInputs) pages() {
	paths := []string{"/a/", "/a//", "//", "///", "//a", "/a//b///c", "/http://x/", "/http:///x", "/a/https://x//y", "/a:b//c", "/x:/y", "/x://y", "/xy://z", "/1ab://z", "/1a://z", "/+ab://z", "/ab+.-1://z", "/é://z", "/a%2F/b", "/%2F%2F/",
		"/http://", "/" + strings.Repeat("s", 50) + "://z", "/" + strings.Repeat("s", 51) + "://z", "/" + strings.Repeat("9", 30) + strings.Repeat("s", 30) + "://z", "/" + strings.Repeat("9", 60) + "s://z"}
	for _, file := range []string{"index.html", "INDEX.HTM", "index.xhtml", "index.shtml", "index.php", "index.php3", "index.php8", "index.php9", "index.asp", "Index.aspx", "index.jsp", "index.jspx", "index.cfm", "index.cgi", "index.pl", "index.py", "default.html", "default.htm", "Default.aspx", "default.asp", "default.php", "home.html", "home.htm", "home.php", "index", "index.", "index.html.bak", "xindex.html", "index%2ehtml", "index.html;x", "%69ndex.html"} {
		paths = append(paths, "/a/"+file)
	}
	paths = append(paths, "/index.html", "/index.html/", "//index.html", "/a/index.html?b", "/index.html?#", "/a/?b=/", "/a/b?index.html", "/index.html/index.html")
	for i, p := range paths {
		l.add("page", []Standard{WHATWG, RFC3986}[i%2], "http://example.com"+p)
	}
	l.add("page", RFC3986, "index.html", "a//b/", "//www.example.com/a/", "http:a//b/", "https:/index.html", "?utm_source=1", "")
}

// suffixes are hosts with "www." in front of something that may be no site.
func (l *keyInputs) suffixes() {
	for _, host := range []string{
		"example.com", "com", "co.uk", "example.co.uk", "uk", "github.io", "user.github.io", "x.user.github.io", "go.jp", "example.go.jp", "kawasaki.jp", "a.kawasaki.jp", "b.a.kawasaki.jp", "city.kawasaki.jp", "x.city.kawasaki.jp", "ck", "www.ck", "x.ck", "y.x.ck", "www.www.ck",
		"www.example.com", "www.com", "localhost", "example", "a.example", "test", "a.b.test", "1.2.3.4", "0x1", "example.com.", "com.", "example..com", "xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", "blogspot.com", "a.blogspot.com", "s3.amazonaws.com", "b.s3.amazonaws.com", "herokuapp.com", "a.herokuapp.com",
		"gov.uk", "a.gov.uk", "bd", "com.bd", "a.com.bd", "er", "a.er", "a.b.er", "compute.amazonaws.com", "a.b.compute.amazonaws.com", "azurewebsites.net", "a.azurewebsites.net", "", "-.com", "a_b.com",
	} {
		l.add("public suffix", RFC3986, "http://www."+host+"/")
	}
	l.both("public suffix", "http://WWW.Example.com/", "http://www2.example.com/", "http://wwwexample.com/", "http://www.example.com:8080/", "http://www.www.www.example.com/", "http://www/", "ftp://www.example.com/", "x://www.example.com/", "http://www.xn--85x722f.com.cn/", "http://www.食狮.中国/", "http://www.[::1]example.com/")
}

// references are resolved against a base.
func (l *keyInputs) references() {
	ref := func(base string, stds []Standard, refs ...string) {
		for _, r := range refs {
			for _, std := range stds {
				*l = append(*l, keyInput{group: "relative", url: r, base: base, std: std})
			}
		}
	}
	both := []Standard{WHATWG, RFC3986}
	ref("https://u:p@www.Example.com:8080/a/b;c=d/e?q=1#f", both, "g", "./g", "g/", "/g", "//other.example", "//other.example/g?y", "?y", "g?y#s", "#s", "", ".", "./", "..", "../", "../g", "../../../g", "/./g", "/../g", "g.", "..g", "./../g", "g/./h/../i", "g?y/./x", "g#s/../x", "%2e%2e/g", "g%zz", "é?ü", "HTTP://X.example/a/../b", "mailto:a@b", "http:g", "https:g", ";x?utm_source=1&sid=0123456789abcdef", "index.html?b&a", "g;jsessionid=1")
	ref("file:///C:/a/b", both, "c", "/c", "..", "//h/c", "#f")
	ref("x:/a/b?c", both, "d", "../..//d", "//h", "?e")
	ref("http://h", both, "a", "?a", "")
	ref("x:a/b", []Standard{RFC3986}, "c", "../c", "../../c", "//h/c", "?q")
	ref("x:a/b", []Standard{WHATWG}, "#f")
	for _, base := range []string{"http://h/", "a"} { // neither a base nor its absence changes a URL with a scheme
		ref(base, both, "info:a/../b", "http://H/a/%2E%2e/../b", "X:/a/./%2e%2e/../b", "mailto:./a")
	}
	l.add("relative", RFC3986, "a", "./a", "a/../b", "../a", "/a/../b", "//H/a", "//h:80", "?b&a", "#f", "a:b", "1:b", "./1:b", "a/b:c", "%2e/a", "//", "///a", "//@h/", "é")
}

// failures cannot be parsed.
func (l *keyInputs) failures() {
	l.add("failure", WHATWG, "", "a", "//h/a", "http://", "http://:80/", "http://@/", "http://u@", "http://h:x/", "http://h:65536/", "http://h:80:80/", "http://[::1", "http://[::1]x/", "http://[1.2.3.4]/", "http://[fe80::1%25eth0]/", "http://1.2.3.256/", "http://1.2.3.4.5/", "http://foo.0x4/", "http://a b/", "http://a%2fb/", "http://h%zz/", "http://a<b/", "http://a^b/", "http://%00/", "x://h h/", "x://h:x/", "://a", "1:b", "http://09.1/")
	l.add("failure", RFC3986, "http://[::1", "http://[::1]x/", "http://a[b]/", "http://::1]/", "http://u@[/", "//[", "http://a]:80/")
	bases := func(std Standard, base, url string) {
		*l = append(*l, keyInput{group: "failure", url: url, base: base, std: std})
	}
	bases(WHATWG, "a", "b")
	bases(WHATWG, "mailto:a", "b")
	bases(WHATWG, "http://h:x/", "b")
	bases(RFC3986, "a", "b")
	bases(RFC3986, "http://[", "b")
	bases(RFC3986, "http://h/", "//[")
	fallback := func(base string, urls ...string) {
		for _, url := range urls {
			*l = append(*l, keyInput{group: "fallback", url: url, base: base, std: WHATWG, profile: "logclean"})
		}
	}
	fallback("", "http://h:x/", "http://H:65536/%7e", "http://www.example.com:x/a/?b&a", "http://a b/", "http://1.2.3.256/", "http://h%zz/", "a/../b", "//h/a", "", "http://", "a:// :", "http://h\\:x/", "http://h/\\:x//y", "http://h:x\\@good.example/", "http://[::1]x/", "x://a^b/", "http://ok.example/A")
	fallback("http://h/a/b", "//h:x/../c", "http://[x/", "//a b/c")
	other := func(std Standard, profile, base string, urls ...string) {
		for _, url := range urls {
			*l = append(*l, keyInput{group: "other standard", url: url, base: base, std: std, profile: profile})
		}
	}
	other(WHATWG, "rfc3986-scheme", "", `http://evil.example\@good.example/`, "http:example.com", "http://h:x/", "a/b", " http://h/ ")
	other(RFC3986, "whatwg", "", `http://evil.example\@good.example/`, "http:example.com", "http://a\\[b/", "http://0x7f.1/")
	other(RFC3986, "equiv", "http://h/a/b", "../c", "//x/%7e")
	other(RFC3986, "whatwg", "http://h", `http://a\[b/`)
}

// withOptions are the options of K2 and K3.
func (l *keyInputs) withOptions() {
	l.options(keyOptions{KeepHTTPS: true}, "https://www.example.com/a/", "http://example.com/", "wss://h/", "https://h/?b&a")
	l.options(keyOptions{SPA: []string{"app.example.com"}}, "http://app.example.com/#/a", "http://x.app.example.com/#!a", "http://www.app.example.com/#/a?utm_source=1&b=2&a=%20", "http://example.com/#/a", "http://app.example.com/#a", "http://app.example.com/#/a:~:text=b", "http://app.example.com/#:~:text=/b", "http://xapp.example.com/#/a", "http://app.example.com./#/a", "http://app.example.com/#/?gclid=1", "http://app.example.com/#/?", "http://app.example.com/#/?gclid&&")
	l.options(keyOptions{SPA: []string{"*"}}, "https://h/a/#/b", "x://h/#!c", "mailto:a#/b", "http://h/#/a?sig=1&se=2&gclid=3", "http://h/#/a?phpsessid=1", "http://h/#/A?B=%7e&c='")
	l.options(keyOptions{SiteParams: []string{"ref", "tag_*"}}, "http://h/?ref=1&a=2&REF=3", "http://h/?tag_x=1", "http://h/?ref=1&sig=2&se=3", "http://h/?xref=1&tag=2", "http://h/")
	l.options(keyOptions{LowerPath: true}, "http://h/A/B%c3%89/É?X=Y", "http://h/%2f%5A/Index.HTML", "x:A")
	l.options(keyOptions{LowerQuery: true}, "http://h/A?B=C&a=D", "http://h/?b=1&A=2&C=3", "http://h/?SIG=A&SE=B&C=D", "http://h/?%c3%89=%2F")
	l.options(keyOptions{Once: true}, "http://h/?a=1&b&a=1", "http://h/?a=1&a=2&a=1", "http://h/?sig=1&se=2&a&a", "http://h/?a=%20&a=+")
	l.options(keyOptions{NFC: true}, "http://h/e%CC%81", "http://h/é", "http://h/%65%cc%81/A%CC%8A?o%CC%88=u%CC%88", "http://h/e%2F%CC%81", "http://h/1%CC%81", "http://h/%CD%BE%E1%BF%AF", "http://h/?b=%E2%84%AB&a=%CC%81", "http://h/%CC%81%FF%CC%A7", "http://h/%E1%84%80%E1%85%A1%E1%86%A8", "http://h/?sig=e%CC%81&se=1")
	l.options(keyOptions{NFC: true, LowerPath: true, LowerQuery: true, Once: true}, "http://h/E%CC%81?E%CC%81=1&%C3%89=1&e%CC%81=1", "http://h/?B&b&a")
	l.options(keyOptions{Templates: []string{"/user/{name}", "/{int}/a"}}, "http://h/user/Ann/", "http://h/user/Ann?b=1&a", "http://h/17/a", "http://h/17/b", "http://h/x/a")
	l.options(keyOptions{SPA: []string{"*"}, KeepHTTPS: true, LowerPath: true}, "https://h/Users/17?B=1#/a")
	seen := map[string]bool{} // the same URL in two groups is one row too many
	*l = slices.DeleteFunc(*l, func(in keyInput) bool {
		if in.opts != nil {
			return false
		}
		key := in.std.String() + " " + in.profile + " " + in.base + " " + in.url
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}

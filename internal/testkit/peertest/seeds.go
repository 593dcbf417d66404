package peertest

import "math/rand/v2"

// seeds are URLs with what canonicalizers treat differently.
var seeds = []string{
	"", "*", "/", "//", "///", "?", "#", ":", "a", "a:b", "a/b:c", "http:", "http:/", "http://", "http:///", "http:///a", "http:a", "http:/a",
	"HTTP://User:Pass@WWW.Example.COM:80/A/./b/../C//d/index.html;p=1?b=2&a=1&b=1&c#Frag",
	"https://example.com:443/%7euser/%41%2f%e9%zz?q=%20+a%2Bb&&x=&=y&z#%23",
	"http://bücher.example:8080/straße?ä=ö", "http://日本語。jp/パス?ク=エ#フ", "http://xn--bcher-kva.de./", "http://faß.de/", "http://a_b.example/", "http://ex%41mple.com/",
	"http://0x7f.1/", "http://017700000001/", "http://2130706433/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://08.01.01.01/", "http://1.2.3.4:80/", "http://.a..b./",
	"http://[2001:DB8:0:0::1]:80/", "http://[::ffff:1.2.3.4]/", "http://[64:ff9b::1.2.3.4]/x", "http://[fe80::1%25en0]/", "http://[::1", "http://[]/", "http://[1.2.3.4]/",
	"ftp://ftp.example.com:21/a/b/../../../c", "file:///C:/a/../b", "file://host/x", "mailto:a@b.c", "javascript:alert(1)", "data:text/plain,a b", "example.com/a", "example.com:80/a", "localhost:8080/x", "//example.com/a", "/a/b?c", "?a=b",
	"http://h/a;jsessionid=1?x#y", "http://h/?a=1;b=2&c=3", "http://h?a/b?c", "http://h#a?b", "http://u@p@h/", "http://u:p@h:/", "http://h:65536/", "http://h:080/", "http://h:x/", "http://h\\a\\b", "http:\\\\h\\a",
	" http://h/ ", "\thttp://h/\n", "http://h/a\tb\nc", "http://h/\x00", "http://h/\x7f\x80\xff", "http://h/a b|c^d`e{f}g<h>i\"j'k[l]", "http://h/?a b|c^d`e{f}g<h>i\"j'k[l]", "http://h/%", "http://h/%2", "http://h/%252525", "http://h/%25%32%35",
	"http://www.www.example.co.uk/", "http://www2.example.com/", "http://a.b.c.d.e.f.g.h/1/2/3/4/5?x", "http://h//a///b////", "http://h/../../a", "http://h/a/..", "http://h/a/.", "http://h/%2e%2e/a", "http://h/a%2f..%2fb",
}

// VectorInputs returns the inputs of the files of vectors: the seeds, and 1500
// changed copies of them.
func VectorInputs() [][]byte {
	var c collector
	for _, s := range seeds {
		c.add([]byte(s))
	}
	for _, u := range mutate(c.urls, 1500) {
		c.add(u)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 { // and a few that are nothing but pieces
		var u []byte
		for range 1 + random.IntN(6) {
			u = append(u, pieces[random.IntN(len(pieces))]...)
		}
		c.add(u)
	}
	return c.urls
}

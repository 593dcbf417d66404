package record

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/archive"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/markup"
	"golang.org/x/net/html"
)

// htmlCases has pieces of documents and the values of their URLs, decoded and
// separated by spaces.
var htmlCases = []struct{ doc, want string }{
	// The attributes of the standard, and quotes.
	{`<a href="/a"><A HREF='/b'><a href=/c><a href = "/d" ><a href=/e/>`, "/a /b /c /d /e/"},
	{`<area href=1><link href=2><svg><a href=3></a><image href=4></svg>`, "1 2 3 4"},
	{`<img src=1><script src=2></script><iframe src=3></iframe><embed src=4><input src=5><source src=6><track src=7><video src=8><audio src=9><frame src=10>`, "1 2 3 4 5 6 7 8 9 10"},
	{`<form action=1><button formaction=2><input formaction=3>`, "1 2 3"},
	{`<video poster=1 src=2><object data=3><blockquote cite=4><q cite=5><ins cite=6><del cite=7><body background=8><table background=9>`, "1 2 3 4 5 6 7 8 9"},
	{`<div data=1 action=2 content=3 title=4 value=5 alt=6 name=7 id=8 data-source=9 xhref=10>`, ""},
	{`<amp-img src=1></amp-img><x-link href=2>`, "1 2"},
	{`<base href=1><a href=2>`, "2"},
	{`<link rel=preload as=image imagesrcset="1 1x, 2 2x"><a href=3 ping=" 4  5 6 "><use xlink:href=7><image XLINK:HREF="8">`, "1 2 3 4 5 6 7 8"},
	{`<img src="data:," data-src=1 data-srcset="2 1x,3 2x"><img data-original=4><img data-lazy-src=5><div data-bg=6><div data-bg="url( '7' )"><div data-bg="url(8)"><div data-bg='url("9")'>`, "1 2 3 4 5 6 '7' 8 9"},
	// Attributes: order, duplicates, missing values and odd names.
	{`<a class=x href=1 id=y>`, "1"},
	{`<a href=1 href=2 HREF=3>`, "1"},
	{`<a href><a href=><a href="">`, ""},
	{`<a/href=1><a//href=2//><a class=x/href=no><a class="x"/href=3><a class="x"href=4>`, "1 2// 3 4"},
	{`<a href=1"2'3<4=5>`, `1"2'3<4=5`},
	{`<a =href=1><a "href=2><a hr"ef=3>`, ""},
	{`<a title="<a href=no>" href=1><a title='>' href=2><a title=a>b href=no>`, "1 2"},
	{"<a\nhref\n=\n1\n><a\thref='2'\f\rx>", "1 2"},
	{`<a href="a>b<c d">`, `a>b<c d`},
	{"<a href=' /a '><a href='\n\t/b\n'>", "/a /b"},
	{"<a href=\"/a\nb\">", "/a\nb"},
	// Tags.
	{`< a href=no><1 href=no><a<b href=1><a:b href=2></a href=no></ a href=no><!a href=no><?a href=no><//a href=no>`, "1 2"},
	{`a < b <a href=1> c <`, "1"},
	{`<<a href=1><</a><<<img src=2>`, "1 2"},
	{`<a href=1><a href="2`, "1"},
	{`<a href=1><a href=2`, "1"},
	// Comments and declarations.
	{`<!-- <a href=no> --><a href=1><!-- <!-- --><a href=2><!----><a href=3><!--><a href=4><!---><a href=5>`, "1 2 3 4 5"},
	{`<!--x--!><a href=1><!--x--y--><a href=2><!--x---><a href=3><!-- > <a href=no> -- > -->`, "1 2 3"},
	{`<!--[if IE]><a href=no><![endif]--><![if !IE]><a href=1><![endif]>`, "1"},
	{`<!doctype html "a>b"><a href=1><![CDATA[<a href=no>]]>`, "1"},
	{`<a href=1><!-- <a href=no>`, "1"},
	// Foreign content has no raw text, and "/>" ends an element.
	{`<svg><title/><a href=1></a><style/><script href=2 /><a xlink:href=3></svg><a href=4>`, "1 2 3 4"},
	{`<svg viewBox="0 0 1 1"/><title><a href=no></title><a href=1><SVG><style>a { x: "<a href=2>" }</style></SVG><style><a href=no></style>`, "1 2"},
	{`<svg><text><![CDATA[ > <a href=no> ]]></text><image href=1 /></svg><![CDATA[ > <a href=2>`, "1 2"},
	{`<svg><foreignObject><style><a href=no></style><title/><a href=no></title><img src=1></foreignObject><title/><a href=2></svg>`, "1 2"},
	{`<svg><desc><svg><script/><a href=1></svg><script/><a href=no></script></desc><a href=2></svg><xmp><a href=no></xmp>`, "1 2"},
	{`<svg><svg><style/><a href=1></svg><style/><a href=2></svg><style/><a href=no>`, "1 2"},
	{`<math><mi><textarea><a href=no></textarea></mi><style/><a href=1></math><math href=2 /><title/><a href=no>`, "1 2"},
	{`<svg><path/><div><style><a href=no></style><a href=1><title/><a href=no></title><a href=2></svg>`, "1 2"}, // div ends the svg
	{`<svg><g><a href=1><title/>x</g>`, "1"},
	{`<svg><meta http-equiv=refresh content="0;url=/1"><image href=2>`, "/1 2"},
	// Text without tags.
	{`<script>x = "<a href=no>"</script><a href=1>`, "1"},
	{`<script src=1>"</scriptx>" + '</script >' <a href=2>`, "1 2"},
	{`<script><!-- <script> </script> <a href=no> --> </script><a href=1>`, "1"},
	{`<script><!-- </script><a href=1> -->`, "1"},
	{`<script><!--><script></script><a href=1>`, "1"},
	{`<script><!-- <script> --> </script><a href=1>`, "1"},
	{`<script><!-- <scriptx> </script><a href=1>`, "1"},
	{`<script><!--<<script </script><a href=no>`, ""}, // '<<' stays escaped (§13.2.5.23)
	{`<style><a href=no></style><title><a href=no></title><textarea><a href=no></TEXTAREA ><xmp><a href=no></xmp><a href=1>`, "1"},
	{`<iframe src=1><a href=no></iframe><noembed><img src=no></noembed><noframes><a href=no></noframes><a href=2>`, "1 2"},
	{`<noscript><img src=1></noscript><template><a href=2></template>`, "1 2"},
	{`<textarea><!-- </textarea><a href=1> --><title></titlex></title/><a href=2>`, "1 2"},
	{`<a href=1><plaintext><a href=no></plaintext><a href=no>`, "1"},
	{`<title><a href=no>`, ""},
	// Character references; https://html.spec.whatwg.org/#named-character-reference-state.
	{`<a href="?a=1&amp;b=2&lt;&gt;&quot;&#39;&#x27;&AMP;">`, `?a=1&b=2<>"''&`},
	{`<a href="?a=1&b=2&copy=3&copy;=4&copy&not&notit;&notin;&x;&amp">`, "?a=1&b=2&copy=3©=4©¬&notit;∉&x;&"},
	{`<a href="&eacute;&eacute&#233;&#xE9;&#xe9&Aacute;">`, "éééééÁ"},
	{`<a href="&semi;&Tab;x&fjlig;&NotEqualTilde;&ampx;&#;&#x;&;&">`, ";\txfj≂̸&ampx;&#;&#x;&;&"},
	{`<a href="a&#0;b&#xD800;c&#x110000;d&#128;e&#x9f;f&#99999999999;g">`, "a\uFFFDb\uFFFDc\uFFFDd€eŸf\uFFFDg"},
	{`<a href=&#x2f;&#47;h><img src="&#32;/a&#10;">`, "//h /a"},
	// Lists and refreshes.
	{`<img srcset="1.png, 2.png 2x, 3.png 100w 50h,4.png 1x">`, "1.png 2.png 3.png 4.png"},
	{`<img srcset=" ,, 1,2.png ,3.png,,4.png f(a, b) , 5.png,">`, "1,2.png 3.png,,4.png 5.png"},
	{`<img srcset="data:image/png;base64,AA== 1x, /a%2c 2x" src=/b>`, "/a%2c /b"},
	{`<source srcset="/a?x=1&amp;y=2 1x,&#47;b 2x">`, "/a?x=1&y=2 /b"},
	{`<meta http-equiv=refresh content="5;url=/a"><META CONTENT='0; URL = "/b"' HTTP-EQUIV=Refresh>`, "/a /b"},
	{`<meta http-equiv=refresh content="1 /a"><meta http-equiv=refresh content="1,'/b'c"><meta http-equiv=refresh content=".5;/c"><meta http-equiv=refresh content="0;url=&#39;/d&#39;">`, "/a /b /c /d"},
	{`<meta http-equiv=refresh content=5><meta http-equiv=refresh content="5;"><meta http-equiv=refresh content="x;url=/no"><meta http-equiv=refresh content="5x;url=/no"><meta http-equiv=refresh>`, ""},
	{`<meta http-equiv=refresh content="0;urls"><meta http-equiv=refresh content="0;url /a"><meta name=x content="0;url=/no">`, "urls url /a"},
	// Links that are not followed.
	{`<a href="javascript:x()"><a href=" JavaScript:x"><a href="java&#10;script:x"><a href="&#1;javascript:x"><a href=vbscript:x><img src=data:,x><a href=about:blank><a href=blob:x>`, ""},
	{`<a href=mailto:a@b><a href=tel:1><a href=sms:1><img src=cid:x><a href=#top><a href="#"><a href=" ">`, ""},
	{`<a href=javascript><a href=x:data:><a href="./javascript:x"><a href=ftp://h/><a href=magnet:?x><a href=//h/x><a href="?#a">`, "javascript x:data: ./javascript:x ftp://h/ magnet:?x //h/x ?#a"},
}

// htmlURLs returns the URLs of a document, decoded, and the number of links
// that are skipped. It checks that the ranges are in order.
func htmlURLs(t testing.TB, doc []byte) (urls []string, skipped int) {
	t.Helper()
	r := markup.HTMLFormat{}.Unlined()
	l := r.Locator()
	var f Found
	for at := 0; at < len(doc); {
		n := r.Next(doc[at:])
		if n <= 0 || n > len(doc)-at {
			t.Fatalf("%q: Next returned %d of %d bytes", doc, n, len(doc)-at)
		}
		rec := doc[at : at+n]
		f.Reset()
		why, _ := l.Locate(&f, rec, &Position{Off: int64(at)})
		last := 0
		for _, s := range f.Sites[:f.N] {
			if s.Start < last || s.End <= s.Start || s.End > n {
				t.Fatalf("%q: range %v after %d", rec, s.Span, last)
			}
			last = s.End
			text, _, _ := s.Dialect.Unescape(nil, s.In(rec), nil)
			if why == 0 {
				urls = append(urls, string(text))
			}
		}
		skipped += f.Skipped
		at += n
	}
	return urls, skipped
}

func TestHTML(t *testing.T) {
	for _, c := range htmlCases {
		if got, _ := htmlURLs(t, []byte(c.doc)); strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.doc, strings.Join(got, " "), c.want)
		}
		if tokenizerErrs([]byte(c.doc)) {
			continue
		}
		if got := tokenizerURLs([]byte(c.doc)); strings.Join(got, " ") != c.want {
			t.Errorf("%s\ntokenizer %q\n     want %q", c.doc, strings.Join(got, " "), c.want)
		}
	}
}

// lessThan matches a '<' that begins neither a tag nor the end of one.
var lessThan = regexp.MustCompile(`<([^/a-zA-Z]|$)`)

// tokenizerErrs reports whether the tokenizer may read doc in another way than the
// standard: it assumes that scripts run, and leaves an escaped script at such a '<',
// which does not end it (§13.2.5.23). It cannot tell which content is foreign:
// TestHTMLForeign asks the parser.
func tokenizerErrs(doc []byte) bool {
	doc = bytes.ToLower(doc)
	_, escaped, _ := bytes.Cut(doc, []byte("<!--"))
	return bytes.Contains(doc, []byte("noscript")) || bytes.Contains(doc, []byte("<svg")) || bytes.Contains(doc, []byte("<math")) || bytes.Contains(doc, []byte("<script")) && lessThan.Match(escaped)
}

// tokenizerURLs returns the URLs of a document by the tokenizer of
// golang.org/x/net/html.
func tokenizerURLs(doc []byte) (urls []string) {
	z, foreign := html.NewTokenizer(bytes.NewReader(doc)), 0
	add := func(text []byte) {
		if text = locate.Trim(text).In(text); !markup.IsSkipped(text) {
			urls = append(urls, string(text))
		}
	}
	for {
		switch token := z.Next(); token {
		case html.ErrorToken:
			return urls
		case html.EndTagToken:
			if tag, _ := z.TagName(); foreign > 0 && (string(tag) == "svg" || string(tag) == "math") {
				foreign--
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			element := bytes.Clone(tag)
			if (string(tag) == "svg" || string(tag) == "math") && token == html.StartTagToken {
				foreign++
			}
			if foreign > 0 {
				z.NextIsNotRawText()
			}
			z.AllowCDATA(foreign > 0)
			var seen uint32
			attrs := map[string][]byte{}
			for more {
				var name, value []byte
				name, value, more = z.TagAttr()
				if _, ok := attrs[string(name)]; ok {
					continue
				}
				attrs[string(name)] = bytes.Clone(value)
				a := markup.AttributeOf(element, name)
				switch {
				case a == nil || seen&a.Bit != 0 || string(element) == "meta":
				default:
					for pos, ok := 0, true; ok; {
						var s locate.Span
						if s, pos, ok = a.Next(value, pos); ok {
							add(s.In(value))
						}
					}
					seen |= a.Bit
				}
			}
			if content := attrs["content"]; string(element) == "meta" && strings.EqualFold(string(attrs["http-equiv"]), "refresh") {
				if s, ok := markup.RefreshURL(content); ok {
					add(s.In(content))
				}
			}
		}
	}
}

// TestHTMLForeign compares the URLs of documents with foreign content with those of
// the parser of golang.org/x/net/html, in any order, because it moves elements.
func TestHTMLForeign(t *testing.T) {
	docs := 0
	for _, c := range htmlCases {
		if !strings.Contains(strings.ToLower(c.doc), "<svg") && !strings.Contains(c.doc, "<math") || strings.Contains(c.doc, "<meta") {
			continue
		}
		root, err := html.Parse(strings.NewReader("<!doctype html><body>" + c.doc))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for node := range root.Descendants() {
			for _, a := range node.Attr {
				if a.Namespace != "" {
					a.Key = a.Namespace + ":" + a.Key
				}
				if markup.AttributeOf([]byte(node.Data), []byte(a.Key)) != nil {
					got = append(got, a.Val)
				}
			}
		}
		want := strings.Fields(c.want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s\nparser %q\n  want %q", c.doc, got, want)
		}
		docs++
	}
	if docs < 10 {
		t.Errorf("%d documents", docs)
	}
}

// TestHTMLForeignLimit checks that an svg element that never ends does not take the
// rest of a document, and that such elements take linear time to read.
func TestHTMLForeignLimit(t *testing.T) {
	doc := strings.Repeat("<svg><desc>", 40<<10) + "<a href=http://h/x>"
	r := markup.HTMLFormat{}.Unlined()
	records := 0
	for at := 0; at < len(doc); records++ {
		n := r.Next([]byte(doc[at:]))
		if n > 257<<10 {
			t.Fatalf("a record has %d bytes", n)
		}
		at += n
	}
	if got, _ := htmlURLs(t, []byte(doc)); len(got) != 1 || records > 10 {
		t.Errorf("%d URLs in %d records", len(got), records)
	}
}

// testCharset returns encodings for tests: one without multi-byte characters,
// and one whose second bytes can be ASCII.
func testCharset(label string) (Charset, bool) {
	switch strings.ToLower(label) {
	case "utf-8", "utf8":
		return nil, true
	case "latin1":
		return latin1{}, true
	case "pairs":
		return pairs{}, true
	}
	return nil, false
}

type latin1 struct{}

func (latin1) AppendChar(dst, s []byte) ([]byte, int) { return utf8.AppendRune(dst, rune(s[0])), 1 }

func (latin1) AppendQuery(dst, text []byte) []byte {
	for _, r := range string(text) {
		if r > 0xFF {
			dst = fmt.Appendf(dst, "%%26%%23%d%%3B", r)
		} else {
			dst = append(dst, byte(r))
		}
	}
	return dst
}

// pairs encodes 'é' as "\x80\\" and all other characters in one byte.
type pairs struct{}

func (pairs) AppendChar(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[0] == 0x80 && s[1] == '\\' {
		return append(dst, "é"...), 2
	}
	return append(dst, "\uFFFD"...), 1
}

func (pairs) AppendQuery(dst, text []byte) []byte {
	return append(dst, strings.ReplaceAll(string(text), "é", "\x80\\")...)
}

// readHTML reads a document like a source and a worker of the pipeline: in
// blocks, size more bytes at a time, where each worker knows only the directive
// in force.
func readHTML(t testing.TB, c Config, in []byte, size int) (out string, st Stats) {
	t.Helper()
	c.Format, c.Charset = cmp.Or(c.Format, "html"), testCharset
	j := newJob(t, c)
	f, d := j.Framing(), j.reader.(Director)
	var o, head []byte
	at := Position{Line: 1}
	for end := 0; len(in) > 0; {
		end = min(end+size, len(in))
		n := f.Cut(in[:end])
		if n == 0 && end < len(in) {
			continue
		}
		if n == 0 {
			n = end
		}
		w, block := j.NewWorker(), in[:n]
		at.Head = head
		for len(block) > 0 {
			rec := block[:w.Next(block)]
			o, _ = w.Append(o, nil, rec, at, &st)
			if h := d.Directive(at.Head, rec); h != nil {
				at.Head = h
			}
			at.Off += int64(len(rec))
			at.Line += w.Lines(rec)
			block = block[len(rec):]
		}
		if h := d.Directive(head, in[:n]); h != nil {
			head = h
		}
		if !bytes.Equal(head, at.Head) || len(head) > 0 && !bytes.Equal(d.Directive(nil, head), head) {
			t.Fatalf("the directive after %q is %q, by record %q", in[:n], head, at.Head)
		}
		in, end = in[n:], max(0, end-n)
	}
	if !st.Balanced() {
		t.Errorf("unbalanced ledger: %+v", st)
	}
	return string(o), st
}

// TestHTMLContext checks how bases and encodings apply to the URLs after them.
func TestHTMLContext(t *testing.T) {
	f := func(base, doc, want string) {
		t.Helper()
		for _, size := range []int{1, 7, 1 << 20} {
			got, _ := readHTML(t, Config{Render: RenderURLs, Base: base, Normalizer: normalizers["equiv"]}, []byte(doc), size)
			if got = strings.Join(strings.Fields(got), " "); got != want {
				t.Errorf("%s, read %d bytes at a time\n got %s\nwant %s", doc, size, got, want)
			}
		}
	}
	const page = "http://h/d/p"
	f(page, `<a href=x><a href=/y><a href=//z/><a href=?q>`, "http://h/d/x http://h/y http://z/ http://h/d/p?q")
	f("", `<a href=x><a href=http://h/>`, "http://h/")
	// The first base with an address counts, for what follows.
	f(page, `<a href=1><base href=http://b/e/><a href=2><base href=http://c/><a href=3>`, "http://h/d/1 http://b/e/2 http://b/e/3")
	f(page, `<base target=x><base href=../e/><a href=1>`, "http://h/e/1")
	f("", `<base href=../e/><a href=1><a href=http://h/>`, "http://h/")
	f("", `<base href="http://b/?a&amp;b"><a href=1><a href="">`, "http://b/1")
	f(page, `<base href="javascript:x"><a href=1><base href=http://c/><a href=2>`, "http://h/d/1 http://h/d/2")
	f(page, `<base href="http://[/"><a href=1>`, "http://h/d/1")
	f(page, `<!-- <base href=http://c/> --><script>"<base href=http://c/>"</script><a href=1><baseline href=http://c/><a href=2>`, "http://h/d/1 http://c/ http://h/d/2")
	f(page, "<base\nhref='http://b/'/>\n<a href=1>", "http://b/1")
	// Encodings: paths become UTF-8, queries stay, as in browsers.
	f(page, "<a href='/\xE9?\xE9'><meta charset=latin1><a href='/\xE9?\xE9#\xE9'>", "http://h/%E9?%E9 http://h/%C3%A9?%E9#%C3%A9")
	f(page, "<meta charset=latin1><a href='/&eacute;?&eacute;&#8364;&amp;x'>", "http://h/%C3%A9?%E9%26%238364%3B&x")
	f(page, "<meta http-equiv=Content-Type content='text/html; charset=latin1'><a href='\xE9'>", "http://h/d/%C3%A9")
	f(page, "<meta name=Content-Type content='text/html; charset=latin1'><a href='\xE9'>", "http://h/d/%E9")
	f(page, "<meta charset=x><meta charset=' Latin1 '><meta charset=utf-8><a href='\xE9'>", "http://h/d/%C3%A9")
	f(page, "<meta charset=utf-8><meta charset=latin1><a href='\xC3\xA9'>", "http://h/d/%C3%A9")
	f(page, "\xEF\xBB\xBF<meta charset=latin1><a href='\xC3\xA9'>", "http://h/d/%C3%A9")
	f(page, "<meta charset=pairs><a href='/\x80\\x?\x80\\x'><a href=/x>", `http://h/%C3%A9x?%80\x http://h/x`)
	f(page, "<meta charset=latin1><base href='/\xE9/'><img srcset='\xE9 1x, a?\xE9 2x'>", "http://h/%C3%A9/%C3%A9 http://h/%C3%A9/a?%E9")
	f(page, "<base href=/b/><meta charset=latin1><a href='\xE9'>", "http://h/b/%C3%A9")
}

// TestHTMLPositions checks line, offset, record and the counts.
func TestHTMLPositions(t *testing.T) {
	doc := "<!doctype html>\n<a\nhref='/&amp;'\nhref=x>\n<img src=/a srcset='/b,\n /c 2x'><script src=/d>\n\"<a>\"</script>\n<a href=#x><a href=http://h:x><img src=data:, srcset=','>"
	c := Config{Render: RenderTSV, Fields: []string{"line", "offset", "url", "record", "error"}, Base: "http://h/", Normalizer: normalizers["equiv"]}
	got, st := readHTML(t, c, []byte(doc), 1)
	want := "3\t25\t/&\t<a\\nhref='/&amp;'\\nhref=x>\t\n" +
		"5\t50\t/a\t<img src=/a srcset='/b,\\n /c 2x'>\t\n" +
		"5\t61\t/b\t<img src=/a srcset='/b,\\n /c 2x'>\t\n" +
		"6\t66\t/c\t<img src=/a srcset='/b,\\n /c 2x'>\t\n" +
		"6\t85\t/d\t<script src=/d>\t\n" +
		"8\t123\thttp://h:x\t<a href=http://h:x>\tport-invalid\n"
	if got != want || st.URLs != 6 || st.Skipped != 2 || st.Rejected != 1 {
		t.Errorf("got\n%s\nwant\n%s%+v", got, want, st.Skipped)
	}
}

// TestHTMLCut checks that a tag within which the document ends is reported, and
// that pieces of text are limited.
func TestHTMLCut(t *testing.T) {
	got, st := readHTML(t, Config{Render: RenderJSONL, Fields: []string{"norm"}, Normalizer: normalizers["equiv"]}, []byte("<a href=http://h/>x<a href=\"http://h"), 5)
	if want := `{"norm":"http://h/"}` + "\n" + `{"error":"unparsed","at":17,"record":"<a href=\"http://h","line":1}` + "\n"; got != want || st.URLs != 1 || st.Rejects[Unparsed] != 1 {
		t.Errorf("got\n%s\nwant\n%s%+v", got, want, st.Rejects)
	}
	long := strings.Repeat("a < b\n", markup.MaxHTMLText)
	r := markup.HTMLFormat{}.Unlined()
	for at := 0; at < len(long); {
		n := r.Next([]byte(long[at:]))
		if n > markup.MaxHTMLText {
			t.Fatalf("a piece of text has %d bytes", n)
		}
		at += n
	}
}

// TestHTMLConfig checks the settings that have no meaning for documents.
func TestHTMLConfig(t *testing.T) {
	for _, c := range []Config{
		{}, {Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}}}, {Render: RenderURLs, Base: "http://{host}/"},
		{Render: RenderURLs, URLField: "url"}, {Render: RenderURLs, Dialect: "nginx"},
	} {
		c.Format, c.Normalizer = "html", normalizers["equiv"]
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestDocumentNoAllocs checks that nothing allocates in the steady state.
func TestDocumentNoAllocs(t *testing.T) {
	docs := map[string][]string{
		"html": {
			"<meta charset=latin1><base href=/b/>", "<!-- x -->", "text < text", "</a>", "<a href='/a?b=1&amp;c=2&#233;'>", "<img src=/a srcset='/b, /c 2x, /d 3x, /e 4x, /f 5x'>",
			"<meta http-equiv=refresh content='5;url=/r'>", "<script src=x>y", "<a href=#x>", "<a href='http://h:x/'>", "<a href='", "<a href='/\xE9?\xE9'>",
		},
		"text": {"see http://h/a, (http://h/b) \"http:\\/\\/h\\/c\" http://h/d http://h/e http://h/f\n", "none: here\n", "http://h:99999/ http://é/\n"},
	}
	for format, recs := range docs {
		for _, c := range []Config{{Render: RenderURLs}, {Render: RenderKeys}, {Render: RenderJSONL}, {Render: RenderTSV, OnRejected: DispositionDead}} {
			c.Format, c.Charset, c.Normalizer = format, testCharset, normalizers["equiv"]
			if format == "html" {
				c.Base = "http://h/"
			}
			j := newJob(t, allFields(c))
			w := j.NewWorker()
			d, _ := j.reader.(Director)
			var out, dead, head []byte
			if d != nil {
				head = d.Directive(nil, []byte(recs[0]))
			}
			var st Stats
			all := func() {
				for _, rec := range recs {
					b := []byte(rec)
					j.Framing().Cut(b)
					w.Next(b)
					if d != nil {
						d.Directive(head, b)
					}
					out, dead = w.Append(out[:0], dead[:0], b, Position{Name: "f", Line: 1, Head: head}, &st)
				}
			}
			all()
			if n := testing.AllocsPerRun(3, all); n > float64(len(recs)) { // one for each conversion to bytes
				t.Errorf("%s, %+v: got %v allocations in %d records", format, c.Render, n, len(recs))
			}
		}
	}
}

// TestHTMLCorpora compares the URLs of real pages with those that the tokenizer
// of golang.org/x/net/html finds.
func TestHTMLCorpora(t *testing.T) {
	pages := corporaPages(t)
	urls := 0
	for i, page := range pages {
		page = bytes.ReplaceAll(page, []byte("noscript"), []byte("x-script")) // the tokenizer assumes that scripts run
		got, _ := htmlURLs(t, page)
		want := tokenizerURLs(page)
		for k := range want { // the tokenizer normalizes line ends
			want[k] = strings.ReplaceAll(want[k], "\r", "\n")
		}
		for k := range got {
			got[k] = strings.ReplaceAll(strings.ReplaceAll(got[k], "\r\n", "\n"), "\r", "\n")
		}
		if !slices.Equal(got, want) {
			t.Errorf("page %d: got %d URLs, want %d", i, len(got), len(want))
		}
		urls += len(got)
	}
	if len(pages) < 80 || urls < 5000 {
		t.Errorf("%d URLs in %d pages", urls, len(pages))
	}
	t.Logf("%d URLs in %d pages", urls, len(pages))
}

// corporaPages returns the HTML payloads of the web archives of the corpora.
func corporaPages(t testing.TB) (pages [][]byte) {
	t.Helper()
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the pages in WARC files of other vendors; set URLFOLD_CORPORA to the folder of the corpora")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "warc", "*", "*.warc*"))
	more, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc*"))
	for _, path := range append(files, more...) {
		in := readFile(t, path)
		if zr, err := gzip.NewReader(bytes.NewReader(in)); err == nil {
			if in, err = io.ReadAll(zr); err != nil {
				t.Fatal(err)
			}
		}
		for len(in) > 0 {
			n := archive.WARCReader{}.Next(in)
			rec := in[:n]
			in = in[n:]
			_, rest, ok := bytes.Cut(rec, []byte("\r\n\r\n"))
			header, body, http := bytes.Cut(rest, []byte("\r\n\r\n"))
			if ok && http && bytes.HasPrefix(header, []byte("HTTP/")) && bytes.Contains(bytes.ToLower(header), []byte("text/html")) && len(body) > 100 && utf8.Valid(header) {
				pages = append(pages, body)
			}
		}
	}
	return pages
}

// FuzzHTML checks that the output does not depend on how many bytes are read at
// a time, that every URL lies in the document, and that the tokenizer of
// golang.org/x/net/html finds the same ones.
func FuzzHTML(f *testing.F) {
	for i, c := range htmlCases {
		f.Add([]byte(c.doc), uint16(i))
	}
	f.Add([]byte("<meta charset=latin1><base href=http://b/><a href='\xE9?\xE9&eacute;'>"), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 8<<10)]
		c := Config{Render: RenderJSONL, Fields: []string{"url", "norm", "line", "offset", "error"}, Base: "http://h/d", Normalizer: normalizers["equiv"]}
		all, _ := readHTML(t, c, in, 1<<20)
		parts, _ := readHTML(t, c, in, 1+max(int(size), len(in)/64))
		if all != parts {
			t.Fatalf("%q, read %d bytes at a time:\n%s\nall at once:\n%s", in, 1+size, parts, all)
		}
		got, _ := htmlURLs(t, in)
		if bytes.ContainsAny(in, "\r\x00") || tokenizerErrs(in) { // the tokenizer changes line ends and NUL
			return
		}
		if want := tokenizerURLs(in); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, tokenizer %q", in, got, want)
		}
		verify(t, Config{Format: "html", Render: RenderJSONL, Fields: FieldNames(), Base: "http://h/", Normalizer: normalizers["equiv"], OnRejected: DispositionDead}, in)
	})
}

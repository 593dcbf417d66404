package record

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// xmlCases has sitemaps and feeds, and the URLs in them.
var xmlCases = []struct{ format, doc, want string }{
	{"sitemap", xmlHead + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>http://h/?a=1&amp;b=2&#38;c=&#x33;</loc><lastmod>2026-01-05</lastmod>` +
		`<xhtml:link rel="alternate" hreflang="de" href="http://h/de?a&amp;b"/><image:image><image:loc> http://h/i.png </image:loc><image:license>http://h/l</image:license></image:image>` +
		`<video:video><video:thumbnail_loc>http://h/t</video:thumbnail_loc><video:content_loc>http://h/v</video:content_loc><video:player_loc>http://h/p</video:player_loc></video:video>` +
		`<news:news><news:title>http://h/no</news:title></news:news></url></urlset>`,
		"http://h/?a=1&b=2&c=3 http://h/de?a&b http://h/i.png http://h/l http://h/t http://h/v http://h/p"},
	{"sitemap", "\xEF\xBB\xBF<!-- x --><sitemapindex><sitemap><loc>\n http://h/1.xml.gz\n</loc></sitemap><sm:sitemap><sm:loc>http://h/2</sm:loc></sm:sitemap></sitemapindex>", "http://h/1.xml.gz http://h/2"},
	{"sitemap", `<urlset><url><loc><![CDATA[ http://h/?a=1&b=2&amp;c ]]></loc></url><!-- <url><loc>http://h/no</loc></url> --><url><loc>http://h/a<!-- x -->b<![CDATA[&c]]>&amp;d</loc></url></urlset>`, "http://h/?a=1&b=2&amp;c http://h/ab&c&d"},
	{"sitemap", `<urlset><loc/><loc></loc><loc> </loc><loc a=">">http://h/1</loc><lock>http://h/no</lock><LOC>http://h/no</LOC></urlset>`, "http://h/1"},
	{"sitemap", `<urlset><url><loc>http://h/1</loc>`, "http://h/1"},
	// RSS.
	{"feed", xmlHead + `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>http://h/no</title><link>http://h/</link><atom:link href="http://h/f.xml" rel="self"/><image><url>http://h/i.png</url></image>` +
		"<item><title><![CDATA[<a href='http://h/no'>]]></title><description>&lt;a href=\"http://h/no\"&gt;</description><link>\nhttp://h/1?a&amp;b\n</link><guid>http://h/no</guid><enclosure url='http://h/e.mp3' length='1'/>" +
		`<media:content url="http://h/m"/><media:thumbnail url="http://h/t"/><source url="http://h/s">x</source><slash:comments>5</slash:comments><content:encoded><![CDATA[<link>http://h/no</link>]]></content:encoded></item></channel></rss>`,
		"http://h/ http://h/f.xml http://h/i.png http://h/1?a&b http://h/e.mp3 http://h/m http://h/t http://h/s"},
	{"feed", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://h/no"><link>http://h/1</link></channel><item rdf:about="x"><link><![CDATA[http://h/2?a&b]]></link></item></rdf:RDF>`, "http://h/1 http://h/2?a&b"},
	{"feed", "<!DOCTYPE rss PUBLIC \"-//Netscape\" \"http://h/no.dtd\" [\n<!ENTITY x \"<link>http://h/no</link>\">\n]>\n<rss version='0.91'><channel><link>http://h/&eacute;</link><link>http://h/&x;</link></channel></rss>", "http://h/%C3%A9 http://h/&x;"},
	// Atom, with bases.
	{"feed", `<feed xml:base="http://h/a/"><link href="1"/><entry xml:base="b/"><link href="2"/><content src="3"/><title>x</title></entry><entry><link href="4"/><icon>/5</icon><logo>6</logo></entry><id>http://h/no</id></feed><link href="/no"/>`,
		"http://h/a/1 http://h/a/b/2 http://h/a/b/3 http://h/a/4 http://h/5 http://h/a/6"},
	{"feed", `<feed><entry xml:base="http://h/a/"><link xml:base="b/" href="1"/><link href="2"/></entry><entry><link href="http://i/3"/></entry></feed>`, "http://h/a/b/1 http://h/a/2 http://i/3"},
	{"feed", `<feed xml:base="http://h/"><div xml:base="d/"><div><link href="1"/></div><div/><link href="2"/></div><link href="3"/></feed>`, "http://h/d/1 http://h/d/2 http://h/3"},
	{"feed", `<feed xml:base="http://h/?a&amp;b"><link href="?c"/></feed>`, "http://h/?c"},
	{"feed", `<feed xml:base="http://[/"><link href="http://h/"/></feed>`, "http://h/"},
	{"feed", `<feed><entry XML:BASE="http://h/"><link href="http://i/1"/></entry><entry xml:base="http://j/"><link href="2"/></entry></feed>`, "http://i/1 http://j/2"},
	// Encodings.
	{"feed", `<?xml version='1.0' encoding='latin1'?><rss><link>http://h/` + "\xE9&#233;<![CDATA[\xE9]]>" + `</link><enclosure url="http://h/` + "\xE9" + `"/></rss>`, "http://h/%C3%A9%C3%A9%C3%A9 http://h/%C3%A9"},
	{"sitemap", `<?xml version="1.0" encoding="latin1"?><urlset xml:base="http://h/x/"><url xml:base="` + "\xE9/" + `"><loc>a</loc></url><url><loc>` + "\xE9" + `</loc></url></urlset>`, "http://h/x/%C3%A9/a http://h/x/%C3%A9"},
}

func TestXML(t *testing.T) {
	for _, c := range xmlCases {
		for _, size := range []int{1, 7, 1 << 20} {
			if got := readDocument(t, Config{Format: c.format}, c.doc, size); got != c.want {
				t.Errorf("%s, read %d bytes at a time\n got %s\nwant %s", c.doc, size, got, c.want)
			}
		}
		if g, ok := Detect([]byte(c.doc)); !ok || g.Format != c.format {
			t.Errorf("%s\ndetected %v", c.doc, g)
		}
	}
	if got := readDocument(t, Config{Format: "feed", Base: "http://h/f/"}, `<feed><link href="a"/><entry xml:base="b/"><link href="c"/></entry><link href="d"/></feed>`, 5); got != "http://h/f/a http://h/f/b/c http://h/f/d" {
		t.Errorf("with a base: %s", got)
	}
	for _, doc := range []string{`<html><loc>http://h/</loc></html>`, `<opml><outline url="http://h/"/></opml>`, `<urlsets><loc>http://h/</loc></urlsets>`} {
		if g, ok := Detect([]byte(doc)); ok && (g.Format == "sitemap" || g.Format == "feed") {
			t.Errorf("%s: detected %v", doc, g)
		}
	}
}

// TestXMLPositions checks lines, offsets, records and counts.
func TestXMLPositions(t *testing.T) {
	doc := "<urlset>\n<url>\n<loc>\n<![CDATA[http://h/1]]></loc><xhtml:link\nhref='http://h:x'/><loc>mailto:a@h</loc><loc>http://h/2"
	c := Config{Format: "sitemap", Render: RenderTSV, Fields: []string{"line", "offset", "url", "record", "error"}, Normalizer: normalizers["equiv"]}
	got, st := readHTML(t, c, []byte(doc), 3)
	want := "4\t30\thttp://h/1\t<loc>\\n<![CDATA[http://h/1]]>\t\n5\t67\thttp://h:x\t<xhtml:link\\nhref='http://h:x'/>\tport-invalid\n5\t106\thttp://h/2\t<loc>http://h/2\t\n"
	if got != want || st.URLs != 3 || st.Skipped != 1 || st.Rejected != 1 {
		t.Errorf("got\n%s\nwant\n%s%+v", got, want, st.Skipped)
	}
	got, st = readHTML(t, c, []byte("<urlset><loc>http://h/1</loc><link href='x"), 3)
	if !strings.HasPrefix(got, "1\t13\thttp://h/1\t") || st.Rejects[Unparsed] != 1 {
		t.Errorf("cut: %s%+v", got, st.Rejects)
	}
}

// TestXMLBombs checks that declared entities are not replaced, and that nesting and
// long texts take linear time and bounded memory.
func TestXMLBombs(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("<!DOCTYPE rss [<!ENTITY a0 \"http://h/\">")
	for i := range 60 {
		fmt.Fprintf(&bomb, "<!ENTITY a%d \"&a%d;&a%d;\">", i+1, i, i)
	}
	bomb.WriteString("]><rss><link>http://h/&a60;</link></rss>")
	if got := readDocument(t, Config{Format: "feed"}, bomb.String(), 64); got != "http://h/&a60;" {
		t.Errorf("an entity is replaced: %.100s", got)
	}
	deep := "<feed>" + strings.Repeat("<entry xml:base='x/'>", 100<<10) + "<link href='http://h/1'/>" + strings.Repeat("</entry>", 100<<10) + "</feed>"
	start := time.Now()
	if got := readDocument(t, Config{Format: "feed"}, deep, 128<<10); got != "http://h/1" {
		t.Errorf("nested elements: %.100s", got)
	}
	t.Log(time.Since(start))
	long := "<rss><description>" + strings.Repeat("x &lt; ", 100<<10) + "</description><link>http://h/1</link></rss>"
	r := newJob(t, Config{Format: "feed", Render: RenderURLs, Normalizer: normalizers["equiv"]}).reader
	for rest := []byte(long); len(rest) > 0; {
		n := r.Next(rest)
		if n > 65<<10 {
			t.Fatalf("a record has %d bytes", n)
		}
		rest = rest[n:]
	}
}

// FuzzXML checks that the output does not depend on how many bytes are read at a
// time, and that reading is safe.
func FuzzXML(f *testing.F) {
	for i, c := range xmlCases {
		f.Add([]byte(c.doc), uint16(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 8<<10)]
		for _, format := range []string{"sitemap", "feed"} {
			c := Config{Format: format, Render: RenderJSONL, Fields: []string{"url", "norm", "line", "offset", "error"}, Base: "http://h/d", Normalizer: normalizers["equiv"]}
			all, _ := readHTML(t, c, in, 1<<20)
			parts, _ := readHTML(t, c, in, 1+max(int(size), len(in)/64))
			if all != parts {
				t.Fatalf("%q, read %d bytes at a time:\n%s\nall at once:\n%s", in, 1+size, parts, all)
			}
		}
	})
}

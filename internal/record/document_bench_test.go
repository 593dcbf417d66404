package record

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/markup"
	"golang.org/x/net/html"
)

// BenchmarkDocument measures a line of prose and a tag, as BenchmarkAppend does
// with records of other formats.
func BenchmarkDocument(b *testing.B) {
	f := func(format, rec string) {
		b.Run(format, func(b *testing.B) {
			w := newJob(b, Config{Format: format, Render: RenderURLs}).NewWorker()
			var st Stats
			in, out := []byte(rec), []byte(nil)
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				out, _ = w.Append(out[:0], nil, in, Position{Line: 1}, &st)
			}
		})
	}
	f("text", "On Tuesday, somebody (see http://semicomplete.com/presentations/logstash-monitorama-2013/) wrote: \"it's at https://example.com/a?b=c, I think.\"\n")
	f("html", `<a class="nav link" href="http://semicomplete.com/presentations/logstash-monitorama-2013/?a=b&amp;c=d" title="Presentations">`)
}

// BenchmarkHTML compares the location of the URLs of a document with the
// tokenizer of golang.org/x/net/html, without normalizing them.
func BenchmarkHTML(b *testing.B) {
	const item = "<li class=\"item first\" id=i1>\n  <a href=\"/path/to/page?x=1&amp;y=2\" title=\"a title\">Some text about the page</a>\n  <!-- comment --><img src=\"/img/logo.png\" alt='logo' width=16></li>\n"
	doc := []byte("<!doctype html><title>t</title><script>if (a < b) { c('</p>') }</script><ul>" + strings.Repeat(item, 500) + "</ul>")
	b.Run("ours", func(b *testing.B) {
		r := markup.HTMLFormat{}.Unlined()
		l := r.Locator()
		var f Found
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			for at := r.Cut(doc) - len(doc); at < len(doc); {
				at = max(at, 0)
				n := r.Next(doc[at:])
				f.Reset()
				l.Locate(&f, doc[at:at+n], &Position{})
				at += n
			}
		}
	})
	b.Run("tokenizer", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			z := html.NewTokenizer(bytes.NewReader(doc))
			for z.Next() != html.ErrorToken {
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}
	})
}

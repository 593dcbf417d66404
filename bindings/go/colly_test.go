// Package crawlers tests the examples of docs/how-to/crawlers.md. It is a module, so
// that crawlers are not among the dependencies of urlfold.
package crawlers

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gocolly/colly/v2"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/seen/kept"
)

// FetchOnce makes c fetch each page once, whatever the spelling of its URL.
// The keys of pages must be the keys of n at the level fetch.
func FetchOnce(c *colly.Collector, n *codec.Normalizer, pages *kept.Set) {
	c.AllowURLRevisit = true // the set decides
	c.OnRequest(func(r *colly.Request) {
		var result codec.Result
		if _, err := n.AppendString(nil, r.URL.String(), &result); err != nil {
			r.Abort()
			return
		}
		if fresh, err := pages.Add(result.Key(codec.LevelFetch)); err != nil || !fresh {
			r.Abort()
		}
	})
}

// spellings are nine spellings of two pages.
var spellings = []string{
	"/a", "/./a", "/x/../a", "/%61", "/a#top", "/b?x=1&y=2", "/b?y=2&x=1", "/b?x=1&y=2&utm_source=mail", "/%62?x=1&y=2#end",
}

// crawl crawls a site from its first page, with the set in a folder.
func crawl(t *testing.T, site, dir string) {
	t.Helper()
	n := codec.MustNamed("crawler")
	pages, err := kept.Open(dir, n, codec.LevelFetch)
	if errors.Is(err, fs.ErrNotExist) {
		pages, err = kept.Create(dir, n, codec.LevelFetch)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := colly.NewCollector()
	FetchOnce(c, n, pages)
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) }) // aborted or not
	_ = c.Visit(site)                                                                       // aborted or not
	c.Wait()
	if err := pages.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestColly crawls a site with nine spellings of two pages: two fetches after that of
// the first page, and none after a restart.
func TestColly(t *testing.T) {
	var mu sync.Mutex
	var fetched []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		fetched = append(fetched, r.URL.Path)
		w.Header().Set("Content-Type", "text/html")
		for _, link := range spellings {
			_, _ = fmt.Fprintf(w, "<a href=%q>", link)
		}
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "fetched")
	crawl(t, site.URL, dir)
	slices.Sort(fetched)
	if !slices.Equal(fetched, []string{"/", "/a", "/b"}) {
		t.Errorf("fetched %q", fetched)
	}
	fetched = nil
	if crawl(t, site.URL, dir); len(fetched) != 0 {
		t.Errorf("fetched %q after a restart", fetched)
	}
}

// TestPage checks that the page has the function as it was tested.
func TestPage(t *testing.T) {
	source, err := os.ReadFile("colly_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/how-to/crawlers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "// FetchOnce")
	function, _, _ := strings.Cut(rest, "\n}\n")
	if !strings.Contains(string(page), "// FetchOnce"+function+"\n}\n") {
		t.Error("docs/how-to/crawlers.md has another FetchOnce than colly_test.go")
	}
}

package kept_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/seen/kept"
)

// A crawler that fetches no page twice, also after a restart.
func Example() {
	dir, err := os.MkdirTemp("", "crawler")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	crawl := func(urls ...string) error {
		n := codec.MustNamed("crawler")
		pages, err := kept.Open(filepath.Join(dir, "fetched"), n, codec.LevelFetch)
		if errors.Is(err, fs.ErrNotExist) {
			pages, err = kept.Create(filepath.Join(dir, "fetched"), n, codec.LevelFetch)
		}
		if err != nil {
			return err
		}
		var r codec.Result // one for each goroutine
		for _, url := range urls {
			if _, err := n.Append(nil, []byte(url), &r); err != nil {
				continue // no URL
			}
			fresh, err := pages.Add(r.Key(codec.LevelFetch))
			if err != nil {
				return errors.Join(err, pages.Close())
			}
			if fresh {
				fmt.Println("fetch", url)
			}
		}
		return pages.Close()
	}
	fmt.Println(crawl("http://example.com/a", "http://example.com/b#top", "https://example.com/b"))
	fmt.Println(crawl("http://EXAMPLE.com/a", "http://example.com/c"))
	// Output:
	// fetch http://example.com/a
	// fetch http://example.com/b#top
	// <nil>
	// fetch http://example.com/c
	// <nil>
}

package seen_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/seen"
)

// Many goroutines share one set: each page has one that gets true.
func ExampleSet_Add() {
	n := codec.MustNamed("crawler")
	pages := seen.New(n.KeyVersion(codec.LevelFetch), 0)
	var r codec.Result
	for _, url := range []string{"http://example.com/b#top", "https://EXAMPLE.com/a/../b", "http://example.com/c"} {
		if _, err := n.Append(nil, []byte(url), &r); err != nil {
			panic(err)
		}
		fmt.Println(pages.Add(r.Key(codec.LevelFetch)), url)
	}
	fmt.Println(pages.Len(), "pages")
	// Output:
	// true http://example.com/b#top
	// false https://EXAMPLE.com/a/../b
	// true http://example.com/c
	// 2 pages
}

// A saved set refuses to become one of other keys.
func ExampleSet_ReadFrom() {
	key, err := codec.ParseKey("2049141ab99159a840de7f6654fb807e")
	if err != nil {
		panic(err)
	}
	pages := seen.New("k2-whatwg/1", 0)
	pages.Add(key)
	var file bytes.Buffer
	if _, err := pages.WriteTo(&file); err != nil {
		panic(err)
	}
	saved := file.Bytes()

	loaded := seen.New("k2-whatwg/1", 0)
	_, err = loaded.ReadFrom(bytes.NewReader(saved))
	fmt.Println(loaded.Has(key), err)

	_, err = seen.New("k3-whatwg/1", 0).ReadFrom(bytes.NewReader(saved))
	var other *seen.KeyVersionError
	fmt.Println(errors.As(err, &other), other.Saved)
	// Output:
	// true <nil>
	// true k2-whatwg/1
}

package config_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
)

// A profile of your own has a built-in profile as base, and lists of parameters that do not
// change the page. LoadProfile reads it from a file.
func ExampleParseProfile() {
	profile, policy, err := config.ParseProfile("shop.yaml", []byte(`
name: shop
base: crawler
policy:
  drop_params: [utm_*, gclid]
  site_params: ["shop.example: sort"]
`), nil)
	if err != nil {
		fmt.Println(err) // with line and column
		return
	}
	n, err := codec.New(profile, codec.WithPolicy(policy))
	if err != nil {
		fmt.Println(err)
		return
	}
	var r codec.Result
	keys := map[codec.Key]bool{}
	for _, url := range []string{"https://shop.example/a?utm_source=x&id=7", "http://www.shop.example/a?id=7&sort=up", "http://shop.example/a?id=8"} {
		if _, err := n.Append(nil, []byte(url), &r); err != nil {
			fmt.Println(err)
			continue
		}
		keys[r.Key(codec.LevelPage)] = true
	}
	fmt.Println(len(keys), "pages")
	// Output:
	// 2 pages
}

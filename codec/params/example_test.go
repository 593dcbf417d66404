package params_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// A list in plain text removes parameters from the query of a URL to fetch.
func ExampleAppendFiltered() {
	list, err := params.ParsePlain("mine", "1", []byte("gclid\nutm_*  # campaigns\n"))
	if err != nil {
		panic(err)
	}
	m, err := params.Compile(list)
	if err != nil {
		panic(err)
	}
	var s params.Scratch // one for each goroutine
	for _, query := range []string{"id=7&utm_source=x&page=2", "gclid=1"} {
		out, present, _ := params.AppendFiltered(nil, []byte(query), m, params.Site{}, &s)
		fmt.Printf("%q %v\n", out, present)
	}
	// Output:
	// "id=7&page=2" true
	// "" false
}

// A profile with a list of one's own: the default list and this one apply together.
func ExampleParsePlain() {
	ours, err := params.ParsePlain("ours", "", []byte("sessionid\n!example.com: utm_id\n"))
	if err != nil {
		panic(err)
	}
	policy := codec.DefaultPolicy()
	if policy.Params, err = params.Compile(params.Default(), ours); err != nil {
		panic(err)
	}
	n, err := codec.Named("analytics", codec.WithPolicy(policy))
	if err != nil {
		panic(err)
	}
	var r codec.Result
	for _, url := range []string{"http://example.com/?utm_source=a&SessionID=7&id=3", "http://example.com/?utm_id=1"} {
		if _, err := n.AppendString(nil, url, &r); err == nil {
			fmt.Printf("%s\n", r.AppendKey(nil, codec.LevelPage))
		}
	}
	// Output:
	// example.com/?id=3
	// example.com/?utm_id=1
}

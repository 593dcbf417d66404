package surt_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/surt"
)

func ExampleAppend() {
	key := []byte("http://www.example.com/a?b=1")
	var r codec.Result
	if err := codec.Parse(key, &r); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", surt.Append(nil, key, &r.In, surt.Options{}))
	fmt.Printf("%s\n", surt.Append(nil, key, &r.In, surt.Options{WithScheme: true, TrailingComma: true}))
	// Output:
	// com,example,www)/a?b=1
	// http://(com,example,www,)/a?b=1
}

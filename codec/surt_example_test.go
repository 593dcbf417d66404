package codec_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

func ExampleAppendSURT() {
	key := []byte("http://www.example.com/a?b=1")
	var r codec.Result
	if err := codec.Parse(key, &r); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", codec.AppendSURT(nil, key, &r.In, codec.SURTOptions{}))
	fmt.Printf("%s\n", codec.AppendSURT(nil, key, &r.In, codec.SURTOptions{WithScheme: true, TrailingComma: true}))
	// Output:
	// com,example,www)/a?b=1
	// http://(com,example,www,)/a?b=1
}

func ExampleAppendHostKey() {
	key := []byte("http://www.example.com:8080/a?b=1")
	var r codec.Result
	if err := codec.Parse(key, &r); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", codec.AppendHostKey(nil, key, &r.In))
	// Output: www.example.com:8080
}

package codec_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

func ExampleAppendHostKey() {
	key := []byte("http://www.example.com:8080/a?b=1")
	var r codec.Result
	if err := codec.Parse(key, &r); err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", codec.AppendHostKey(nil, key, &r.In))
	// Output: www.example.com:8080
}

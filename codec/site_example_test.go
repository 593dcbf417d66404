package codec_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

func ExampleAppendSite() {
	for _, private := range []bool{false, true} {
		site, ok := codec.AppendSite(nil, []byte("blog.user.github.io"), private)
		fmt.Printf("%s %v\n", site, ok)
	}
	// Output:
	// github.io true
	// user.github.io true
}

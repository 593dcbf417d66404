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

func ExampleCutWWW() {
	for _, host := range []string{"www.example.com", "www.co.uk"} {
		fmt.Printf("%s\n", codec.CutWWW([]byte(host)))
	}
	// Output:
	// example.com
	// www.co.uk
}

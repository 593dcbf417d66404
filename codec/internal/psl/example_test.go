package psl_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec/internal/psl"
)

func ExampleSuffixLen() {
	host := []byte("blog.user.github.io")
	for _, private := range []bool{false, true} {
		n, listed := psl.SuffixLen(host, private)
		fmt.Printf("%s %v\n", host[len(host)-n:], listed)
	}
	// Output:
	// io true
	// github.io true
}

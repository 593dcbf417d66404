package safebrowsing_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec/safebrowsing"
)

// The lookups for a URL that the profile gsb-v4 has made canonical.
func ExampleExpressions() {
	for _, e := range safebrowsing.Expressions([]byte("http://a.example.com/1.html?q=2"), safebrowsing.V4) {
		fmt.Println(e)
	}
	// Output:
	// a.example.com/1.html?q=2
	// a.example.com/1.html
	// a.example.com/
	// example.com/1.html?q=2
	// example.com/1.html
	// example.com/
}

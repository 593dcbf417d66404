package params_test

import (
	"fmt"

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

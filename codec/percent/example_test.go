package percent_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec/percent"
)

// AppendDecode copies a malformed escape.
func ExampleAppendDecode() {
	fmt.Printf("%s\n", percent.AppendDecode(nil, []byte("caf%C3%A9 100%")))
	// Output:
	// café 100%
}

package field_test

import (
	"fmt"

	"github.com/urlfold/urlfold/config/field"
)

func ExampleParseSize() {
	size, err := field.ParseSize("64KiB")
	fmt.Println(int64(size), size, err)
	_, err = field.ParseSize("64 apples")
	fmt.Println(err != nil)
	// Output:
	// 65536 64KiB <nil>
	// true
}

// A Secret is not printed.
func ExampleSecret() {
	fmt.Printf("%s %q %v\n", field.Secret("hunter2"), field.Secret("hunter2"), field.Secret("hunter2"))
	// Output: *** *** ***
}

package idna_test

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec/internal/idna"
)

func ExampleAppendASCII() {
	ascii, err := idna.AppendASCII(nil, []byte("Bücher.example"))
	fmt.Printf("%s %v\n", ascii, err)
	_, err = idna.AppendASCII(nil, []byte("bü\u200Dcher.example"))
	fmt.Println(err, errors.Is(err, idna.ErrJoiner))
	// Output:
	// xn--bcher-kva.example <nil>
	// idna: joiner out of context true
}

// A label whose scripts no writing system uses together stays in ASCII.
func ExampleAppendUnicode() {
	for _, domain := range []string{"xn--bcher-kva.example", "xn--pple-43d.example"} {
		fmt.Printf("%s\n", idna.AppendUnicode(nil, []byte(domain)))
	}
	// Output:
	// bücher.example
	// xn--pple-43d.example
}

// Valid and Strict report the offset of the first label that fails.
func ExampleStrict() {
	domain := []byte("a_b.example")
	fmt.Println(idna.Valid(domain))
	fmt.Println(idna.Strict(domain))
	// Output:
	// -1 <nil>
	// 0 idna: not a letter, digit or hyphen
}

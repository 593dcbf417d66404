package iri_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/iri"
)

func ExampleAppend() {
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		panic(err)
	}
	var r codec.Result
	norm, err := n.Append(nil, []byte("https://Bücher.example/gr%c3%b6%c3%9fe%2Fx?q=%E9"), &r)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", norm)
	fmt.Printf("%s\n", iri.Append(nil, norm, &r.Out))
	// Output:
	// https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe%2Fx?q=%E9
	// https://bücher.example/größe%2Fx?q=%E9
}

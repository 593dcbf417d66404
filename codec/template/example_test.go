package template_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec/template"
)

func ExampleAppend() {
	path := []byte("/user/17/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/2026-11-21/edit")
	fmt.Printf("%s\n", template.Append(nil, path))
	// Output: /user/{int}/{uuid}/{date}/edit
}

func ExampleCompile() {
	ts, err := template.Compile([]string{"/user/{int}", "/blog/{date}/{slug}"})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", ts.Append(nil, []byte("/blog/2026-11-21/urls-are-hard")))
	fmt.Printf("%s\n", ts.Append(nil, []byte("/order/17")))

	_, err = template.Compile([]string{"/user/{int}", "/order/{uuid"})
	fmt.Println(err)
	// Output:
	// /blog/{date}/{slug}
	// /order/{int}
	// path template 1, byte 7: '{' without '}'
}

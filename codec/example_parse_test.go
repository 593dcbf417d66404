package codec_test

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

func ExampleParse() {
	var r codec.Result
	src := []byte("https://user@example.com:8080/a b?q#f")
	if err := codec.Parse(src, &r); err != nil {
		panic(err)
	}
	for c := codec.Scheme; c <= codec.Fragment; c++ {
		if r.In.Has(c) {
			fmt.Printf("%-8v %s\n", c, r.In.Bytes(src, c))
		}
	}
	fmt.Println(r.Flags, r.Valid())
	// Output:
	// scheme   https
	// username user
	// host     example.com
	// port     8080
	// path     /a b
	// query    q
	// fragment f
	// raw-space,credentials false
}

// RFC 3986 has components for this URL, but browsers cannot parse it.
func ExampleError() {
	n := normalizer("whatwg")
	var r codec.Result
	_, err := n.Append(nil, []byte("http://example.com:99999/"), &r)
	var e codec.Error
	if errors.As(err, &e) {
		fmt.Println(e.Name(), r.ErrAt)
	}
	fmt.Println(errors.Is(err, codec.ErrPortInvalid), err)
	// Output:
	// port-invalid 19
	// true the port is invalid
}

// The two standards can see different hosts in the same URL.
func ExampleStandard() {
	src := []byte(`http://evil.example\@good.example/`)
	for _, profile := range []string{"rfc3986", "whatwg"} {
		n := normalizer(profile)
		var r codec.Result
		out, err := n.Append(nil, src, &r)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-7v %-12s %v\n", n.Profile().Standard, r.Out.Bytes(out, codec.Host), r.Flags.Has(codec.FlagHostAmbiguous))
	}
	// Output:
	// rfc3986 good.example true
	// whatwg  evil.example true
}

func ExampleResolve() {
	target, err := codec.Resolve(nil, []byte("http://a/b/c/d;p?q"), []byte("../g"))
	fmt.Printf("%s %v\n", target, err)
	_, err = codec.Resolve(nil, []byte("b/c"), []byte("../g"))
	fmt.Println(err)
	// Output:
	// http://a/b/g <nil>
	// byte 0: the base is not an absolute URL
}

func ExampleFlag() {
	f := codec.FlagDoubleEncoded
	fmt.Println(f, "-", f.Meaning())
	fmt.Println(f.Severity(), "by", f.Clause())
	// Output:
	// double-encoded - an escape that was escaped again: %25 followed by two hex digits
	// notice by RFC 3986 §2.4
}

func ExampleFlags_UnmarshalText() {
	var flags codec.Flags
	err := flags.UnmarshalText([]byte("nul,raw-space"))
	fmt.Println(flags.Has(codec.FlagNUL), flags.Len(), err)
	fmt.Println(flags.UnmarshalText([]byte("nul,raw-spce")))
	// Output:
	// true 2 <nil>
	// unknown flag "raw-spce"
}

func ExampleSeverity() {
	fmt.Println(codec.SeverityViolation.Flags().Has(codec.FlagRawSpace), codec.SeverityNotice.Flags().Has(codec.FlagRawSpace))
	// Output:
	// true false
}

// Flags are sets.
func ExampleFlags() {
	n := normalizer("equiv")
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://example.com/100%?a b"), &r); err != nil {
		panic(err)
	}
	fmt.Println(r.Flags)
	fmt.Println(r.Flags.Intersect(codec.SeverityViolation.Flags()))
	for f := range r.Flags.All() {
		fmt.Println(f, f.Severity())
	}
	// Output:
	// truncated,raw-space,invalid-URL-unit
	// truncated,raw-space
	// truncated violation
	// raw-space violation
	// invalid-URL-unit validation-error
}

// Diagnostics give the offset of each defect in the input.
func ExampleDiagnostic() {
	n := normalizer("rfc3986")
	var r codec.Result
	src := "http://example.com/a b%7e"
	if _, err := n.Append(nil, []byte(src), &r); err != nil {
		panic(err)
	}
	for _, d := range r.Diagnostics {
		fmt.Printf("%d %v: %v, %v: %q\n", d.At, d.Component, d.Flag, d.Action, src[d.At:])
	}
	// Output:
	// 20 path: raw-space, encoded: " b%7e"
	// 22 path: lower-hex, recased: "%7e"
	// 22 path: needless-escape, decoded: "%7e"
}

// Spans count from the start of the text that the URL describes.
func ExampleURL_Span() {
	n := normalizer("equiv")
	var r codec.Result
	out, err := n.Append([]byte("GET "), []byte("HTTP://EXAMPLE.com/a"), &r)
	if err != nil {
		panic(err)
	}
	norm := out[len("GET "):]
	span := r.Out.Span(codec.Host)
	fmt.Printf("%d %d %s\n", span.Start, span.Len(), span.In(norm))
	// Output:
	// 7 11 example.com
}

func ExampleHostKind() {
	var r codec.Result
	for _, src := range []string{"http://example.com/", "http://127.0.0.1/", "http://[::1]/", "mailto:a@b"} {
		if err := codec.Parse([]byte(src), &r); err != nil {
			panic(err)
		}
		switch r.In.HostKind() {
		case codec.HostRegName:
			fmt.Println("name")
		case codec.HostIPv4, codec.HostIPv6:
			fmt.Println("address")
		case codec.HostNone:
			fmt.Println("none")
		}
	}
	// Output:
	// name
	// address
	// address
	// none
}

// Names are checked when they are parsed.
func ExampleNameError() {
	_, err := codec.ParseLevel("k4")
	var unknown *codec.NameError
	fmt.Println(errors.As(err, &unknown), unknown.What, unknown.Name)
	fmt.Println(err)
	// Output:
	// true level k4
	// unknown level "k4"
}

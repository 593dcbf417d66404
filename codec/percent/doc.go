// Package percent handles the percent-encoding of URLs: the bytes that each
// component must escape under each standard, encoding and decoding,
// normalization of the escapes in a component, and defects of escapes.
//
// An escape is a '%' followed by two hexadecimal digits in either case. Any
// other '%' is a malformed percent-encoding, called a malformed '%' below. The
// distinction is made once, on the input, from left to right. All functions
// work on one component at a time (a path, a query, one value), because the
// meaning of a byte depends on its component. None of them interprets the
// delimiters of a URL.
//
// The package does no I/O, has no global state, allocates only to grow dst, and
// does not panic, whatever the input.
package percent

// The files of this package:
//
//	set.go     ByteSet, the generated sets, and the classes of bytes
//	lookup.go  sets by the names of standard and component
//	encode.go  from data to escaped text; reserved.go escapes delimiters as well
//	decode.go  from escaped text to data
//	normal.go  AppendNormal: the normal form of a component
//	defect.go  AppendDefectsOf: defects of the escapes in a component
//	double.go  double escapes
//	utf8.go    escaped UTF-8 and the ways in which it can be ill-formed
//	table.go   the bits of the sets; a test makes it from the rules of the standards

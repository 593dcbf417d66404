// Package percent knows the percent-escapes of URLs: which bytes each component of each standard cannot hold raw,
// how data becomes escaped text and back, how the escapes of a component are normalized, and what can be wrong with them.
//
// A triplet is '%' followed by two hex digits in either case; any other '%' is stray. Both are told apart on the bytes as
// given, left to right, once. All functions take one component at a time (a path, a query, one value), because what a byte
// means depends on where it stands; none of them knows the delimiters of a URL.
//
//	set.go     Set, the generated sets, and the classes of bytes
//	lookup.go  sets by the names of standard and component
//	encode.go  data to escaped text
//	decode.go  escaped text to data
//	normal.go  a component to its normal form: AppendNormal
//	defect.go  what is wrong with the escapes of a component: AppendDefects
//	utf8.go    escaped UTF-8 and its ill-formed kinds
//	chart.go   the chart of what must be escaped where
//	gen.go     the rules of all sets, as their standards write them
//
// The package is pure: it does no I/O, keeps no state, allocates nothing but the growth of dst, and panics on no input.
package percent

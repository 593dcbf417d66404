package locate

// Divider is implemented by Locators of records with other separators.
type Divider interface {
	// Divide appends to dst the ranges of rec between its fields. These ranges
	// stay as they are, and no hidden value extends across one of them. f is
	// what Locate has found in rec. If rec does not match the format, Divide
	// appends nothing.
	Divide(dst []Span, rec []byte, f *Found) []Span
}

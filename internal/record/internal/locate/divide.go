package locate

// Divider is implemented by Locators that know the separators between the
// fields of a record. Where values are hidden, no value extends across a
// separator.
type Divider interface {
	// Divide appends to dst the ranges of rec that separate its fields. These
	// ranges stay unchanged. f holds the results of Locate for rec. If rec does
	// not match the format, Divide appends nothing.
	Divide(dst []Span, rec []byte, f *Found) []Span
}

package locate

// Divider is implemented by Locators of records with other separators.
type Divider interface {
	// Divide appends what is between the fields of a record: ranges that stay as they
	// are, and that no hidden value goes beyond. If rec does not match the format, it
	// appends nothing; f is what Locate has found in it.
	Divide(dst []Span, rec []byte, f *Found) []Span
}

package engine

// As returns a source, a sink or a codec as a T, or the first of its parts that is one.
// It is how the optional interfaces of a component are found.
//
// A component that passes its work on to others lists them in Parts, so that what they
// can do is not lost. Their parts count, too.
func As[T any](component any) (t T, ok bool) {
	if t, ok = component.(T); ok {
		return t, true
	}
	if p, has := component.(interface{ Parts() []any }); has {
		for _, part := range p.Parts() {
			if t, ok = As[T](part); ok {
				return t, true
			}
		}
	}
	return t, false
}

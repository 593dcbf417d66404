package engine

// As returns a source, a sink or a codec as a T, or the first of its parts that is one.
// The pipeline finds the optional interfaces of a component in this way.
//
// A component that passes its work on to other components lists them in Parts, so that
// As also finds the interfaces of these components and of their parts.
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

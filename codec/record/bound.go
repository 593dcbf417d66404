package record

// Integers are the integers of a record that its format knows to be written without
// needless zeros, as status and bytes of most records are, and lengths. Each has a number
// below 16.
type Integers struct {
	known  uint16 // bit n: the record has integer number n
	values [16]uint64
}

// IntegerOf returns the number of the output field FieldNames()[i] in [Integers]. It is 15,
// which no record has, if the field can be no integer.
func IntegerOf(i int) uint8 {
	if f := fieldID(i); ofAttrs.has(f) {
		return uint8(attrOf[f])
	}
	return 15
}

// LengthOf returns the number of the length of the output field FieldNames()[i] in bytes.
// ok is false if no record is known to store it.
func LengthOf(i int) (number uint8, ok bool) { return uint8(methodLength), fieldID(i) == fMethod }

// has reports whether the record has an integer.
func (n *Integers) has(id attrID) bool { return n.known>>id&1 != 0 }

// A Bound is a condition about an integer of a record: it is one of those from Least to
// Least+Width. After the greatest integer, they continue at 0.
type Bound struct {
	Integer      uint8 // its number
	Least, Width uint64
}

// Has reports whether n is one of the integers of b.
func (b *Bound) Has(n uint64) bool { return n-b.Least <= b.Width }

// Holds reports whether b holds for a record. known is false if the record does not have
// the integer.
func (b *Bound) Holds(have *Integers) (holds, known bool) {
	n := b.Integer & 15
	return b.Has(have.values[n]), have.known>>n&1 != 0
}

// Bounds is a list of at least one Bound. A record passes if each of them holds or, with
// Any, if at least one does.
type Bounds struct {
	Any   bool
	list  []Bound
	known uint16 // the integers of list
}

// Add adds a bound.
func (b *Bounds) Add(one Bound) {
	b.list = append(b.list, one)
	b.known |= 1 << one.Integer
}

// Hold reports whether a record passes. known is false if it does not have all of the
// integers.
func (b *Bounds) Hold(have *Integers) (hold, known bool) {
	hold = !b.Any
	for i := range b.list {
		if one := &b.list[i]; one.Has(have.values[one.Integer&15]) != hold {
			hold = b.Any
			break
		}
	}
	return hold, have.known&b.known == b.known
}

// boundsOnly is implemented by Conditions that may be nothing but bounds. Bounds returns
// these, or nil.
type boundsOnly interface{ Bounds() *Bounds }

// boundsOf returns the bounds that are all of c, or nil.
func boundsOf(c Condition) *Bounds {
	if c, ok := c.(boundsOnly); ok {
		return c.Bounds()
	}
	return nil
}

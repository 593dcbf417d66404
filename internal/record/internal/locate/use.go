package locate

// MsUnlessDecimal is the unit of durations that are seconds if they have a
// decimal point, and milliseconds otherwise.
const MsUnlessDecimal = -2

// Use says what a field of a record holds: a part of the URL, or something else
// about the request. A format can define further uses, from NumUses on, for
// fields that it reads according to their position.
type Use uint8

// Uses of fields.
const (
	UseNone    Use = iota // the field is not used
	UseURL                // an absolute URL
	UseTarget             // a request target with its query
	UseRequest            // a request line
	UsePath               // a request target whose query may be in another field
	UseQuery
	UseScheme
	UseTLS // reports whether the scheme is https
	UseHost
	UsePort
	UseMethod
	UseReferer
	UseAttr // the first attribute; the others follow in the order of AttrID
	NumUses = UseAttr + Use(NumAttrs)
)

// Uses of fields that are attributes.
const (
	UseTime      = UseAttr + Use(AttrTime)
	UseStatus    = UseAttr + Use(AttrStatus)
	UseBytes     = UseAttr + Use(AttrBytes)
	UseDuration  = UseAttr + Use(AttrDuration)
	UseClient    = UseAttr + Use(AttrClient)
	UseAgent     = UseAttr + Use(AttrAgent)
	UseRequestID = UseAttr + Use(AttrRequestID)
)

// IsAttr reports whether the field is an attribute.
func (u Use) IsAttr() bool { return u >= UseAttr && u < NumUses }

// Attr returns the attribute that the field is.
func (u Use) Attr() AttrID { return AttrID(u - UseAttr) }

// valueKind says what a field of a record holds.
type valueKind uint8

// Kinds of values.
const (
	ValueMissing valueKind = iota
	ValueEmpty             // null, false, or an empty text
	ValueText              // a text or a number
	ValueOther             // true, an object or an array
)

// FieldValue is the value of a field that a record may have.
type FieldValue struct {
	Span
	Kind    valueKind
	Dialect *Dialect
}

// isText reports whether the value is a text other than "-".
func (v *FieldValue) isText(rec []byte) bool {
	return v.Kind == ValueText && (v.End-v.Start != 1 || rec[v.Start] != '-')
}

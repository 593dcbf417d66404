package params

import "slices"

// Location is the component of a URL that contains a parameter.
// Not covered by the stability page.
type Location uint8

// Locations of a parameter.
const (
	InQuery Location = iota
	InPath
)

var locationNames = []string{"query", "path"}

// String returns the location's name: "query".
func (l Location) String() string { return wordOf(locationNames, int(l)) }

// LocationNames returns the names of the locations in a new slice.
// Not covered by the stability page.
func LocationNames() []string { return append([]string(nil), locationNames...) }

// Style is the serialization of a parameter's value (OpenAPI 3.1.1 §4.8.12.3,
// based on RFC 6570). Not covered by the stability page.
type Style uint8

// Styles of a parameter.
const (
	StyleDefault        Style = iota // form in a query, simple in a path
	StyleForm                        // query: color=blue,black, or color=blue&color=black
	StyleSpaceDelimited              // query: color=blue%20black; also '+' and a raw space
	StylePipeDelimited               // query: color=blue%7Cblack; also a raw '|'
	StyleDeepObject                  // query: color%5BR%5D=100; also raw brackets
	StyleSimple                      // path: blue,black
	StyleLabel                       // path: .blue,black, or .blue.black
	StyleMatrix                      // path: ;color=blue,black, or ;color=blue;color=black
)

var styleNames = []string{"", "form", "spaceDelimited", "pipeDelimited", "deepObject", "simple", "label", "matrix"}

// String returns the OpenAPI name of the style: "pipeDelimited". The name of
// StyleDefault is empty.
func (s Style) String() string { return wordOf(styleNames, int(s)) }

// StyleNames returns the names of all styles in a new slice.
// Not covered by the stability page.
func StyleNames() []string { return append([]string(nil), styleNames[1:]...) }

// ValueType is the type of a parameter's value. Not covered by the stability page.
type ValueType uint8

// Types of a value.
const (
	TypeDefault ValueType = iota // object for deepObject, array for other styles
	TypeString                   // one value; delimiters are data
	TypeArray                    // ordered values
	TypeObject                   // properties, each a name and a value
)

var typeNames = []string{"", "string", "array", "object"}

// String returns the type's name: "array". The name of TypeDefault is empty.
func (t ValueType) String() string { return wordOf(typeNames, int(t)) }

// TypeNames returns the names of all types in a new slice.
// Not covered by the stability page.
func TypeNames() []string { return append([]string(nil), typeNames[1:]...) }

// Explode reports whether each item of an array or object has its own field.
// Not covered by the stability page.
type Explode uint8

// Values of Explode. Not covered by the stability page.
const (
	ExplodeDefault Explode = iota // ExplodeYes for form and deepObject, ExplodeNo for other styles
	ExplodeNo
	ExplodeYes
)

// Declaration describes how one parameter is written, like an OpenAPI parameter
// object. Not covered by the stability page.
type Declaration struct {
	Name    string // compared with decoded names, byte by byte
	In      Location
	Style   Style
	Explode Explode
	Type    ValueType
	// Properties are the property names of an exploded object of style form or
	// matrix, for which the URL contains only the names of the properties
	// (R=100&G=200). If Properties is empty, the object gets every field that
	// no other declaration names.
	Properties []string
	// Path is the template of the paths that contain the parameter, such as
	// /users/{id}, if In is InPath. Each {name} is a whole segment, and {Name}
	// must occur. The styles simple and label need a template, because the URL
	// does not contain the name. Without a template, a parameter of style
	// matrix is found in any segment. Literal segments are compared after
	// decoding.
	Path string
}

// wordOf returns names[i], or "unknown".
func wordOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// ParseStyle returns the style with the given OpenAPI name.
// Not covered by the stability page.
func ParseStyle(name string) (s Style, ok bool) {
	i := slices.Index(styleNames[1:], name)
	return Style(i + 1), i >= 0
}

// ParseLocation returns the location with the given name.
// Not covered by the stability page.
func ParseLocation(name string) (l Location, ok bool) {
	i := slices.Index(locationNames, name)
	return Location(max(i, 0)), i >= 0
}

// ParseValueType returns the type with the given name. Not covered by the stability page.
func ParseValueType(name string) (t ValueType, ok bool) {
	i := slices.Index(typeNames[1:], name)
	return ValueType(i + 1), i >= 0
}

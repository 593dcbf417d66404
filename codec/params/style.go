package params

import "slices"

// A Location says in which component of a URL a parameter stands.
type Location uint8

// The locations.
const (
	InQuery Location = iota
	InPath
)

var locationNames = []string{"query", "path"}

// String returns the location's name: "query".
func (l Location) String() string { return wordOf(locationNames, int(l)) }

// LocationNames returns the names of the locations. The result is the caller's.
func LocationNames() []string { return append([]string(nil), locationNames...) }

// A Style says how the value of a parameter is written (OpenAPI 3.1.1 §4.8.12.3, after RFC 6570).
type Style uint8

// The styles.
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

// String returns the style's name in OpenAPI: "pipeDelimited". That of StyleDefault is empty.
func (s Style) String() string { return wordOf(styleNames, int(s)) }

// StyleNames returns the names of all styles. The result is the caller's.
func StyleNames() []string { return append([]string(nil), styleNames[1:]...) }

// A ValueType is the shape of a parameter's value.
type ValueType uint8

// The types.
const (
	TypeDefault ValueType = iota // object for deepObject, array for all other styles
	TypeString                   // one value, delimiters in it are data
	TypeArray                    // values in order
	TypeObject                   // properties, each a name and a value
)

var typeNames = []string{"", "string", "array", "object"}

// String returns the type's name: "array". That of TypeDefault is empty.
func (t ValueType) String() string { return wordOf(typeNames, int(t)) }

// TypeNames returns the names of all types. The result is the caller's.
func TypeNames() []string { return append([]string(nil), typeNames[1:]...) }

// Explode says whether each item of an array or object has a field of its own.
type Explode uint8

// The values of Explode.
const (
	ExplodeDefault Explode = iota // yes for form and deepObject, no for all other styles
	ExplodeNo
	ExplodeYes
)

// A Declaration says how one parameter is written, in the words of an OpenAPI parameter object.
type Declaration struct {
	Name    string // compared with decoded names, byte by byte
	In      Location
	Style   Style
	Explode Explode
	Type    ValueType
	// Properties are the names of the properties of an object of style form or matrix that is exploded: then the URL has
	// the names of the properties only (R=100&G=200). Without Properties, the object has every field that no other
	// declaration names.
	Properties []string
	// Path is the template of the paths in which a parameter in a path stands, such as /users/{id}: each {name} is a whole
	// segment, and one of them is {Name}. The styles simple and label need it, since the URL does not name them; without
	// it, a parameter of style matrix is found in any segment. Literal segments are compared decoded.
	Path string
}

// wordOf returns names[i], or "unknown".
func wordOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// ParseStyle returns the style of that name in OpenAPI.
func ParseStyle(name string) (s Style, ok bool) {
	i := slices.Index(styleNames[1:], name)
	return Style(i + 1), i >= 0
}

// ParseLocation returns the location of that name.
func ParseLocation(name string) (l Location, ok bool) {
	i := slices.Index(locationNames, name)
	return Location(max(i, 0)), i >= 0
}

// ParseValueType returns the type of that name.
func ParseValueType(name string) (t ValueType, ok bool) {
	i := slices.Index(typeNames[1:], name)
	return ValueType(i + 1), i >= 0
}

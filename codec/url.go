package codec

import "iter"

// A Component names one part of a URL.
type Component uint8

// The components, in the order in which they occur in a URL.
const (
	Scheme   Component = iota // without the ':'
	Username                  // without the ':' or '@'
	Password                  // without the ':' or '@'
	Host                      // with the brackets of an IP literal
	Port                      // digits only
	Path                      // never absent, but may be empty
	Query                     // without the '?'
	Fragment                  // without the '#'

	numComponents = iota

	// WholeURL is used in a [Step] for a rule that changes more than one
	// component, or text between components. A URL never has it.
	WholeURL Component = numComponents
)

var componentNames = []string{"scheme", "username", "password", "host", "port", "path", "query", "fragment", "url"}

// String returns the component's name, such as "scheme", or "unknown".
func (c Component) String() string { return nameOf(c, componentNames) }

// A Span is a half-open range of byte offsets.
type Span struct{ Start, End uint32 }

// Len returns the length of the span in bytes.
func (s Span) Len() int { return int(s.End - s.Start) }

// In returns the bytes of b that the span covers. The capacity of the result
// ends with the span, so appending to it copies and cannot overwrite what
// follows in b.
func (s Span) In(b []byte) []byte { return b[s.Start:s.End:s.End] }

// A HostKind classifies the host. The zero HostKind is HostNone.
type HostKind uint8

// The kinds of host.
const (
	HostNone       HostKind = iota // no authority, or an authority with an empty host
	HostRegName                    // a registered name, RFC 3986 §3.2.2
	HostIPv4                       // four decimal numbers with dots
	HostIPv6                       // [::1]
	HostIPvFuture                  // [v1.x]
	HostBadLiteral                 // brackets around other text
	HostOpaque                     // any other host of a URL whose scheme is not special; WHATWG only
)

// A URL holds the offsets of the components of a URL in a byte slice, but not
// the slice itself. The offsets in Result.In count from the start of src, and
// those in Result.Out from the first appended byte, so they remain valid when
// dst grows and moves. The zero URL is the empty relative reference. A URL is
// 72 bytes long, contains no pointer, and may be copied and stored freely.
//
//	https://user:pass@example.com:1234/foo/bar?baz#quux
//	|    |  |   |    ||           |   |        |   |
//	Scheme  User Pass Host        Port Path    Query Fragment
//
// Userinfo needs no span: it is Username followed, if Password is present, by
// ":" and Password.
type URL struct {
	spans   [numComponents]Span
	present uint8 // bit c is set if Component c is present
	kind    HostKind
	port    uint16
	flags   uint8 // hasAuthority, portOK
}

const (
	hasAuthority = 1 << iota // "//" is present, even if nothing follows it
	portOK                   // port holds a number
)

// Has reports whether c is present. A component can be present and empty: "/a?"
// has an empty query, "/a" has no query.
func (u *URL) Has(c Component) bool { return u.present>>c&1 != 0 }

// Components yields the components that are present, in their order.
func (u *URL) Components() iter.Seq[Component] {
	return func(yield func(Component) bool) {
		for c := range Component(numComponents) {
			if u.Has(c) && !yield(c) {
				return
			}
		}
	}
}

// Span returns the range of c. If c is absent, the span is zero.
func (u *URL) Span(c Component) Span {
	if c >= numComponents {
		return Span{}
	}
	return u.spans[c]
}

// Bytes returns the bytes of c in b, which must be the text that u describes.
// The result is a subslice of b. It is nil if c is absent, and empty but not
// nil if c is present and empty.
func (u *URL) Bytes(b []byte, c Component) []byte {
	if !u.Has(c) {
		return nil
	}
	return u.Span(c).In(b)
}

// HasAuthority reports whether the URL has an authority, even an empty one:
// "file:///x" has one, "file:/x" does not. Host is present if and only if there
// is an authority.
func (u *URL) HasAuthority() bool { return u.flags&hasAuthority != 0 }

// HostKind returns the kind of the host.
func (u *URL) HostKind() HostKind { return u.kind }

// PortNumber returns the port, and whether the URL has a port from 0 to 65535.
// Not covered by the stability page.
func (u *URL) PortNumber() (port uint16, ok bool) { return u.port, u.flags&portOK != 0 }

func (u *URL) set(c Component, start, end int) {
	u.spans[c] = Span{uint32(start), uint32(end)}
	u.present |= 1 << c
}

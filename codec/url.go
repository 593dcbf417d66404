package codec

// A Component names one part of a URL.
type Component uint8

// The components, in the order in which they stand in a URL.
const (
	Scheme   Component = iota // without the ':'
	Username                  // without the ':' or '@'
	Password                  // without the ':' or '@'
	Host                      // with the brackets of an IP literal
	Port                      // digits only
	Path                      // may be empty, is never absent
	Query                     // without the '?'
	Fragment                  // without the '#'

	numComponents = iota

	// WholeURL stands in a [Step] for the URL, where a rule changes more than one
	// component or what stands between them. No URL has it.
	WholeURL Component = numComponents
)

var componentNames = []string{"scheme", "username", "password", "host", "port", "path", "query", "fragment", "url"}

// String returns the component's name: "scheme", "username", …
func (c Component) String() string { return nameOf(c, componentNames) }

// ParseComponent returns the component of that name.
func ParseComponent(name string) (Component, error) {
	return parseName[Component]("component", name, componentNames)
}

// A Span is a half-open range of byte offsets.
type Span struct{ Start, End uint32 }

// Len returns the length of the span.
func (s Span) Len() int { return int(s.End - s.Start) }

// In returns the bytes of b that the span covers. The capacity of the result
// ends with the span: appending to it copies and cannot spoil its neighbour.
func (s Span) In(b []byte) []byte { return b[s.Start:s.End:s.End] }

// A HostKind says how the host was read.
type HostKind uint8

// The kinds of host.
const (
	NoHost     HostKind = iota // no authority, or one with an empty host
	RegName                    // a registered name, RFC 3986 §3.2.2
	IPv4                       // four decimal numbers with dots
	IPv6                       // [::1]
	IPvFuture                  // [v1.x]
	BadLiteral                 // brackets around something else
	OpaqueHost                 // any other host of a URL that is not special, WHATWG reading only
)

// A URL records where the components of a URL lie in a byte slice that it does
// not hold. The zero URL is the empty relative reference. It holds no pointer,
// is 72 bytes long, and may be copied and stored freely.
//
//	https://user:pass@example.com:1234/foo/bar?baz#quux
//	|    |  |   |    ||           |   |        |   |
//	Scheme  User Pass Host        Port Path    Query Fragment
//
// Userinfo has no span of its own: it is Username, and ":" Password if that is
// present.
type URL struct {
	spans   [numComponents]Span
	present uint8 // bit c is set if Component c is present
	kind    HostKind
	port    uint16
	flags   uint8 // portOK, authority
}

const (
	hasAuthority = 1 << iota // "//" was there, even if nothing follows it
	portOK                   // port holds a number
)

// Has reports whether c is present. A component can be present and empty: the
// query of "/a?" is, that of "/a" is absent.
func (u *URL) Has(c Component) bool { return u.present>>(c&7)&1 != 0 }

// Span returns where c lies. If c is absent, the span is empty.
func (u *URL) Span(c Component) Span { return u.spans[c&7] }

// Bytes returns the bytes of c in b, which must be the bytes that u describes.
// The result is nil if c is absent, and empty but not nil if c is present and
// empty.
func (u *URL) Bytes(b []byte, c Component) []byte {
	if !u.Has(c) {
		return nil
	}
	return u.spans[c&7].In(b)
}

// HasAuthority reports whether the URL has an authority, even an empty one:
// "file:///x" has, "file:/x" has not. A host is present exactly then.
func (u *URL) HasAuthority() bool { return u.flags&hasAuthority != 0 }

// HostKind says how the host was read.
func (u *URL) HostKind() HostKind { return u.kind }

// PortNumber returns the port, and whether there is one from 0 to 65535.
func (u *URL) PortNumber() (port uint16, ok bool) { return u.port, u.flags&portOK != 0 }

func (u *URL) set(c Component, start, end int) {
	u.spans[c] = Span{uint32(start), uint32(end)}
	u.present |= 1 << c
}

package record

// A Dialect is the way in which a kind of log or table escapes bytes. The zero Dialect is
// the usual one of the format; its name is empty.
type Dialect uint8

// Dialects. Formats of logs and tables refuse a Dialect that does not apply to them.
const (
	DialectNginx     Dialect = iota + 1 // nginx: the default of nginx, \xXX
	DialectNginxJSON                    // nginx-json: escape=json of nginx
	DialectApache                       // apache: C escapes
	DialectBackslash                    // backslash: in tables, a backslash makes the next byte literal
	DialectNone                         // none: all text is literal
)

var dialectNames = []string{"", "nginx", "nginx-json", "apache", "backslash", "none"}

// String returns the name of the dialect.
func (d Dialect) String() string { return nameOf(dialectNames, d) }

// MarshalText implements encoding.TextMarshaler: the name.
func (d Dialect) MarshalText() ([]byte, error) {
	_, err := parse("dialect", dialectNames, d.String())
	return []byte(d.String()), err
}

// UnmarshalText implements encoding.TextUnmarshaler. The error for an unknown name is a
// *codec.NameError.
func (d *Dialect) UnmarshalText(text []byte) error {
	i, err := parse("dialect", dialectNames, string(text))
	if err == nil {
		*d = Dialect(i)
	}
	return err
}

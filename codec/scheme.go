package codec

// A knownScheme is a scheme that the codec has rules for.
type knownScheme uint8

const (
	schemeOther knownScheme = iota
	schemeHTTP
	schemeHTTPS
	schemeWS
	schemeWSS
	schemeFTP
	schemeFile
)

// lookupScheme looks up a scheme in lower case.
func lookupScheme(name []byte) knownScheme {
	switch string(name) {
	case "http":
		return schemeHTTP
	case "https":
		return schemeHTTPS
	case "ws":
		return schemeWS
	case "wss":
		return schemeWSS
	case "ftp":
		return schemeFTP
	case "file":
		return schemeFile
	}
	return schemeOther
}

// lookupAnyCase looks up a scheme in any case.
func lookupAnyCase(name []byte) knownScheme {
	if len(name) > len("https") {
		return schemeOther
	}
	var buf [len("https")]byte
	return lookupScheme(appendLower(buf[:0], name))
}

// isWeb reports whether the scheme is http, https, ws or wss.
func (s knownScheme) isWeb() bool { return schemeHTTP <= s && s <= schemeWSS }

// hasRoot reports whether an empty path means "/" (RFC 9110 §4.2.3, RFC 6455 §3,
// RFC 1738 §3.2).
func (s knownScheme) hasRoot() bool { return schemeHTTP <= s && s <= schemeFTP }

// port returns the default port, or "none" for the other schemes
// (https://url.spec.whatwg.org/#special-scheme).
func (s knownScheme) port() string {
	switch s {
	case schemeHTTP, schemeWS:
		return "80"
	case schemeHTTPS, schemeWSS:
		return "443"
	case schemeFTP:
		return "21"
	}
	return "none"
}

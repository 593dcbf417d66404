package percent

import (
	"fmt"
	"strings"
)

// lookup lists the sets by their names on the command line, in the order in
// which the command line lists them.
var lookup = []struct {
	standard, component string
	set                 ByteSet
}{
	{"rfc3986", "path-segment", RFC3986PathSegment},
	{"rfc3986", "path", RFC3986Path},
	{"rfc3986", "query", RFC3986Query},
	{"rfc3986", "query-name", RFC3986QueryName},
	{"rfc3986", "query-value", RFC3986QueryValue},
	{"rfc3986", "fragment", RFC3986Fragment},
	{"rfc3986", "userinfo", RFC3986Userinfo},
	{"rfc3986", "host", RFC3986Host},
	{"whatwg", "path-segment", WHATWGPathSegment},
	{"whatwg", "path", WHATWGPath},
	{"whatwg", "query", WHATWGSpecialQuery},
	{"whatwg", "query-name", WHATWGQueryName},
	{"whatwg", "query-value", WHATWGQueryValue},
	{"whatwg", "fragment", WHATWGFragment},
	{"whatwg", "userinfo", WHATWGUserinfo},
	{"whatwg", "host", WHATWGHost},
	{"rfc1738", "path-segment", RFC1738PathSegment},
	{"rfc1738", "path", RFC1738Path},
	{"rfc1738", "query", RFC1738Query},
	{"rfc1738", "query-name", RFC1738QueryName},
	{"rfc1738", "query-value", RFC1738QueryValue},
	{"rfc1738", "fragment", RFC1738Fragment},
	{"rfc1738", "userinfo", RFC1738Userinfo},
	{"form", "query-name", WHATWGForm},
	{"form", "query-value", WHATWGForm},
}

// Lookup returns the set for a component (path-segment, path, query,
// query-name, query-value, fragment, userinfo or host) under a standard
// (rfc3986, whatwg, rfc1738 or form). It returns an error if a name is unknown
// or if the component cannot have escapes: form has only names and values, and
// an RFC 1738 host cannot contain escapes (§5, hostname). Under whatwg, query
// is the query of a special scheme such as http.
// Not covered by the stability page.
func Lookup(standard, component string) (ByteSet, error) {
	for _, l := range lookup {
		if l.standard == standard && l.component == component {
			return l.set, nil
		}
	}
	has := Components(standard)
	if has == nil {
		return None, errUnknownStandard(standard)
	}
	return None, fmt.Errorf("unknown component %q for standard %s: must be one of %s", component, standard, strings.Join(has, ", "))
}

func errUnknownStandard(name string) error {
	return fmt.Errorf("unknown standard %q: must be one of %s", name, strings.Join(Standards(), ", "))
}

// Standards returns the names of the standards that [Lookup] accepts.
// Not covered by the stability page.
func Standards() []string {
	var names []string
	for _, l := range lookup {
		if len(names) == 0 || names[len(names)-1] != l.standard {
			names = append(names, l.standard)
		}
	}
	return names
}

// Components returns the names of the components that can have escapes under
// the standard, or nil if the standard is unknown. Not covered by the stability page.
func Components(standard string) []string {
	var names []string
	for _, l := range lookup {
		if l.standard == standard {
			names = append(names, l.component)
		}
	}
	return names
}

package locate

import (
	"slices"
	"strconv"
	"strings"
)

// Named says what a field with one of several names holds.
type Named struct {
	Use   Use
	Rank  uint8 // among several fields with a URL or a host, the field with the lowest rank counts
	Unit  int8  // unit of a duration; see Attr.Unit and MsUnlessDecimal
	Names []string
}

// useNames are the names of the uses up to UseReferer in tables for ParseNames. The attributes
// have their AttrNames.
var useNames = [...]string{
	UseURL: "url", UseTarget: "target", UseRequest: "request", UsePath: "path", UseQuery: "query", UseScheme: "scheme",
	UseTLS: "tls", UseHost: "host", UsePort: "port", UseMethod: "method", UseReferer: "referer",
}

// unitNames are the names of the units of durations in tables for ParseNames.
var unitNames = map[string]int8{"": 0, "ms": 3, "us": 6, "ns": 9, "stated": NoUnit, "ms-unless-decimal": MsUnlessDecimal}

// ParseNames reads a table of the fields of a format. Each line has a use, with its rank or
// unit if that is not 0, and the names of the fields:
//
//	target       request_uri
//	host:1       host server_name
//	duration:ms  took
//
// own maps the names of uses that only this table has. ParseNames panics if the
// table has an error, which tests find because they open every format.
func ParseNames(table string, own map[string]Use) (list []Named) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := strings.Fields(line)
		name, detail, _ := strings.Cut(words[0], ":")
		n := Named{Names: words[1:]}
		if i := slices.Index(useNames[:], name); i >= 0 {
			n.Use = Use(i)
		} else if i := slices.Index(AttrNames[:], name); i >= 0 {
			n.Use = UseAttr + Use(i)
		} else {
			n.Use = own[name]
		}
		unit, known := unitNames[detail]
		rank, err := strconv.ParseUint(detail, 10, 8)
		if n.Use == UseNone || !known && err != nil {
			panic("BUG: a table of names has the use " + words[0])
		}
		n.Rank, n.Unit = uint8(rank), unit
		list = append(list, n)
	}
	return list
}

package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/suggest"
)

// A fieldID names an output field.
type fieldID uint8

const (
	fURL fieldID = iota
	fNorm
	fKey
	fLevel
	fChange
	fFlags
	fDiagnostics
	fScheme
	fUsername
	fHost
	fPort
	fPath
	fQuery
	fFragment
	fError
	fRecord
	fFile
	fLine
	fOffset
	fProfile
	fTarget
	fMethod
	fForm
	fK0
	fK1
	fRFC
	fWHATWG
	fK2
	fK3
	fSite
	fSURT
	fTemplate
	fCampaign
	fClickIDs
	fIRI
	fParams
	numFields
)

// fieldNames holds the fields' names, which are a contract with the world.
var fieldNames = []string{
	"url", "norm", "key", "level", "change", "flags", "diagnostics",
	"scheme", "username", "host", "port", "path", "query", "fragment",
	"error", "record", "file", "line", "offset", "profile", "target", "method", "form", "k0", "k1", "rfc",
	"whatwg", "k2", "k3", "site", "surt", "template", "campaign", "click_ids", "iri", "params",
}

// componentOf holds the component that a field shows.
var componentOf = [numFields]codec.Component{
	fScheme: codec.Scheme, fUsername: codec.Username, fHost: codec.Host, fPort: codec.Port,
	fPath: codec.Path, fQuery: codec.Query, fFragment: codec.Fragment,
}

// A fieldSet is a set of fields.
type fieldSet uint64

func (s fieldSet) has(f fieldID) bool { return s>>f&1 != 0 }

// FieldNames returns the names of all output fields. The result is the caller's.
func FieldNames() []string { return append([]string(nil), fieldNames...) }

// setFields reads Fields. Blanks around a name do not count.
func (j *Job) setFields(names []string) error {
	if len(names) == 0 {
		names = fieldNames[:fError+1]
	}
	var errs []error
	for k, name := range names {
		i, err := suggest.Index("field", fieldNames, strings.TrimSpace(name))
		if err != nil {
			errs = append(errs, in(fmt.Sprintf("Fields[%d]", k), err))
			continue
		}
		if slices.Contains(j.fields, fieldID(i)) {
			errs = append(errs, wrong(fmt.Sprintf("Fields[%d]", k), "the field "+fieldNames[i]+" is there twice"))
		}
		j.fields = append(j.fields, fieldID(i))
		j.wants |= 1 << i
	}
	if j.render != RenderJSONL && j.render != RenderTSV {
		j.wants = 0 // the other renderings have no fields
	}
	return errors.Join(errs...)
}

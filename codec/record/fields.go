package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/suggest"
)

// fieldID identifies an output field.
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
	fTime
	fStatus
	fBytes
	fDuration
	fClient
	fAgent
	fReferer
	fVHost
	fRequestID
	fKeyID
	fParamsEdition
	fPSLEdition
	fUnicode
	fSpecDate
	fSurface
	numFields
)

// fieldNames holds the names of the fields. They are part of the output format
// and must not change.
var fieldNames = []string{
	"url", "norm", "key", "level", "change", "flags", "diagnostics",
	"scheme", "username", "host", "port", "path", "query", "fragment",
	"error", "record", "file", "line", "offset", "profile", "target", "method", "form", "k0", "k1", "rfc",
	"whatwg", "k2", "k3", "site", "surt", "template", "campaign", "click_ids", "iri", "params",
	"time", "status", "bytes", "duration", "client", "agent", "referer", "vhost", "request_id",
	"key_id", "params_edition", "psl_edition", "unicode", "spec_date", "surface",
}

// componentOf maps fields to the component that they show.
var componentOf = [numFields]codec.Component{
	fScheme: codec.Scheme, fUsername: codec.Username, fHost: codec.Host, fPort: codec.Port,
	fPath: codec.Path, fQuery: codec.Query, fFragment: codec.Fragment,
}

// fieldSet is a set of fields.
type fieldSet uint64

func (s fieldSet) has(f fieldID) bool { return s>>f&1 != 0 }

// FieldNames returns the names of all output fields in a new slice.
func FieldNames() []string { return append([]string(nil), fieldNames...) }

// setFields sets the fields to write. It ignores white space around a name.
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
			errs = append(errs, wrong(fmt.Sprintf("Fields[%d]", k), "duplicate field "+fieldNames[i]))
		}
		j.fields = append(j.fields, fieldID(i))
		j.wants |= 1 << i
	}
	if !j.render.hasFields() {
		j.wants = 0
	}
	return errors.Join(errs...)
}

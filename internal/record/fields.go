package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
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
	fSyntax
	fEquivalent
	fRFC
	fWHATWG
	fFetch
	fPage
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
	fShape
	numFields
)

// outputFields describes the fields. The names are part of the output format
// and must not change.
var outputFields = [numFields]Column{
	fURL:           {Name: "url"},
	fNorm:          {Name: "norm"},
	fKey:           {Name: "key"},
	fLevel:         {Name: "level", Repeats: true},
	fChange:        {Name: "change", Repeats: true},
	fFlags:         {Name: "flags", Kind: ColumnStrings, Repeats: true},
	fDiagnostics:   {Name: "diagnostics", Kind: ColumnDiagnostics},
	fScheme:        {Name: "scheme", Repeats: true},
	fUsername:      {Name: "username", Repeats: true},
	fHost:          {Name: "host", Repeats: true},
	fPort:          {Name: "port", Repeats: true},
	fPath:          {Name: "path"},
	fQuery:         {Name: "query"},
	fFragment:      {Name: "fragment"},
	fError:         {Name: "error", Repeats: true},
	fRecord:        {Name: "record"},
	fFile:          {Name: "file", Repeats: true},
	fLine:          {Name: "line", Kind: ColumnInt},
	fOffset:        {Name: "offset", Kind: ColumnInt},
	fProfile:       {Name: "profile", Repeats: true},
	fTarget:        {Name: "target", Repeats: true},
	fMethod:        {Name: "method", Repeats: true},
	fForm:          {Name: "form", Repeats: true},
	fSyntax:        {Name: "syntax"},
	fEquivalent:    {Name: "equivalent"},
	fRFC:           {Name: "rfc", Repeats: true},
	fWHATWG:        {Name: "whatwg", Repeats: true},
	fFetch:         {Name: "fetch"},
	fPage:          {Name: "page"},
	fSite:          {Name: "site", Repeats: true},
	fSURT:          {Name: "surt"},
	fTemplate:      {Name: "template"},
	fCampaign:      {Name: "campaign", Kind: ColumnJSON},
	fClickIDs:      {Name: "click_ids", Kind: ColumnJSON},
	fIRI:           {Name: "iri"},
	fParams:        {Name: "params", Kind: ColumnJSON},
	fTime:          {Name: "time", Kind: ColumnTime},
	fStatus:        {Name: "status", Kind: ColumnInt},
	fBytes:         {Name: "bytes", Kind: ColumnInt},
	fDuration:      {Name: "duration", Kind: ColumnDecimal},
	fClient:        {Name: "client", Repeats: true},
	fAgent:         {Name: "agent", Repeats: true},
	fReferer:       {Name: "referer"},
	fVHost:         {Name: "vhost", Repeats: true},
	fRequestID:     {Name: "request_id"},
	fKeyID:         {Name: "key_id", Repeats: true},
	fParamsEdition: {Name: "params_edition", Repeats: true},
	fPSLEdition:    {Name: "psl_edition", Repeats: true},
	fUnicode:       {Name: "unicode", Repeats: true},
	fSpecDate:      {Name: "spec_date", Repeats: true},
	fShape:         {Name: "shape"},
}

var fieldNames = func() (names []string) {
	for _, f := range outputFields {
		names = append(names, f.Name)
	}
	return names
}()

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

// FieldName returns the name of the output field that a user calls name. A
// field with a key is named after the level of the key. FieldName also accepts
// the short name of the level: it returns "page" for "k3".
func FieldName(name string) string {
	if lv, err := codec.ParseLevel(name); err == nil {
		return lv.String()
	}
	return name
}

// Fields returns a Column for each output field, in the order of FieldNames:
// the main column that RenderParquet writes for the field, without Members.
func Fields() []Column { return slices.Clone(outputFields[:]) }

// setFields sets the fields to write. It ignores white space around a name.
func (j *Job) setFields(names []string) error {
	if len(names) == 0 {
		names = fieldNames[:fError+1]
	}
	var errs []error
	for k, name := range names {
		i, err := j.fieldNamed(strings.TrimSpace(name))
		if err != nil {
			errs = append(errs, locate.About(fmt.Sprintf("Fields[%d]", k), err))
			continue
		}
		if slices.Contains(j.fields, i) {
			errs = append(errs, locate.Wrong(fmt.Sprintf("Fields[%d]", k), "duplicate field "+j.column(i).Name))
		}
		j.fields = append(j.fields, i)
		j.wants |= 1 << i
	}
	if !j.render.HasFields() {
		j.wants = 0
	}
	return errors.Join(errs...)
}

// ofJob is the set of fields that have the same value for every record. They
// name the data that the other fields depend on: results of two runs are
// comparable if these fields are equal.
const ofJob fieldSet = 1<<fProfile | 1<<fKeyID | 1<<fParamsEdition | 1<<fPSLEdition | 1<<fUnicode | 1<<fSpecDate

// setConstants sets the values of the fields in ofJob.
func (j *Job) setConstants(n *codec.Normalizer) {
	for f, value := range map[fieldID]string{
		fProfile:       n.Profile().Name,
		fKeyID:         n.KeyFunction(j.level),
		fParamsEdition: n.PolicyVersions(j.level),
		fPSLEdition:    codec.SiteListVersion(),
		fUnicode:       codec.UnicodeVersion,
		fSpecDate:      codec.SpecDate,
	} {
		if value != "" || f == fProfile {
			j.constants[f] = []byte(value)
		}
	}
}

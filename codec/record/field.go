package record

import "github.com/urlfold/urlfold/internal/record"

// Field is an output field. docs/reference/fields.md describes the fields.
// Numbers of fields can change between versions, but names cannot: store
// [Field.String].
type Field uint8

// The output fields, each with its name.
const (
	FieldURL           Field = iota // url
	FieldNorm                       // norm
	FieldKey                        // key
	FieldLevel                      // level
	FieldChange                     // change
	FieldFlags                      // flags
	FieldDiagnostics                // diagnostics
	FieldScheme                     // scheme
	FieldUsername                   // username
	FieldHost                       // host
	FieldPort                       // port
	FieldPath                       // path
	FieldQuery                      // query
	FieldFragment                   // fragment
	FieldError                      // error
	FieldRecord                     // record
	FieldFile                       // file
	FieldLine                       // line
	FieldOffset                     // offset
	FieldProfile                    // profile
	FieldTarget                     // target
	FieldMethod                     // method
	FieldForm                       // form
	FieldSyntax                     // syntax
	FieldEquivalent                 // equivalent
	FieldRFC                        // rfc
	FieldWHATWG                     // whatwg
	FieldFetch                      // fetch
	FieldPage                       // page
	FieldSite                       // site
	FieldSURT                       // surt
	FieldTemplate                   // template
	FieldCampaign                   // campaign
	FieldClickIDs                   // click_ids
	FieldIRI                        // iri
	FieldParams                     // params
	FieldTime                       // time
	FieldStatus                     // status
	FieldBytes                      // bytes
	FieldDuration                   // duration
	FieldClient                     // client
	FieldAgent                      // agent
	FieldReferer                    // referer
	FieldVHost                      // vhost
	FieldRequestID                  // request_id
	FieldKeyID                      // key_id
	FieldParamsEdition              // params_edition
	FieldPSLEdition                 // psl_edition
	FieldUnicode                    // unicode
	FieldSpecDate                   // spec_date
	FieldShape                      // shape
)

var fieldNames = record.FieldNames()

// ParseField returns the field with the given name. The error for an unknown name is a
// *codec.NameError, which suggests a similar one. The fields of key levels also have the
// short names of the levels: k0 to k3, and surface.
func ParseField(name string) (Field, error) {
	i, err := parse("field", fieldNames, record.FieldName(name))
	return Field(i), err
}

// String returns the name of the field, such as "status".
func (f Field) String() string { return nameOf(fieldNames, f) }

// MarshalText implements encoding.TextMarshaler: the name.
func (f Field) MarshalText() ([]byte, error) {
	_, err := ParseField(f.String())
	return []byte(f.String()), err
}

// UnmarshalText implements encoding.TextUnmarshaler. It accepts the names that
// ParseField accepts.
func (f *Field) UnmarshalText(text []byte) (err error) {
	*f, err = ParseField(string(text))
	return err
}

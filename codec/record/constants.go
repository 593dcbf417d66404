package record

import "github.com/urlfold/urlfold/codec"

// ofJob is the set of fields that have the same value for every record. They
// name the data that the other fields depend on: results of two runs are
// comparable if these fields are equal.
const ofJob fieldSet = 1<<fProfile | 1<<fKeyID | 1<<fParamsEdition | 1<<fPSLEdition | 1<<fUnicode | 1<<fSpecDate

// setConstants sets the values of these fields.
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

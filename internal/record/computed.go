package record

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file computes fields that are written as expressions, such as param("q").

// A Computed is an immutable computed field.
type Computed struct {
	name  string
	of    fieldID // the field that it is computed from
	part  func(v *values, of []byte) ([]byte, bool)
	param string // name of the parameter in param(…)
	kind  ColumnKind
}

// timeParts are the functions of time. Their results are in the zone of the record.
var timeParts = map[string]func(v *values, t []byte) ([]byte, bool){
	"hour": func(_ *values, t []byte) ([]byte, bool) {
		if t[11] == '0' {
			return t[12:13], true
		}
		return t[11:13], true
	},
	"day":   func(_ *values, t []byte) ([]byte, bool) { return t[:10], true },
	"month": func(_ *values, t []byte) ([]byte, bool) { return t[:7], true },
	"week": func(v *values, t []byte) ([]byte, bool) {
		var at locate.Stamp
		ok := at.Parse(t, nil)
		v.computed = at.AppendWeek(v.computed[:0])
		return v.computed, ok
	},
	"utc": func(v *values, t []byte) ([]byte, bool) {
		var at locate.Stamp
		ok := at.Parse(t, nil)
		at.ToUTC()
		v.computed = at.AppendTo(v.computed[:0])
		return v.computed, ok
	},
}

// ComputedForms are the forms of the names that ParseComputed accepts, for messages.
func ComputedForms() []string {
	return []string{`param("NAME")`, "campaign.source", "campaign.medium", "campaign.name", "campaign.term", "campaign.content", "campaign.id", "decoded", "hour(time)", "day(time)", "week(time)", "month(time)", "utc(time)"}
}

// ParseComputed returns the computed field called name, and false if name is not the name
// of one.
func ParseComputed(name string) (c *Computed, ok bool) {
	if field, is := strings.CutPrefix(name, "campaign."); is {
		return &Computed{name: name, of: fQuery, param: field, part: (*values).campaignField}, slices.Contains(ComputedForms(), name)
	}
	if name == "decoded" {
		return &Computed{name: name, of: fNorm, part: func(v *values, _ []byte) ([]byte, bool) { return v.decodedURL(), true }}, true
	}
	function, arg, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	if part := timeParts[function]; part != nil && name == function+"(time)" {
		c = &Computed{name: name, of: fTime, part: part}
		if function == "hour" {
			c.kind = ColumnInt
		}
		return c, true
	}
	if function != "param" || !strings.HasSuffix(name, ")") {
		return nil, false
	}
	if n := len(arg); n > 1 && arg[0] == arg[n-1] && (arg[0] == '"' || arg[0] == '\'') {
		arg = arg[1 : n-1]
	}
	return &Computed{name: "param(" + strconv.Quote(arg) + ")", of: fQuery, param: arg, part: (*values).paramValue}, arg != ""
}

// Source returns the output field that c is computed from, as an index in FieldNames.
func (c *Computed) Source() int { return int(c.of) }

// Name returns the name of c, with quotes in the form that ParseComputed accepts.
func (c *Computed) Name() string { return c.name }

// IsNumber reports whether the values of c are numbers.
func (c *Computed) IsNumber() bool { return c.kind == ColumnInt }

// maxComputed is the maximum number of computed fields of a job: a fieldSet has
// 64 bits.
const maxComputed = 64 - int(numFields)

// fieldNamed returns the field called name. The error suggests a similar name.
func (j *Job) fieldNamed(name string) (fieldID, error) {
	c, ok := ParseComputed(name)
	if !ok {
		i, err := suggest.Index("field", fieldNames, FieldName(name))
		return fieldID(i), err
	}
	i := slices.IndexFunc(j.computed, func(d *Computed) bool { return d.name == c.name })
	if i < 0 {
		if len(j.computed) == maxComputed {
			return 0, fmt.Errorf("too many computed fields: the limit is %d", maxComputed)
		}
		i = len(j.computed)
		j.computed = append(j.computed, c)
	}
	j.reads |= 1 << c.of
	return numFields + fieldID(i), nil
}

// column returns the column of a field of the job.
func (j *Job) column(f fieldID) Column {
	if f < numFields {
		return outputFields[f]
	}
	c := j.computed[f-numFields]
	return Column{Name: c.name, Kind: c.kind, Repeats: true}
}

// isNumber reports whether a field is a number.
func (j *Job) isNumber(f fieldID) bool {
	kind := j.column(f).Kind
	return kind == ColumnInt || kind == ColumnDecimal
}

// memberName returns the name of a field in a JSON object.
func (j *Job) memberName(f fieldID) string {
	if f < numFields {
		return fieldNames[f]
	}
	return string(locate.AppendString(nil, []byte(j.computed[f-numFields].name)))
}

// compute returns a computed field of the current URL, and whether it is present.
func (v *values) compute(c *Computed, rec []byte) (value []byte, ok bool) {
	switch c.of {
	case fTime:
		value, ok = v.attr(fTime, rec)
	case fNorm:
		ok = v.n.cur.why == 0
	default:
		value, ok = v.shownComponent(c.of)
	}
	if !ok {
		return nil, false
	}
	v.arg = c.param
	return c.part(v, value)
}

// paramValue returns the decoded value of the first parameter called v.arg.
func (v *values) paramValue(query []byte) ([]byte, bool) {
	v.n.pairs = params.AppendPairs(v.n.pairs[:0], query)
	for _, p := range v.n.pairs {
		v.computed = params.AppendName(v.computed[:0], p.Name(query))
		if string(v.computed) == v.arg {
			v.computed = params.AppendName(v.computed[:0], p.Value(query))
			return v.computed, true
		}
	}
	return nil, false
}

// campaignField returns the campaign field called v.arg.
func (v *values) campaignField(query []byte) ([]byte, bool) {
	v.n.pairs = params.AppendPairs(v.n.pairs[:0], query)
	for _, p := range v.campaign(query) {
		if p.name == v.arg {
			v.computed = params.AppendName(v.computed[:0], p.value.Value(query))
			return v.computed, true
		}
	}
	return nil, false
}

// decodedURL returns the normal form as people read it: with the host in Unicode, and with
// the path and the query decoded, if they are text.
func (v *values) decodedURL() []byte {
	text := v.iri()
	path, query, has := bytes.Cut(text, []byte("?"))
	v.computed = percent.AppendDecode(v.computed[:0], path)
	if has {
		v.computed = percent.AppendDecodeForm(append(v.computed, '?'), query)
	}
	if !utf8.Valid(v.computed) || bytes.ContainsFunc(v.computed, unicode.IsControl) {
		return text
	}
	return v.computed
}

// Compute sets the computed fields that Field returns for indexes from len(FieldNames())
// on.
func (v *View) Compute(list []*Computed) { v.computed = list }

// computedField is Field for the index i of a computed field.
func (v *View) computedField(i int) ([]byte, bool) {
	if i >= len(v.computed) { // the zero View
		return nil, false
	}
	c := v.computed[i]
	if !v.present.has(c.of) {
		return nil, false
	}
	value, ok := v.w.v.compute(c, v.rec)
	if c.of == fTime {
		v.note(fTime, ok)
	}
	return value, ok
}

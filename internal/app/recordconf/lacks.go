package recordconf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/app/where"
	"github.com/urlfold/urlfold/internal/record"
)

// CheckConditions checks that the conditions of c read only fields that records of one
// of the jobs can have, below the header head if head is not nil: a comparison with any
// other field has the same result for every record. The error joins a
// [record.ConfigError] for each field of a condition. Fields that the condition tests
// with has are allowed. formats are the formats of the jobs, and mapping is how the
// user maps a field, with %s for its name.
func CheckConditions(jobs []*record.Job, formats []string, c *record.Config, head []byte, mapping string) error {
	check := func(field string, condition record.Condition) (err error) {
		e, ok := condition.(*where.Expression)
		if !ok {
			return nil
		}
		for _, i := range e.Untested() {
			if !slices.ContainsFunc(jobs, func(job *record.Job) bool { return !job.Lacks(i, head) }) {
				err = errors.Join(err, mistake(field, lacks(jobs, formats, e.At(i), record.FieldNames()[i], mapping)))
			}
		}
		return err
	}
	err := check("Where", c.Where)
	for i, b := range c.Route {
		err = errors.Join(err, check(fmt.Sprintf("Route[%d]", i), b.When))
	}
	return err
}

// lacks returns the error for a field that records of jobs never have.
func lacks(jobs []*record.Job, formats []string, at, field, mapping string) error {
	format := "the format " + strings.Join(formats, ", and of the format ")
	if strings.ContainsAny(format, "$%") {
		format = "this log format"
	}
	if slices.ContainsFunc(jobs, (*record.Job).Maps) {
		mapping = " map it with " + fmt.Sprintf(mapping, field) + ", or"
	} else {
		mapping = ""
	}
	return fmt.Errorf("%s: records of %s never have the field %s, so every comparison with the field has the same result;%s if you want this comparison, put has(%[3]s) before it",
		at, format, field, mapping)
}

// Unmet returns the fields that the conditions of c read although none of the records that
// st counts had them, without those in a test with has.
func Unmet(c *record.Config, st *record.Stats) (fields []string) {
	conditions := []record.Condition{c.Where}
	for _, b := range c.Route {
		conditions = append(conditions, b.When)
	}
	for i, name := range record.AttributeNames() {
		reads := func(condition record.Condition) bool {
			e, ok := condition.(*where.Expression)
			return ok && slices.Contains(e.Untested(), slices.Index(record.FieldNames(), name))
		}
		if st.Lacking[i] > 0 && st.Having>>i&1 == 0 && slices.ContainsFunc(conditions, reads) {
			fields = append(fields, name)
		}
	}
	return fields
}

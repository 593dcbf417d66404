package recordconf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/app/where"
	"github.com/urlfold/urlfold/internal/record"
)

// CheckConditions checks that the conditions of c read only fields that records
// of job can have: a comparison with any other field is false for every record.
// The error joins a [record.ConfigError] for each condition that does not.
// Fields that the condition tests with has are allowed.
func CheckConditions(job *record.Job, c *record.Config) error {
	errs := []error{mistake("Where", checkCondition(job, c.Format, c.Where))}
	for i, b := range c.Route {
		errs = append(errs, mistake(fmt.Sprintf("Route[%d]", i), checkCondition(job, c.Format, b.When)))
	}
	return errors.Join(errs...)
}

func checkCondition(job *record.Job, format string, c record.Condition) error {
	e, ok := c.(*where.Expression)
	if !ok {
		return nil
	}
	var missing []string
	names := record.FieldNames()
	for _, i := range e.Untested() {
		if job.Lacks(i) {
			missing = append(missing, names[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	what := "the format " + format
	if strings.ContainsAny(format, "$%") {
		what = "this log format"
	}
	return fmt.Errorf("records of %s never have the field %s, so every comparison with it is false; if that is intended, test it with has(%s)",
		what, strings.Join(missing, " or "), missing[0])
}

package daemon

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/record"
)

// RunTests runs the test cases of a configuration. It processes each URL as a
// record of format lines, with the normalization settings of f and the base of
// its first source. It ignores a base that refers to a field, because no record
// has the field. It returns the number of failed cases; the error joins a
// *config.Error with its position for each failed expectation.
func (cat *Catalog) RunTests(f *config.File) (failed int, err error) {
	cs, err := cat.newCases(f)
	if err != nil {
		return 0, err
	}
	var errs []error
	for i := range f.Tests {
		wrong := cs.run(&f.Tests[i])
		if len(wrong) > 0 {
			failed++
		}
		for _, x := range wrong {
			errs = append(errs, f.ShowAt(fmt.Sprintf("tests[%d].%s", i, x.key), x.err))
		}
	}
	return failed, errors.Join(errs...)
}

// cases runs test cases sequentially.
type cases struct {
	level   codec.Level
	workers [codec.LevelShape + 1]*record.Worker // nil for LevelMatch unless the profile has such keys
	show    *record.Worker                       // masks passwords
}

// newCases returns a runner for the test cases of f.
func (cat *Catalog) newCases(f *config.File) (*cases, error) {
	rc, err := cat.recordConfig(f, &f.Sources[0], nil, allSound) // the cases are lines
	if err != nil {
		return nil, err
	}
	c := &cases{level: rc.Level}
	t := record.Config{
		Format: "lines", Render: record.RenderTSV, Fields: []string{"norm", "flags", "key"}, OnRejected: record.DispositionDead,
		Repairs: rc.Repairs, Secrets: rc.Secrets, Params: rc.Params, RejectFlags: rc.RejectFlags, RejectNotHTTP: rc.RejectNotHTTP, Normalizer: rc.Normalizer,
	}
	if !strings.Contains(rc.Base, "{") {
		t.Base = rc.Base
	}
	for t.Level = codec.LevelSyntax; t.Level <= codec.LevelShape; t.Level++ {
		if t.Level == codec.LevelMatch && rc.Normalizer.Profile().Match == "" {
			continue
		}
		job, err := record.New(t)
		if err != nil {
			return nil, recordErrors(f, &f.Sources[0], err, allSound)
		}
		c.workers[t.Level] = job.NewWorker()
	}
	t.Level, t.Redact = rc.Level, redact.OrPasswords(rc.Redact)
	job, err := record.New(t)
	if err != nil {
		return nil, recordErrors(f, &f.Sources[0], err, allSound)
	}
	c.show = job.NewWorker()
	return c, nil
}

// A failure is a failed expectation and the key that states it.
type failure struct {
	key string
	err error
}

// run runs a case and returns its failures.
func (c *cases) run(t *config.Test) []failure {
	level := c.level
	if lv, err := codec.ParseLevel(t.Key); err == nil {
		level = lv
	}
	switch {
	case t.URL != "":
		return c.url(t)
	case t.SameKey != nil:
		return c.sameKey(t.SameKey, level)
	default:
		return c.differentKey(t.DifferentKey, level)
	}
}

// An outcome is the result of processing a URL.
type outcome struct {
	norm, key string
	flags     []string
	why       string // reason or flag for which the URL is rejected; "" if it is not
}

// outcomeOf processes a URL.
func outcomeOf(w *record.Worker, url string) outcome {
	var st record.Stats
	out, dead := w.Append(nil, nil, []byte(url), record.Position{}, &st)
	if len(dead) > 0 {
		var letter struct{ Reason, Flag string }
		if err := json.Unmarshal(dead, &letter); err != nil {
			return outcome{why: err.Error()}
		}
		return outcome{why: cmp.Or(letter.Flag, letter.Reason)}
	}
	cells := strings.Split(strings.TrimSuffix(string(out), "\n"), "\t")
	if len(cells) < 3 {
		return outcome{why: "no URL"} // a blank line
	}
	o := outcome{norm: cells[0], key: cells[2]}
	if cells[1] != "" {
		o.flags = strings.Split(cells[1], ",")
	}
	return o
}

// url compares the outcome of a URL with the expected outcome.
func (c *cases) url(t *config.Test) []failure {
	o := outcomeOf(c.workers[c.level], t.URL)
	if t.Reject != o.why {
		return []failure{{"url", fmt.Errorf("got %s, want %s", rejection(o.why), rejection(t.Reject))}}
	}
	var failed []failure
	if t.Norm != "" && o.norm != t.Norm {
		failed = append(failed, failure{"norm", fmt.Errorf("got normal form %s", outcomeOf(c.show, t.URL).norm)})
	}
	if t.Flags == nil {
		return failed
	}
	want := slices.Sorted(slices.Values(t.Flags))
	slices.Sort(o.flags)
	if !slices.Equal(o.flags, want) {
		failed = append(failed, failure{"flags", fmt.Errorf("got flags [%s]", strings.Join(o.flags, ", "))})
	}
	return failed
}

// rejection describes whether and why a URL is rejected.
func rejection(why string) string {
	if why == "" {
		return "a normal form"
	}
	return "rejection: " + why
}

const noKey = "the URL is rejected and has no key"

func (c *cases) sameKey(urls []string, lv codec.Level) []failure {
	var failed []failure
	first := outcomeOf(c.workers[lv], urls[0])
	for i, u := range urls {
		o := outcomeOf(c.workers[lv], u)
		key := fmt.Sprintf("same_key[%d]", i)
		switch {
		case o.why != "":
			failed = append(failed, failure{key, errors.New(noKey)})
		case first.why == "" && o.key != first.key:
			failed = append(failed, failure{key, fmt.Errorf("%v key differs from the key of the first URL", lv)})
		}
	}
	return failed
}

func (c *cases) differentKey(urls []string, lv codec.Level) []failure {
	var failed []failure
	seen := map[string]int{}
	for i, u := range urls {
		o := outcomeOf(c.workers[lv], u)
		key := fmt.Sprintf("different_key[%d]", i)
		other, met := seen[o.key]
		switch {
		case o.why != "":
			failed = append(failed, failure{key, errors.New(noKey)})
		case met:
			failed = append(failed, failure{key, fmt.Errorf("%v key is equal to the key of different_key[%d]", lv, other)})
		default:
			seen[o.key] = i
		}
	}
	return failed
}

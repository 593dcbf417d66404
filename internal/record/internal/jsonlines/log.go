package jsonlines

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LogFormat is a format of the table Logs.
type LogFormat struct{ *Log }

// LogFormats returns the formats of the table Logs.
func LogFormats() (formats []locate.Format) {
	for i := range Logs {
		formats = append(formats, LogFormat{&Logs[i]})
	}
	return formats
}

// IsJSONLog reports whether name is the name of a built-in format whose records
// are JSON objects with fields of known names. The format jsonl reads such
// records too, if a Config names the fields with the URL.
func IsJSONLog(name string) bool {
	for i := range Logs {
		if Logs[i].ID == name {
			return true
		}
	}
	return false
}

// Name implements [locate.Format].
func (j LogFormat) Name() string { return j.ID }

// Detect implements [locate.Format].
func (j LogFormat) Detect(s *locate.Sample) locate.Fit {
	if !slices.ContainsFunc(s.Records, opensObject) { // saves most of the work for other files
		return locate.Fit{}
	}
	var tree fieldTree
	var marks [][]int // indexes of the values of each list of landmarks
	for _, list := range j.Landmarks {
		var mark []int
		for field := range strings.FieldsSeq(list) {
			mark = append(mark, tree.add(MustParsePath(field)))
		}
		marks = append(marks, mark)
	}
	values := make([]locate.FieldValue, tree.Values)
	w := j.wrapper()
	return s.Count(locate.LooksLikeJSONLog, func(rec []byte) bool {
		clear(values)
		scan := Scanner{B: rec}
		if w.Member == nil || !w.unwrap(&scan) {
			scan.Space()
		}
		tree.Find(&scan, values)
		return !scan.Broken && hasLandmarks(values, marks) && !bytes.Contains(rec, []byte(`}{"`)) // several objects are a document
	})
}

// hasLandmarks reports whether one value of each list is present.
func hasLandmarks(values []locate.FieldValue, marks [][]int) bool {
	for _, mark := range marks {
		found := false
		for _, i := range mark {
			found = found || values[i].Kind == locate.ValueText || values[i].Kind == locate.ValueEmpty
		}
		if !found {
			return false
		}
	}
	return true
}

// MustParsePath is ParsePath for a path in the source code. It panics if the
// path is invalid.
func MustParsePath(text string) []Step {
	path, err := ParsePath(text)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // a test opens every format
	}
	return path
}

// wrapper returns the framing of the format.
func (j LogFormat) wrapper() wrapper {
	if j.Wrapped == "" {
		return wrapper{}
	}
	return wrapper{Member: []byte(j.Wrapped)}
}

// Open implements [locate.Format].
func (j LogFormat) Open(c *locate.Settings) (locate.Reader, error) {
	errs := []error{c.RefuseFields(), c.RefuseDialect(), c.CheckRequestHost(true)}
	parts := j.Parts()
	if !slices.ContainsFunc(parts, func(p locate.Named) bool { return p.Use == locate.UseReferer }) {
		errs = append(errs, c.RefuseReferer())
	}
	r := &PartsReader{Reader: &Reader{}, wrapper: j.wrapper()}
	for _, p := range []*fieldPlan{&r.lean, &r.Full} {
		p.composer = locate.Composer{Target: c.Target, Optional: true, Whole: locate.RoleTarget, Plain: j.plain}
		if j.whole {
			p.composer.Whole = locate.RoleURL
		}
		if j.foreign != "" {
			p.composer.Foreign = []byte(j.foreign)
		}
	}
	for _, n := range c.NamedFields() {
		path, err := ParsePath(n.Name)
		if !n.Given || err != nil {
			errs = append(errs, locate.About("Map", err))
			break
		}
		r.Full.addSource(n.LogUse(), path, n.Unit)
		if n.LogUse() < locate.UseAttr {
			r.lean.addSource(n.LogUse(), path, n.Unit)
		}
	}
	for _, p := range parts {
		for _, field := range p.Names {
			path := MustParsePath(field)
			r.Full.addSource(p.Use, path, p.Unit)
			if p.Use < locate.UseAttr {
				r.lean.addSource(p.Use, path, p.Unit)
			}
		}
	}
	r.setExtensions(c)
	if j.Wrapped != "" {
		return WrappedReader{r}, errors.Join(errs...)
	}
	return r, errors.Join(errs...)
}

// WrappedReader is a PartsReader whose lines can hold several records.
type WrappedReader struct{ *PartsReader }

// Multiline implements [locate.LineCounter].
func (WrappedReader) Multiline() {}

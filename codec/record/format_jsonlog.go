package record

import (
	"errors"
	"fmt"
	"slices"
)

// jsonLogFormat is a format of the table jsonLogs.
type jsonLogFormat struct{ *jsonLog }

// jsonLogFormats returns the formats of the table jsonLogs.
func jsonLogFormats() (formats []Format) {
	for i := range jsonLogs {
		formats = append(formats, jsonLogFormat{&jsonLogs[i]})
	}
	return formats
}

// IsJSONLog reports whether name is the name of a built-in format whose records
// are JSON objects with fields of known names. The format jsonl reads such
// records too, if a Config names the fields with the URL.
func IsJSONLog(name string) bool {
	for i := range jsonLogs {
		if jsonLogs[i].name == name {
			return true
		}
	}
	return false
}

// Name implements [Format].
func (j jsonLogFormat) Name() string { return j.name }

// Detect implements [Format].
func (j jsonLogFormat) Detect(s *Sample) Fit {
	if !slices.ContainsFunc(s.Records, opensObject) { // saves most of the work for other files
		return Fit{}
	}
	var tree fieldTree
	var marks [][]int // indexes of the values of each list of landmarks
	for _, list := range j.landmarks {
		var mark []int
		for _, field := range list {
			mark = append(mark, tree.add(mustParsePath(field)))
		}
		marks = append(marks, mark)
	}
	values := make([]fieldValue, tree.values)
	w := j.wrapper()
	return s.count(looksLikeJSONLog, func(rec []byte) bool {
		clear(values)
		scan := scanner{b: rec}
		if w.member == nil || !w.unwrap(&scan) {
			scan.space()
		}
		tree.find(&scan, values)
		return !scan.broken && hasLandmarks(values, marks)
	})
}

// hasLandmarks reports whether one value of each list is present.
func hasLandmarks(values []fieldValue, marks [][]int) bool {
	for _, mark := range marks {
		found := false
		for _, i := range mark {
			found = found || values[i].kind == valueText || values[i].kind == valueEmpty
		}
		if !found {
			return false
		}
	}
	return true
}

// mustParsePath parses a field path of the table jsonLogs.
func mustParsePath(text string) []step {
	path, err := parsePath(text)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // a test opens every format
	}
	return path
}

// wrapper returns the framing of the format.
func (j jsonLogFormat) wrapper() wrapper {
	if j.wrapped == "" {
		return wrapper{}
	}
	return wrapper{member: []byte(j.wrapped)}
}

// Open implements [Format].
func (j jsonLogFormat) Open(c *Config) (Reader, error) {
	errs := append(c.refuseFields(), c.refuseDialect(), c.checkRequestHost(true))
	if !j.has(partReferer) {
		errs = append(errs, c.refuseReferer())
	}
	r := &partsReader{jsonReader: &jsonReader{}, wrapper: j.wrapper()}
	for _, p := range []*fieldPlan{&r.lean, &r.full} {
		p.composer = composer{target: c.Target, optional: true, whole: roleTarget, plain: j.plain}
		if j.foreign != "" {
			p.composer.foreign = []byte(j.foreign)
		}
	}
	for _, p := range j.parts {
		for _, field := range p.fields {
			path := mustParsePath(field)
			r.full.addSource(p.part, path, p.unit)
			if p.part < partAttr {
				r.lean.addSource(p.part, path, p.unit)
			}
		}
	}
	r.setExtensions(c)
	if j.wrapped != "" {
		return wrappedReader{r}, errors.Join(errs...)
	}
	return r, errors.Join(errs...)
}

// has reports whether the records can have a part.
func (j *jsonLog) has(p part) bool {
	return slices.ContainsFunc(j.parts, func(q jsonPart) bool { return q.part == p })
}

// wrappedReader is a partsReader whose lines can hold several records.
type wrappedReader struct{ *partsReader }

// multiline implements [lineCounter].
func (wrappedReader) multiline() {}

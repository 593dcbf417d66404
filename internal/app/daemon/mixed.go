package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
)

// checkMixed rejects sources whose records would be copied into one file in which no
// program could distinguish them: binary records of several formats, or the rows of
// tables with different headers.
func (p *plan) checkMixed(sound func(path string) bool) error {
	out := p.sharedOutput(sound)
	if p.jobs == nil || out == nil {
		return nil
	}
	var errs []error
	for i := range p.jobs[1:] {
		if !p.mix(0, i+1) {
			a, b := &p.file.Sources[0], &p.file.Sources[i+1]
			errs = append(errs, p.file.ErrorAt(b.Path()+".from", fmt.Errorf("records of this format and those of the source %s cannot be copied into one output, as in the sink %s: set codec.to to another form, such as jsonl, or write {source.name} in the path of a file", a.Name, out.Name)))
		}
	}
	return errors.Join(errs...)
}

// checkShape rejects policies that let records of another shape reach an output: text
// among JSON or among the rows of a table, or objects that hold only an error.
func (p *plan) checkShape() error {
	f, o := p.file, &p.file.OnError
	at, what, keys := "codec.to", "objects without the fields of the others", []string{"unparsed", "oversize", "rejected"}
	if f.Codec.Render.Form != "jsonl" {
		i := slices.IndexFunc(p.jobs, (*record.Job).Shaped)
		if i < 0 {
			return nil
		}
		at, what, keys = f.Sources[i].Path()+".from", "text that is not "+f.Sources[i].Format.From, keys[:2]
	}
	values := map[string]string{"unparsed": o.Unparsed, "oversize": o.Oversize, "rejected": o.Rejected}
	keys = slices.DeleteFunc(keys, func(key string) bool { return values[key] != "pass-through" && values[key] != "truncate" })
	if len(keys) == 0 || p.jobs == nil {
		return nil
	}
	for _, key := range keys {
		if f.Written("on_error." + key) {
			at = "on_error." + key
			break
		}
	}
	return f.ErrorAt(at, fmt.Errorf("the output could hold %s: set on_error.%s to dead-letter (with a dead_letter section) or drop", what, strings.Join(keys, " and on_error.")))
}

// sharedOutput returns the first sink that writes the records of all sources to
// one file, or nil.
func (p *plan) sharedOutput(sound func(path string) bool) *config.Component {
	for _, c := range each(p.file.Sinks) {
		l, isFile := c.Config.(*sinkfile.LogConfig)
		if isSound(c, sound) && (c.Type == "stdout" || isFile && !strings.Contains(l.Path, "{source.") && !strings.Contains(l.Path, "{lane}")) {
			return c
		}
	}
	return nil
}

// mix reports whether one file can hold copies of the records of two sources.
func (p *plan) mix(i, k int) bool {
	a, b := p.jobs[i], p.jobs[k]
	lengths := func(job *record.Job) bool { return job.Apart() || job.Binary() }
	switch {
	case a == b, lengths(a) && lengths(b) && p.file.Sources[i].Format.From == p.file.Sources[k].Format.From:
		return true
	}
	return !lengths(a) && !lengths(b) && !a.Headed() && !b.Headed()
}

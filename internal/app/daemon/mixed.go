package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/sources/file"
)

// checkMixed rejects sources whose records would be copied into one file in which no
// program could distinguish them: binary records of several formats, or records that
// follow different headers.
func (k *checker) checkMixed() {
	if k.jobs == nil || k.checkHeaded() {
		return
	}
	out := k.outputBy(func(path string) bool { return !hasVariable(path, "source.", "lane}") })
	if out == nil {
		return
	}
	for i := range k.jobs[1:] {
		if !k.mix(0, i+1) {
			a, b := &k.file.Sources[0], &k.file.Sources[i+1]
			k.wrong(b.Path()+".from", fmt.Sprintf("records of this format and records of the source %s cannot be copied into one output, as in the sink %s: set codec.to to another format, such as jsonl, or write {source.name} in the path of a file", a.Name, out.Name))
		}
	}
}

// checkShape rejects policies that let records of another shape reach an output: text
// among JSON or among the rows of a table, or objects that hold only an error.
func (k *checker) checkShape() {
	f, o := k.file, &k.file.OnError
	at, what, keys := "codec.to", "objects with only an error instead of the fields", []string{"unparsed", "oversize", "rejected"}
	if f.Codec.Render.Form != "jsonl" {
		i := slices.IndexFunc(k.jobs, (*record.Job).Shaped)
		if i < 0 {
			return
		}
		at, what, keys = f.Sources[i].Path()+".from", "text that is not "+f.Sources[i].Format.From, keys[:2]
	}
	values := map[string]string{"unparsed": o.Unparsed, "oversize": o.Oversize, "rejected": o.Rejected}
	keys = slices.DeleteFunc(keys, func(key string) bool { return values[key] != "pass-through" && values[key] != "truncate" })
	if len(keys) == 0 || k.jobs == nil {
		return
	}
	for _, key := range keys {
		if f.Written("on_error." + key) {
			at = "on_error." + key
			break
		}
	}
	k.wrong(at, fmt.Sprintf("the output could hold %s: set on_error.%s to dead-letter (with a dead_letter section) or drop", what, strings.Join(keys, " and on_error.")))
}

// checkHeaded rejects sources of files whose records follow a header, if an
// output could hold these records without their header, or below the header of
// another file. It reports whether it has rejected a source.
func (k *checker) checkHeaded() (rejected bool) {
	for i := range k.file.Sources {
		s := &k.file.Sources[i]
		several, files := readsFiles(s)
		if !files || !k.jobs[i].Headed() {
			continue
		}
		out := k.outputBy(func(path string) bool {
			return hasVariable(path, "seq}", "time") || several && !hasVariable(path, "source.relpath}", "lane}")
		})
		if out != nil {
			k.wrong(s.Path()+".from", fmt.Sprintf("copies of these records must be below the header of their file, but the sink %s mixes or divides files: set codec.to to another format, such as jsonl, or write {source.relpath} or {lane} in its path, without {seq} and {time}", out.Name))
			return true
		}
	}
	return false
}

// readsFiles reports whether a source reads files or objects, and whether it can read
// several.
func readsFiles(c *config.Component) (several, ok bool) {
	if s, isFile := c.Config.(*file.Settings); isFile {
		return !s.Single(), true
	}
	return c.Type != "stdin", slices.Contains([]string{"stdin", "s3", "objects"}, c.Type)
}

// hasVariable reports whether the template of a path has a variable that begins with one
// of the given names.
func hasVariable(path string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(path, "{"+name) })
}

// outputBy returns the first sink that writes to stdout, or to files with a
// template that satisfies is. It returns nil without such a sink.
func (k *checker) outputBy(is func(path string) bool) *config.Component {
	for _, c := range each(k.file.Sinks) {
		l, files := k.logOf(c)
		if k.isSound(c) && (c.Type == "stdout" && is("") || files && is(l.Path)) {
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
	return !a.Ordered() && !b.Ordered()
}

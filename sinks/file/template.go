package file

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A template is the path of an output with variables.
type template struct {
	parts []piece
}

// has reports whether t has one of the given variables.
func (t *template) has(vars ...variable) bool {
	return slices.ContainsFunc(t.parts, func(p piece) bool { return slices.Contains(vars, p.what) })
}

// perLane reports whether each lane has its own output.
func (t *template) perLane() bool { return t.has(sourceRel, laneName) }

// bySrc reports whether each source has its own output.
func (t *template) bySrc() bool { return t.has(sourceName) }

// counts reports whether the name differs from file to file.
func (t *template) counts() bool { return t.has(openTime, seqNumber) }

// A piece of a template is literal text or a variable.
type piece struct {
	what   variable
	text   string // text of a literal
	layout string // layout of a time, for package time
}

type variable uint8

const (
	literal variable = iota
	sourceName
	sourceRel
	laneName
	openTime
	seqNumber
)

// parseTemplate parses a template. Errors name the variable, which is not
// secret.
func parseTemplate(text string) (*template, error) {
	switch {
	case text == "":
		return nil, errors.New("must not be empty")
	case strings.HasSuffix(text, "/"):
		return nil, errors.New("must name a file, not a directory")
	}
	t := new(template)
	text = filepath.Clean(text)
	for text != "" {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			open = len(text)
		}
		if open > 0 {
			t.text(text[:open])
			text = text[open:]
			continue
		}
		if brace := text[:min(3, len(text))]; brace == "{{}" || brace == "{}}" { // see field.Literal
			t.text(brace[1:2])
			text = text[3:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if text[0] == '}' || end < 0 {
			return nil, errors.New("has an unbalanced brace")
		}
		if err := t.variable(text[1:end]); err != nil {
			return nil, err
		}
		text = text[end+1:]
	}
	return t, nil
}

// text appends literal text.
func (t *template) text(text string) {
	if last := len(t.parts) - 1; last >= 0 && t.parts[last].what == literal {
		t.parts[last].text += text
		return
	}
	t.parts = append(t.parts, piece{text: text})
}

// variable appends a variable.
func (t *template) variable(text string) error {
	name, format, formatted := strings.Cut(text, ":")
	p := piece{}
	switch {
	case name == "time":
		return t.time(format, formatted)
	case formatted:
		return fmt.Errorf("{%s:…} is not supported: only {time:…} takes a format", name)
	case name == "source.name":
		p.what = sourceName
	case name == "source.relpath":
		p.what = sourceRel
	case name == "lane":
		p.what = laneName
	case name == "seq":
		p.what = seqNumber
	case name == "vhost", name == "site":
		return fmt.Errorf("{%s} is only for the option -o of a run without a configuration: use route, with a sink for each host", name)
	default:
		return fmt.Errorf("unknown variable {%s}: must be {source.relpath}, {source.name}, {lane}, {time}, {time:…} or {seq}", name)
	}
	t.parts = append(t.parts, p)
	return nil
}

// conversions maps the strftime conversions that are useful in file names to
// layouts of package time.
var conversions = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'j': "002"}

// time appends the pieces of {time} or {time:…}. A strftime format becomes one
// piece per conversion, with literal text between them, because package time
// would interpret that text.
func (t *template) time(format string, given bool) error {
	switch {
	case !given:
		format = "20060102T150405Z"
	case format == "":
		return errors.New("{time:} requires a format, such as {time:%Y%m%d}")
	}
	if !strings.Contains(format, "%") {
		t.parts = append(t.parts, piece{what: openTime, layout: format})
		return nil
	}
	for format != "" {
		text, rest, more := strings.Cut(format, "%")
		if text != "" {
			t.text(text)
		}
		if !more {
			return nil
		}
		if rest == "" || conversions[rest[0]] == "" {
			return errors.New("{time:…} has an unknown conversion: must be %Y, %y, %m, %d, %H, %M, %S or %j")
		}
		t.parts = append(t.parts, piece{what: openTime, layout: conversions[rest[0]]})
		format = rest[1:]
	}
	return nil
}

// values are the values of the variables.
type values struct {
	source, rel, lane string
	time              time.Time
	seq               int
}

// valuesOf returns the values for a lane. Tests pass a nil lane.
func valuesOf(l *engine.Lane, names []string) values {
	if l == nil {
		return values{source: "source", rel: "lane", lane: "lane"}
	}
	v := values{source: fmt.Sprintf("source %d", l.Source()+1), rel: cutCompressed(l.Rel()), lane: l.Name()}
	if i := l.Source(); i < len(names) {
		v.source = names[i]
	}
	return v
}

// path returns the path of the template for v.
func (t *template) path(v values) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch p.what {
		case literal:
			b.WriteString(p.text)
		case sourceName:
			b.WriteString(SafeName(v.source))
		case sourceRel:
			b.WriteString(safePath(v.rel))
		case laneName:
			b.WriteString(SafeName(v.lane))
		case openTime:
			b.WriteString(v.time.UTC().Format(p.layout))
		case seqNumber:
			fmt.Fprintf(&b, "%04d", v.seq)
		}
	}
	return filepath.Clean(b.String())
}

// dir returns the directory that contains all paths of the template.
func (t *template) dir() string {
	fixed := ""
	if t.parts[0].what == literal {
		fixed = t.parts[0].text
		if len(t.parts) == 1 {
			return filepath.Dir(fixed)
		}
	}
	if i := strings.LastIndexByte(fixed, '/'); i >= 0 {
		return filepath.Clean(fixed[:i+1])
	}
	return "."
}

// pattern returns a glob pattern, and a more exact regular expression, for the
// paths of the template with any time and number. The other variables have the
// values v, or any value if v is nil. The first group of the expression is the
// number. The patterns do not account for a number that numbered has added.
func (t *template) pattern(v *values) (glob string, exact *regexp.Regexp) {
	var g, e strings.Builder
	group := false
	fixed := func(s string) {
		g.WriteString(strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s))
		e.WriteString(regexp.QuoteMeta(s))
	}
	for _, p := range t.parts {
		switch {
		case p.what == literal:
			fixed(p.text)
		case p.what == sourceName && v != nil:
			fixed(SafeName(v.source))
		case p.what == sourceRel && v != nil:
			fixed(safePath(v.rel))
		case p.what == laneName && v != nil:
			fixed(SafeName(v.lane))
		case p.what == seqNumber && !group:
			group = true
			g.WriteString("*")
			e.WriteString("([0-9]{4,})")
		case p.what == sourceRel:
			g.WriteString("*") // matches only files directly in the directory
			e.WriteString(".+")
		default:
			folders := strings.Count(p.layout, "/")
			g.WriteString(strings.Repeat("*/", folders) + "*")
			e.WriteString(strings.Repeat("[^/]+/", folders) + "[^/]+")
		}
	}
	return filepath.Clean(g.String()), regexp.MustCompile("^" + e.String() + "$")
}

// files returns the files that the template has created with the values v (see
// pattern), sorted: the finished ones, and the unfinished ones under their
// final names.
func (t *template) files(v *values) (finished, unfinished []string) {
	glob, exact := t.pattern(v)
	keep := func(suffix string) (kept []string) {
		names, _ := filepath.Glob(glob + suffix) // the pattern is valid
		for _, name := range names {
			if name, ok := strings.CutSuffix(name, suffix); ok && exact.MatchString(name) {
				kept = append(kept, name)
			}
		}
		return kept
	}
	return keep(""), keep(partSuffix)
}

// lastSeq returns the highest number of a finished or unfinished file with the
// values v, or 0.
func (t *template) lastSeq(v values) (last int) {
	if !t.has(seqNumber) {
		return 0
	}
	_, exact := t.pattern(&v)
	finished, unfinished := t.files(&v)
	for _, name := range append(finished, unfinished...) {
		if n, err := strconv.Atoi(exact.FindStringSubmatch(name)[1]); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// cutCompressed removes a compression extension, such as .gz.
func cutCompressed(name string) string {
	if ext := path.Ext(name); compress.Compressed(name) && len(ext) < len(path.Base(name)) {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// maxName is the maximum length in bytes of a name derived from a variable. It
// leaves room for extensions within the 255 bytes of common file systems.
const maxName = 180

// SafeName returns s as a single file name without separators, which is neither
// a directory reference nor hidden. A name that is too long is cut and ends in
// a checksum.
func SafeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '�' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, s)
	if s == "" || s[0] == '.' {
		s = "_" + strings.TrimPrefix(s, ".")
	}
	if len(s) > maxName {
		s = fmt.Sprintf("%s-%08x", strings.ToValidUTF8(s[:maxName], ""), crc32.ChecksumIEEE([]byte(s)))
	}
	return s
}

// safePath turns s into a relative path that stays below its parent: each of
// its names is safe, and ".." cannot go beyond the top.
func safePath(s string) string {
	names := strings.Split(strings.TrimPrefix(path.Clean("/"+s), "/"), "/")
	for i, name := range names {
		names[i] = SafeName(name)
	}
	return strings.Join(names, "/")
}

// numbered returns path with a number before its extensions, for an output
// whose name is already taken: a.log.zst becomes a-2.log.zst. Number 1 is path.
func numbered(path string, n int) string {
	if n == 1 {
		return path
	}
	dir, name := filepath.Split(path)
	base := name
	if compress.ByName(base) != compress.Plain {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if ext := filepath.Ext(base); len(ext) < len(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return dir + base + "-" + strconv.Itoa(n) + name[len(base):]
}

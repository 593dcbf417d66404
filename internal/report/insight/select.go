package insight

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
)

// The names that By accepts besides the output fields. A URL can have several
// parameters or flags, and counts once for each.
const (
	paramName = "param" // names of query parameters
	flagName  = "flag"
)

// sources maps these names to the fields that they come from.
var sources = map[string]string{paramName: "query", flagName: "flags"}

// Names returns the names that can be counted by.
func Names() []string { return append(record.FieldNames(), paramName, flagName) }

// By is what is counted: the combinations of values of these columns.
type By struct {
	Columns []string
}

// ParseBy parses a comma-separated list of names.
func ParseBy(text string) (By, error) {
	var b By
	many := ""
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if c, ok := record.ParseComputed(name); ok {
			name = c.Name()
		} else if _, err := suggest.Index("name", Names(), record.FieldName(name)); err != nil {
			return By{}, err
		} else {
			name = record.FieldName(name)
		}
		if slices.Contains(b.Columns, name) {
			return By{}, fmt.Errorf("duplicate name %q", name)
		}
		if sources[name] != "" {
			if many != "" {
				return By{}, fmt.Errorf("%q cannot be combined with %q: a URL can have several values of each", name, many)
			}
			many = name
		}
		b.Columns = append(b.Columns, name)
	}
	return b, nil
}

// String returns the list that ParseBy parses.
func (b By) String() string { return strings.Join(b.Columns, ",") }

// A layout is the list of fields of the rows that a job writes.
type layout struct{ fields []string }

// at returns the column of the row that has the field, which it adds if
// necessary.
func (l *layout) at(field string) int {
	i := slices.Index(l.fields, field)
	if i < 0 {
		i = len(l.fields)
		l.fields = append(l.fields, field)
	}
	return i
}

// A selector makes the keys of rows. A key is the text of its values in tsv,
// separated by tabs. A value that a URL does not have is empty.
type selector struct {
	columns []int // columns of the row
	many    int   // index in columns of the column with several values; -1: none
	param   bool  // the names are names of parameters

	key, end []byte // the parts of a key before and after the value of the column many
	query    []byte
	name     []byte
	pairs    []params.Pair
	seen     []byte // escaped names of the current URL, each with a tab
	seenEnds []int
}

// newSelector returns a selector of b for rows of l.
func newSelector(b By, l *layout) *selector {
	s := &selector{many: -1}
	for i, name := range b.Columns {
		field := name
		if source := sources[name]; source != "" {
			field, s.many, s.param = source, i, name == paramName
		}
		s.columns = append(s.columns, l.at(field))
	}
	return s
}

// each calls do for each key of a row, in the order of the row. prefix is the
// beginning of each key. The key is valid until do returns.
func (s *selector) each(row [][]byte, prefix []byte, do func(key []byte) error) error {
	s.key = append(s.key[:0], prefix...)
	if s.many < 0 {
		s.key = s.join(s.key, row, s.columns)
		return do(s.key)
	}
	s.key = s.join(s.key, row, s.columns[:s.many])
	if s.many > 0 {
		s.key = append(s.key, '\t')
	}
	s.end = s.end[:0]
	if rest := s.columns[s.many+1:]; len(rest) > 0 {
		s.end = s.join(append(s.end, '\t'), row, rest)
	}
	one := func(value []byte) error {
		start := len(s.key)
		s.key = append(append(s.key, value...), s.end...)
		err := do(s.key)
		s.key = s.key[:start]
		return err
	}
	if values := row[s.columns[s.many]]; s.param {
		s.query = tsv.AppendUnescaped(s.query[:0], values)
		return s.eachParam(s.query, func(name []byte, _ params.Pair) error { return one(name) })
	} else if len(values) > 0 {
		for name := range bytes.SplitSeq(values, []byte{','}) {
			if err := one(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// join appends values of a row, separated by tabs.
func (s *selector) join(dst []byte, row [][]byte, columns []int) []byte {
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, row[c]...)
	}
	return dst
}

// eachParam calls do for each name of a parameter of a query, once, escaped for tsv,
// with its first pair.
func (s *selector) eachParam(query []byte, do func(name []byte, p params.Pair) error) error {
	s.pairs = params.AppendPairs(s.pairs[:0], query)
	s.seen, s.seenEnds = s.seen[:0], s.seenEnds[:0]
	for _, p := range s.pairs {
		s.name = params.AppendName(s.name[:0], p.Name(query))
		start := len(s.seen)
		s.seen = tsv.AppendEscaped(s.seen, s.name)
		name := s.seen[start:]
		if len(name) == 0 || s.hasSeen(name) {
			s.seen = s.seen[:start]
			continue
		}
		s.seenEnds = append(s.seenEnds, len(s.seen))
		if err := do(name, p); err != nil {
			return err
		}
	}
	return nil
}

// hasSeen reports whether the current URL has had the name already.
func (s *selector) hasSeen(name []byte) bool {
	start := 0
	for _, end := range s.seenEnds {
		if bytes.Equal(s.seen[start:end], name) {
			return true
		}
		start = end
	}
	return false
}

package textlog

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file connects records with named fields to forms. The names are text
// that records have in common.

// Ways in which values of named fields end. A value of logfmt without quotes is
// free of escapes, and gets quotes if it needs them.
var (
	wayPlain  = &locate.Way{End: plainWay, Dialect: &locate.Dialect{Encode: encodeLogfmt}}
	wayQuoted = &locate.Way{End: func(rec []byte, _ scan.Marks, start int) int { return logfmtQuote(rec, start) }, Dialect: &locate.Dialect{Mark: '\\', Decode: decodeLogfmt, Encode: encodeLogfmtQuoted, Backslash: true}}
	wayWord   = &locate.Way{End: wordWay}                                                                                         // a word of logfmt that is not a field
	wayCEF    = &locate.Way{End: cefWay, Dialect: cefDialect}                                                                     // a value in the extension of CEF
	wayHeader = &locate.Way{End: func(rec []byte, _ scan.Marks, start int) int { return locate.IndexUnescaped(rec, start, '|') }} // a field in the header of CEF
	wayFront  = &locate.Way{End: func(rec []byte, _ scan.Marks, start int) int { return bytes.Index(rec, cefMark) }}              // the text before the header of CEF
	wayTab    = &locate.Way{End: func(rec []byte, _ scan.Marks, start int) int { return tabEnd(rec, start) }}
)

// plainWay is the End of wayPlain, for values of logfmt without quotes.
func plainWay(rec []byte, marks scan.Marks, start int) int {
	if start < len(rec) && rec[start] == '"' {
		return -1
	}
	return logfmtEnd(rec, marks, start)
}

// wordWay is the End of wayWord, for words of logfmt that are not fields.
func wordWay(rec []byte, marks scan.Marks, start int) int {
	if end := logfmtKeyEnd(rec, marks, start); end > start && (end == len(rec) || rec[end] <= ' ') {
		return end
	}
	return -1
}

// cefWay is the End of wayCEF, for values in the extension of CEF.
func cefWay(rec []byte, marks scan.Marks, start int) int {
	next, _ := cefKey(rec, start)
	if at := cefValue(rec, start, next); at.End > start {
		return at.End
	}
	return -1
}

// takeForm takes the fields of rec, which has the form h. own is the dialect of
// values whose way does not define one.
func (p *namedParts) takeForm(f *locate.Found, rec []byte, h *locate.Form, names *nameTable, own *locate.Dialect) {
	for i := range h.Uses {
		u := &h.Uses[i]
		d := u.Way.Dialect
		if d == nil {
			d = own
		}
		p.take(f, rec, names.slots[u.Use].use, h.At(u), d)
	}
}

// addNamed adds the field called name, at the given place, to the values to learn from.
func addNamed(s *locate.Forms, f *locate.Found, names *nameTable, name []byte, at locate.Span, w *locate.Way, target locate.Target) {
	v := locate.Value{Span: at, Way: w, Use: names.index(name)}
	if v.Use >= 0 {
		use := names.slots[v.Use].use
		if v.Rank = use.rankFor(target); !use.isRead(f) {
			v.Use = -1
		}
	}
	s.Add(v)
}

// rankFor returns the rank of a field with the use u, as in locate.Value.
func (u namedUse) rankFor(target locate.Target) uint8 {
	switch {
	case u.isURL() && u.rank < rankText, u.use == locate.UseQuery:
		return locate.RankPath
	case u.use == locate.UseMethod:
		return locate.RankMethod
	case u.isURL(), u.use.IsAttr(), u.use == locate.UseReferer && target == locate.TargetRequest:
		return locate.RankBeside
	}
	return locate.RankNeeded
}

package where

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/urlfold/urlfold/internal/ground/needle"
)

// maxSpellings is the maximum number of texts that a speller lists for a
// regular expression.
const maxSpellings = 64

// A pattern is a compiled regular expression.
type pattern struct {
	re *regexp.Regexp
	// Every match contains a text of the set, unless set is nil. If exact is
	// set, the reverse is also true: a text matches if it contains a text of
	// the set; with start, only at its start, and with end, only at its end.
	set               *needle.Set
	exact, start, end bool
	fold              bool // some letters beyond ASCII have the same lower case as letters in the set
}

// newPattern compiles a regular expression.
func newPattern(text string) (*pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p := &pattern{re: re}
	tree = tree.Simplify()
	body := p.cutAnchors(tree)
	var s speller
	s.lookForFold(body)
	texts, ok := s.spell(body)
	p.exact = ok && !s.loose
	if !ok || slices.Contains(texts, "") && !p.start && !p.end {
		p.exact, texts = false, s.required(tree)
	}
	if p.fold = s.fold; len(texts) > 0 && (p.exact || shortest(texts) > 1) {
		p.set = needle.NewSet(texts, s.fold)
	}
	return p, nil
}

// cutAnchors returns the tree without assertions about the start and the end of
// the text, which it stores in p.start and p.end.
func (p *pattern) cutAnchors(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpConcat {
		return re
	}
	subs := re.Sub
	if p.start = subs[0].Op == syntax.OpBeginText; p.start {
		subs = subs[1:]
	}
	if n := len(subs) - 1; n >= 0 && subs[n].Op == syntax.OpEndText {
		p.end, subs = true, subs[:n]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}
}

// match reports whether the expression matches t.
func (p *pattern) match(t []byte) bool {
	switch {
	case p.set == nil || p.fold && (bytes.IndexByte(t, longS) >= 0 || bytes.IndexByte(t, kelvin) >= 0):
		return p.re.Match(t)
	case p.exact && (p.start || p.end):
		return p.set.At(t, p.start, p.end)
	case p.exact:
		return p.set.In(t)
	}
	return p.set.In(t) && p.re.Match(t)
}

// longS and kelvin are the first bytes of the only characters beyond ASCII that regular
// expressions take for an ASCII letter in another case: U+017F and U+212A.
const longS, kelvin = 0xC5, 0xE2

// A speller lists the texts that a regular expression matches. If one letter of
// the expression matches in both cases, all letters of the texts do.
type speller struct {
	fold  bool
	loose bool // a text matches more than the expression does
}

// lookForFold sets s.fold.
func (s *speller) lookForFold(re *syntax.Regexp) {
	s.fold = s.fold || re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0
	for _, sub := range re.Sub {
		s.lookForFold(sub)
	}
}

// spell returns the texts that re matches as a whole. ok is false if there are
// too many texts, or if spell does not know an operator of re.
func (s *speller) spell(re *syntax.Regexp) (texts []string, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		var text strings.Builder
		for _, r := range re.Rune {
			lower, ok := s.rune(r)
			if !ok {
				return nil, false
			}
			s.loose = s.loose || s.fold && re.Flags&syntax.FoldCase == 0 && unicode.IsLetter(r)
			text.WriteString(string(lower))
		}
		return []string{text.String()}, true
	case syntax.OpCharClass:
		return s.class(re.Rune)
	case syntax.OpCapture:
		return s.spell(re.Sub[0])
	case syntax.OpQuest:
		texts, ok = s.spell(re.Sub[0])
		return append(texts, ""), ok
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more, ok := s.spell(sub)
			if texts = append(texts, more...); !ok || len(texts) > maxSpellings {
				return nil, false
			}
		}
		return texts, true
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range re.Sub {
			more, ok := s.spell(sub)
			if texts = product(texts, more); !ok || len(texts) > maxSpellings {
				return nil, false
			}
		}
		return texts, true
	}
	return nil, false
}

// product returns each text followed by each of more.
func product(texts, more []string) (list []string) {
	for _, a := range texts {
		for _, b := range more {
			list = append(list, a+b)
		}
	}
	return list
}

// rune returns a character as the texts have it. ok is false if no text can
// replace it: a character beyond ASCII if case is ignored, and U+FFFD, which
// matches invalid bytes.
func (s *speller) rune(r rune) (_ rune, ok bool) {
	if s.fold && r >= unicode.MaxASCII {
		r = unicode.SimpleFold(r) // U+017F and U+212A fold to an ASCII letter
		if r >= unicode.MaxASCII {
			return 0, false
		}
	}
	if s.fold {
		r = unicode.ToLower(r)
	}
	return r, r != unicode.ReplacementChar
}

// class returns the characters of a class as texts. In a folded set a letter
// means both cases.
func (s *speller) class(ranges []rune) (texts []string, ok bool) {
	has := map[rune]bool{}
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > maxSpellings {
			return nil, false
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			has[r] = true
		}
	}
	for r := range has {
		lower, ok := s.rune(r)
		if !ok {
			return nil, false
		}
		texts = append(texts, string(lower))
		for f := unicode.SimpleFold(r); s.fold && f != r; f = unicode.SimpleFold(f) {
			s.loose = s.loose || !has[f]
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts), true
}

// required returns texts such that every match of re contains one of them, or nil.
func (s *speller) required(re *syntax.Regexp) (best []string) {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return s.required(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			texts := s.required(sub)
			if texts == nil || len(best)+len(texts) > maxSpellings {
				return nil
			}
			best = append(best, texts...)
		}
		return best
	case syntax.OpConcat:
		run := []string{""} // the texts of the last consecutive parts for which spell returns texts
		for _, sub := range re.Sub {
			texts, ok := s.spell(sub)
			if !ok || len(run)*len(texts) > maxSpellings {
				best = better(best, run)
				best = better(best, s.required(sub))
				if run = []string{""}; !ok {
					continue
				}
			}
			run = product(run, texts)
		}
		return better(best, run)
	}
	texts, _ := s.spell(re)
	return better(nil, texts)
}

// better returns the list whose shortest text is longer, or nil if both have an empty
// one.
func better(a, b []string) []string {
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

// shortest returns the length of the shortest text, or 0.
func shortest(texts []string) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}

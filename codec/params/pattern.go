package params

import (
	"errors"
	"fmt"
	"iter"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPositions is the maximum number of positions of a pattern after
// repetitions are expanded.
const maxPositions = 512

var errTooLong = errors.New("unsupported pattern: too long")

// patternError reports a part of a pattern that is not supported.
type patternError struct {
	at     int
	reason string
}

func (e *patternError) Error() string {
	return fmt.Sprintf("unsupported pattern: %s at byte %d", e.reason, e.at)
}

// parsePattern parses a whole pattern, see ListRule. It ignores a '^' at the start and a
// '$' at the end. anchored reports whether there was a '$'. The tree matches
// letters in both cases and has no counted repetitions. It has fewer than
// maxPositions positions.
func parsePattern(src string) (tree *syntax.Regexp, anchored bool, err error) {
	body := strings.TrimPrefix(src, "^")
	if endsInDollar(body) {
		body, anchored = body[:len(body)-1], true
	}
	if at, reason := unsupported(body); reason != "" {
		return nil, false, &patternError{at + strings.Index(src, body), reason}
	}
	tree, err = syntax.Parse(body, syntax.PerlX|syntax.OneLine|syntax.ClassNL|syntax.DotNL|syntax.FoldCase)
	var invalid *syntax.Error
	switch {
	case errors.As(err, &invalid):
		return nil, false, fmt.Errorf("unsupported pattern: %s: %q", invalid.Code, invalid.Expr)
	case positions(tree) >= maxPositions:
		return nil, false, errTooLong
	}
	return tree.Simplify(), anchored, nil
}

// endsInDollar reports whether the last byte is an unescaped '$'.
func endsInDollar(src string) bool {
	rest, ok := strings.CutSuffix(src, "$")
	return ok && (len(rest)-len(strings.TrimRight(rest, `\`)))%2 == 0
}

// unsupported finds an expression that is an assertion, or that regexp/syntax and
// ECMAScript interpret in different ways. It returns the offset and a description; an
// empty description means that src is supported.
func unsupported(src string) (at int, reason string) {
	class := false
	for i := 0; i < len(src); i++ {
		switch rest := src[i+1:]; {
		case src[i] == '\\' && rest != "":
			i++
			if c := src[i]; c >= utf8.RuneSelf || kinds[c]&kindAlnum != 0 && !strings.ContainsRune("dDsSwW", rune(c)) {
				return i, `escape other than \d, \w, \s and punctuation`
			}
		case class && src[i] >= utf8.RuneSelf:
			return i, "non-ASCII character in a class"
		case class && src[i] == '[' && strings.HasPrefix(rest, ":"):
			return i, "named class"
		case class:
			class = src[i] != ']'
		case src[i] == '[':
			class = true
			start := strings.TrimPrefix(rest, "^")
			i += len(rest) - len(strings.TrimPrefix(start, "]"))
		case src[i] == '^', src[i] == '$':
			return i, "assertion"
		case src[i] == '(' && strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:"):
			return i, "assertion, group name or flag"
		}
	}
	return 0, ""
}

// positions returns an upper bound of the number of positions of a pattern after
// repetitions are expanded, but at most maxPositions. It counts 1 for an
// expression without positions, because expanding repetitions of it takes time too.
func positions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n = min(n+positions(sub), maxPositions)
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			n += len(strings.Join(cases(r), ""))
		}
	case syntax.OpCharClass:
		for r := range nonASCII(re.Rune) {
			if n += len(string(r)); n > maxPositions {
				break
			}
		}
		n++
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return min(max(n, 1), maxPositions)
}

// cases returns a character in lower case, or a non-ASCII character in each
// case. Unlike in Unicode, no non-ASCII character counts as a case of an ASCII
// letter.
func cases(r rune) []string {
	if r < utf8.RuneSelf {
		return []string{string(unicode.ToLower(r))}
	}
	texts := []string{string(r)}
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		texts = append(texts, string(c))
	}
	return texts
}

// isComplement reports whether a class has all non-ASCII characters except those that fold
// to ASCII. Other classes have only the non-ASCII characters that are alternatives of a letter
// in the pattern.
func isComplement(ranges []rune) bool { return ranges[len(ranges)-1] == unicode.MaxRune }

// inClass reports whether a class has the byte c.
func inClass(ranges []rune, c byte) bool {
	if c >= utf8.RuneSelf {
		return isComplement(ranges)
	}
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] <= rune(c) && rune(c) <= ranges[i+1] {
			return true
		}
	}
	return false
}

// nonASCII returns the non-ASCII characters of a class that is not a complement,
// without those that fold to ASCII.
func nonASCII(ranges []rune) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for i := 0; i < len(ranges) && !isComplement(ranges); i += 2 {
			for r := max(ranges[i], utf8.RuneSelf); r <= ranges[i+1]; r++ {
				if unicode.SimpleFold(r) >= utf8.RuneSelf && !yield(r) {
					return
				}
			}
		}
	}
}

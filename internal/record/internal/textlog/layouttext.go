package textlog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file reads the text of a layout. It is either a directive from the
// configuration of a server, with its name, quotes, line ends and comments, or
// the bare format of nginx or Apache. A text that begins like a directive or
// format, but has a mistake, is an error, because as literal text it would
// match no line.

// The names of directives.
const (
	nginxLayout   = "log_format"
	apacheLayout  = "LogFormat" // or CustomLog, in which a file name precedes the format
	squidLayout   = "logformat"
	haproxyLayout = "log-format"
)

// IsLayout reports whether the value of Config.Format is the text of a layout.
func IsLayout(text string) bool {
	return strings.ContainsAny(text, "$%") || layoutStart(text) == 0
}

const blanks = " \t\r\n"

// layoutStart returns the offset of the word in text that names a directive, or -1. It is
// 0 if only comments and blanks precede the word.
func layoutStart(text string) int {
	for pos, first := 0, true; pos < len(text); {
		rest := text[pos:]
		word := len(rest)
		if n := strings.IndexAny(rest, blanks); n >= 0 {
			word = n
		}
		switch name := rest[:word]; {
		case strings.EqualFold(name, nginxLayout), strings.EqualFold(name, apacheLayout), strings.EqualFold(name, haproxyLayout), name == "CustomLog":
			if first {
				return 0
			}
			return pos
		case first && strings.HasPrefix(name, "#"):
			word = len(rest)
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				word = n
			}
		case word > 0:
			first = false
		}
		pos += word + 1
	}
	return -1
}

// parse sets the elements of l from the text of a layout. It returns the escapes that the
// text selects.
func (l *layout) parse(text string) (d *locate.Dialect, err error) {
	switch at := layoutStart(text); {
	case at > 0:
		return nil, wrongAt(text, at, "text precedes the directive")
	case at == 0:
		return l.parseDirective(text)
	}
	bare := strings.TrimSpace(text)
	if dollar := strings.IndexByte(text, '$'); dollar >= 0 && dollar+1 < len(text) && (locate.IsNameByte(text[dollar+1]) || text[dollar+1] == '{') {
		pieces := []string{bare}
		if n := strings.IndexAny(bare, blanks); n > 0 && strings.HasPrefix(bare, "escape=") {
			pieces = []string{bare[:n], strings.TrimLeft(bare[n:], blanks)}
		}
		if last := pieces[len(pieces)-1]; strings.HasPrefix(last, "'") { // quoted strings, as in a directive
			words, err := directiveWords(last, ';', false)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces[:len(pieces)-1], words...)
		} else if n := strings.IndexByte(last, '\n'); n >= 0 {
			return nil, wrongAt(text, strings.Index(text, last)+n, "a format has one line; pass the whole directive, from log_format to its semicolon")
		}
		l.elems, d, err = nginxPieces(pieces)
		return d, err
	}
	format := strings.NewReplacer("&quot;", `"`, `\"`, `"`, `\\`, `\`, `\t`, "\t").Replace(text)
	l.elems, err = elementsOf(format, '%', apacheDirective)
	return locate.ApacheDialect, err
}

// parseDirective is parse for a directive.
func (l *layout) parseDirective(text string) (*locate.Dialect, error) {
	name := strings.Fields(withoutComments(text))[0]
	end := byte('\n')
	if name == nginxLayout {
		end = ';'
	}
	if name == squidLayout {
		if format, isSquid := squidFormat(text); isSquid {
			return nil, l.parseSquid(format)
		}
	}
	words, err := directiveWords(text, end, name == haproxyLayout)
	if err != nil {
		return nil, err
	}
	format := 1 // index of the word with the format
	if name == nginxLayout || name == "CustomLog" {
		format = 2
	}
	if len(words) <= format {
		return nil, fmt.Errorf("invalid log format: the directive %s has no format", name)
	}
	var d *locate.Dialect
	switch name {
	case nginxLayout:
		if l.elems, d, err = nginxPieces(words[format:]); err == nil && len(l.elems) == 0 {
			err = errors.New("invalid log format: the directive log_format has no format")
		}
		return d, err
	case haproxyLayout:
		if len(words) > format+1 {
			return nil, errors.New("invalid log format: put the argument of log-format in quotes, or write a backslash before each of its spaces")
		}
		return locate.HashDialect, l.parseHAProxy(words[format])
	}
	l.elems, err = elementsOf(words[format], '%', apacheDirective)
	return locate.ApacheDialect, err
}

// withoutComments returns text without the lines of comments before its first word.
func withoutComments(text string) string {
	for {
		text = strings.TrimLeft(text, blanks)
		if !strings.HasPrefix(text, "#") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// directiveWords splits the directive with which text begins into its words, without their
// quotes. The directive ends at the byte end, or with the text. A quote opens a string at
// the start of a word or, if inside says so, anywhere in it. Comments begin with '#'.
func directiveWords(text string, end byte, inside bool) (words []string, err error) {
	done := false
	for pos := 0; pos < len(text); {
		switch c := text[pos]; {
		case c == '#':
			n := strings.IndexByte(text[pos:], '\n')
			if n < 0 {
				return words, nil
			}
			pos += n
		case c == end && len(words) > 0:
			done = true
			pos++
		case strings.IndexByte(blanks, c) >= 0:
			pos++
		case strings.HasPrefix(text[pos:], "\\\n"):
			pos += len("\\\n")
		case done:
			return nil, wrongAt(text, pos, "text follows the end of the directive")
		default:
			word, next, err := directiveWord(text, pos, end, inside)
			if err != nil {
				return nil, err
			}
			words, pos = append(words, word), next
		}
	}
	return words, nil
}

// directiveWord returns the word of a directive at pos, and the offset at which
// it ends.
func directiveWord(text string, pos int, end byte, inside bool) (word string, next int, err error) {
	var b strings.Builder
	quote, opened := byte(0), 0
	isBreak := func(i int) bool { return i == len(text) || text[i] == end || strings.IndexByte(blanks, text[i]) >= 0 }
	for i := pos; ; i++ {
		if quote == 0 && isBreak(i) {
			return b.String(), i, nil
		}
		if i == len(text) {
			return "", 0, wrongAt(text, opened, "a quote is not closed")
		}
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteString(escapedInWord(text[i], inside))
		case c == quote:
			quote = 0
			if !inside && !isBreak(i+1) {
				return "", 0, wrongAt(text, i+1, "no space follows the closing quote")
			}
		case quote == 0 && (c == '"' || c == '\'') && (inside || i == pos):
			quote, opened = c, i
		default:
			b.WriteByte(c)
		}
	}
}

// escapedInWord returns what a backslash and c stand for. Other pairs stay
// as they are, because they can be escapes of the format.
func escapedInWord(c byte, inside bool) string {
	switch c {
	case '"', '\'', '\\':
		return string(c)
	case 't':
		return "\t"
	case ' ', '#':
		if inside {
			return string(c)
		}
	case '\n': // the directive continues
		return ""
	}
	return "\\" + string(c)
}

// wrongAt returns an error about the text of a layout. what describes the
// mistake at the offset at.
func wrongAt(text string, at int, what string) error {
	line := strings.Count(text[:at], "\n") + 1
	column := at - strings.LastIndexByte(text[:at], '\n')
	return fmt.Errorf("invalid log format: line %d, column %d: %s", line, column, what)
}

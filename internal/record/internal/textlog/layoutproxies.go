package textlog

import (
	"errors"
	"fmt"
	"strings"
)

// This file reads the layouts of two proxies: the log-format of HAProxy and the logformat
// of Squid.

// haproxyVariables are the variables of log-format that matter, from the table
// "Custom log format" of HAProxy's configuration.txt, as read on 2026-11-29
// from its repository, and sample expressions, which are in brackets and here
// in lower case. All others are skipped. HQ is the query with its '?', or
// empty.
var haproxyVariables = byName(`
	bytes       B
	method      HM
	path        HP
	is_args     HQ
	target      HU
	protocol    HV
	request_id  ID
	status      ST
	time        T Tl Ts t tr trg trl
	duration:ms Ta Tt
	client      ci [src]
	headers     hr hs
	request     r
	host        [req.hdr(host)]
	referer     [req.hdr(referer)]
	agent       [req.hdr(user-agent)]`)

// haproxyStrings are the variables of the same table that the flag Q puts into quotes:
// names, addresses and parts of the request, but not dates, numbers and states.
const haproxyStrings = " CC CS H HM HP HQ HU HV ID b bi ci f fi ft r s si sslc sslv "

// parseHAProxy sets the elements of l from a log-format.
func (l *layout) parseHAProxy(format string) (err error) {
	l.syslog, l.cuts = true, true
	quoted := false
	format = strings.TrimLeft(format, " ")
	for strings.Contains(format, "  ") { // HAProxy merges spaces
		format = strings.ReplaceAll(format, "  ", " ")
	}
	l.elems, err = elementsOf(format, '%', func(text string) (elems []element, rest string, err error) {
		s := text[1:]
		if rest, ok := strings.CutPrefix(s, "%"); ok {
			return []element{{text: "%"}}, rest, nil
		}
		quotes := quoted
		if flags, after, ok := cutAround(s, "{", "}"); ok {
			s = after
			for flag := range strings.SplitSeq(flags, ",") {
				switch strings.TrimSpace(flag) {
				case "+Q":
					quotes = true
				case "-Q":
					quotes = false
				case "+json", "+cbor", "+bin":
					return nil, "", fmt.Errorf("invalid log format: the encoding %s of log-format is not supported", flag)
				}
			}
		}
		if _, after, ok := cutAround(s, "(", ")"); ok { // skip the name, which only other encodings use
			s = after
		}
		name, isString := "", false
		if sample, after, ok := cutAround(s, "[", "]"); ok {
			name, _, _ = strings.Cut(strings.ToLower(sample), "),")
			name = "[" + strings.TrimSuffix(name, ")")
			if strings.Contains(name, "(") {
				name += ")"
			}
			name, isString, s = name+"]", true, after
		} else {
			n := 0
			for n < len(s) && s[n]|0x20-'a' < 26 {
				n++
			}
			name, s = s[:n], s[n:]
			isString = strings.Contains(haproxyStrings, " "+name+" ")
		}
		switch name {
		case "":
			return nil, "", errors.New("invalid log format: a '%' is not followed by a variable")
		case "o": // the flags apply to all following variables
			quoted = quotes
			return nil, strings.TrimPrefix(s, " "), nil
		}
		e := elementOf(haproxyVariables, name, text[:len(text)-len(s)])
		if quotes && isString {
			return []element{{text: `"`}, e, {text: `"`}}, s, nil
		}
		return []element{e}, s, nil
	})
	return err
}

// cutAround returns the text between open, with which s begins, and its closing
// counterpart, and the text after that.
func cutAround(s, open, closing string) (inner, after string, ok bool) {
	if !strings.HasPrefix(s, open) {
		return "", s, false
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case open[0]:
			depth++
		case closing[0]:
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", s, false
}

// squidCodes are the format codes of logformat that matter, from
// https://www.squid-cache.org/Doc/config/logformat (versions 5 to 7) and the table of
// codes in src/format/Token.cc of Squid, as read on 2026-11-29, with an argument in lower
// case before the code. All others are skipped.
var squidCodes = byName(`
	time        ts tl tg
	subsecond   tu
	duration:ms tr
	client      >a >A
	status      Hs >Hs
	bytes       <st
	method      rm >rm
	target      ru >ru rp >rp
	scheme      >rs
	host        >rd {host}>h
	port        >rP
	referer     {referer}>h
	agent       {user-agent}>h`)

// squidFormat returns the format of a logformat of Squid, all text after its
// name. ok is false if text is a LogFormat directive of Apache, which may be in
// any case but has its format in quotes.
func squidFormat(text string) (format string, ok bool) {
	lines := strings.Split(withoutComments(text), "\\\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], blanks)
	}
	rest := strings.TrimLeft(strings.TrimPrefix(strings.Join(lines, ""), squidLayout), blanks)
	if rest == "" || rest[0] == '"' || rest[0] == '\'' {
		return "", false
	}
	n := strings.IndexAny(rest, blanks)
	if n < 0 {
		return "", true
	}
	return strings.Trim(rest[n:], blanks), true
}

// parseSquid sets the elements of l from a logformat:
//
//	% [" [ ' # /] [-] [0] [width] [.width] [{argument}] code [{argument}]
func (l *layout) parseSquid(format string) (err error) {
	if strings.Contains(format, "\n") {
		return errors.New("invalid log format: text follows the line of the directive logformat")
	}
	l.pads, l.strips = true, true
	l.elems, err = elementsOf(format, '%', func(text string) (elems []element, rest string, err error) {
		s := text[1:]
		if rest, ok := strings.CutPrefix(s, "%"); ok {
			return []element{{text: "%"}}, rest, nil
		}
		if s != "" && strings.IndexByte("\"['#/", s[0]) >= 0 {
			s = s[1:]
		}
		s = strings.TrimLeft(s, "-.0123456789")
		arg, s, _ := cutAround(s, "{", "}")
		s = strings.TrimPrefix(s, "http::")
		n := len(s) - len(strings.TrimLeft(s, "<>"))
		for n < len(s) && (s[n]|0x20-'a' < 26 || s[n] == '_' || s[n] == ':') { // for names such as ssl::>sni
			n++
		}
		code, rest := s[:n], s[n:]
		if strings.HasSuffix(code, "::") {
			n = len(rest) - len(strings.TrimLeft(rest, "<>abcdefghijklmnopqrstuvwxyz_"))
			code, rest = code+rest[:n], rest[n:]
		}
		if after, tail, ok := cutAround(rest, "{", "}"); ok && arg == "" {
			arg, rest = after, tail
		}
		if arg != "" {
			code = "{" + strings.ToLower(arg) + "}" + code
		}
		if code == "" {
			return nil, "", errors.New("invalid log format: a '%' is not followed by a format code")
		}
		return []element{elementOf(squidCodes, code, text[:len(text)-len(rest)])}, rest, nil
	})
	return err
}

package textlog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// nginxPieces compiles the strings of an nginx log_format, the first of which can be
// its parameter escape=.
func nginxPieces(pieces []string) ([]element, *locate.Dialect, error) {
	d := locate.NginxDialect
	if how, ok := strings.CutPrefix(pieces[0], "escape="); ok {
		pieces = pieces[1:]
		switch how {
		case "default":
		case "json":
			d = locate.JSONDialect
		case "none":
			d = nil
		default:
			return nil, d, fmt.Errorf("invalid log_format: escape=%s must be default, json or none", how)
		}
	}
	out, err := elementsOf(strings.Join(pieces, ""), '$', nginxElement)
	return out, d, err
}

// elementsOf splits a format into literals and the elements that read returns.
// The byte begin starts each element.
func elementsOf(text string, begin byte, read func(text string) (elems []element, rest string, err error)) ([]element, error) {
	var out []element
	for text != "" {
		i := strings.IndexByte(text, begin)
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			out = append(out, element{text: text[:i]})
			text = text[i:]
			continue
		}
		elems, rest, err := read(text)
		if err != nil {
			return nil, err
		}
		out = append(out, elems...)
		text = rest
	}
	return out, nil
}

// nginxElement parses the variable at the start of text.
func nginxElement(text string) (elems []element, rest string, err error) {
	name, rest, err := nginxName(text)
	if err != nil {
		return nil, "", err
	}
	return []element{elementOf(nginxVariables, name, "$"+name)}, rest, nil
}

// elementOf returns the element for the field called name, which text
// describes. The field is skipped if uses lacks its name.
func elementOf(uses map[string]namedUse, name, text string) element {
	use, ok := uses[name]
	if !ok {
		use.use = useSkipped
	}
	return element{namedUse: use, text: text}
}

// nginxName parses $name or ${name} at the start of text.
func nginxName(text string) (name, rest string, err error) {
	s := text[1:]
	if strings.HasPrefix(s, "{") {
		name, rest, ok := strings.Cut(s[1:], "}")
		switch {
		case !ok:
			return "", "", errors.New("invalid log format: a variable has no closing brace")
		case name == "":
			return "", "", errors.New("invalid log format: '${}' contains no variable name")
		}
		return name, rest, nil
	}
	n := 0
	for n < len(s) && locate.IsNameByte(s[n]) {
		n++
	}
	if n == 0 {
		return "", "", errors.New("invalid log format: a '$' is not followed by a variable name")
	}
	return s[:n], s[n:], nil
}

// nginxVariables maps the variables of ngx_http_core_module that matter to what
// they hold. All other variables are skipped.
var nginxVariables = byName(`
	request     request
	target      request_uri
	path        uri document_uri
	query       args query_string
	is_args     is_args
	method      request_method
	protocol    server_protocol
	referer     http_referer
	scheme      scheme
	port        server_port
	host        http_host
	host:1      host
	host:3      server_name
	time        time_local time_iso8601 msec
	status      status
	bytes       body_bytes_sent bytes_sent
	duration    request_time
	client      remote_addr
	agent       http_user_agent
	request_id  request_id`)

// apacheDirective parses the directive at the start of text:
//
//	% [!] [200,304] [<|>] [{argument}] [^] letters
func apacheDirective(text string) (elems []element, rest string, err error) {
	s := strings.TrimLeft(text[1:], "!,0123456789<>")
	arg := ""
	if strings.HasPrefix(s, "{") {
		var ok bool
		if arg, s, ok = strings.Cut(s[1:], "}"); !ok {
			return nil, "", errors.New("invalid log format: a directive has no closing brace")
		}
	}
	s = strings.TrimLeft(s, "<>")
	n := 1
	if strings.HasPrefix(s, "^") {
		n = 3 // %^FU, %{x}^ti, %{x}^to
	}
	if len(s) < n || n == 1 && s[0] != '%' && s[0]|0x20-'a' >= 26 {
		return nil, "", errors.New("invalid log format: a '%' is not followed by a directive")
	}
	letter, rest := s[:n], s[n:]
	whole := text[:len(text)-len(rest)]
	switch {
	case letter == "%":
		return []element{{text: "%"}}, rest, nil
	case letter == "t" && arg == "":
		// [10/Oct/2000:13:55:36 -0700] contains a space, so the brackets, not
		// the next space, delimit it.
		return []element{{text: "["}, {namedUse: namedUse{use: locate.UseTime}, text: whole}, {text: "]"}}, rest, nil
	}
	if arg != "" {
		letter = "{" + strings.ToLower(arg) + "}" + letter
	}
	return []element{elementOf(apacheFields, letter, whole)}, rest, nil
}

// apacheFields maps the directives of mod_log_config that matter, with their
// argument in lower case, to what they hold. All other directives are skipped.
var apacheFields = byName(`
	request     r
	path        U
	query       q
	method      m
	protocol    H
	host:2      V
	host:3      v
	port        p {canonical}p {local}p
	referer     {referer}i
	host        {host}i
	scheme      {request_scheme}e {request_scheme}x
	time        {sec}t {msec}t {usec}t
	status      s
	bytes       b B O
	duration    T {s}T
	duration:ms {ms}T
	duration:us {us}T D
	client      h a {c}a
	agent       {user-agent}i
	request_id  {unique_id}e {x-request-id}i`)

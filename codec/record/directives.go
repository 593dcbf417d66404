package record

import (
	"errors"
	"fmt"
	"strings"
)

// nginxElements parses an nginx log_format. text is the bare format, or the
// directive with its name, escape= parameter and quoted strings.
func nginxElements(text string) ([]element, *Dialect, error) {
	text = strings.TrimSpace(text)
	quotes := "'" // a bare format may start and end with double quotes of its own
	if rest, ok := strings.CutPrefix(text, "log_format "); ok {
		quotes = `'"`
		_, rest, _ = strings.Cut(strings.TrimLeft(rest, " \t"), " ") // skip the format's name
		text = strings.TrimLeft(rest, " \t\n")
	}
	d := nginxDialect
	if rest, ok := strings.CutPrefix(text, "escape="); ok {
		how, after, _ := strings.Cut(rest, " ")
		switch how {
		case "default":
		case "json":
			d = jsonDialect
		case "none":
			d = nil
		default:
			return nil, d, fmt.Errorf("invalid log_format: escape=%s must be default, json or none", how)
		}
		text = strings.TrimLeft(after, " \t\n")
	}
	out, err := elementsOf(unquotePieces(text, quotes), '$', nginxElement)
	return out, d, err
}

// elementsOf splits a format into literals and the elements that read returns.
// Each byte begin starts an element.
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
	e, ok := nginxVariables[name]
	if !ok {
		e.kind = fkSkip
	}
	e.text = "$" + name
	return []element{e}, rest, nil
}

// unquotePieces joins the quoted strings of a directive. It returns text
// unchanged if it is not a sequence of quoted strings.
func unquotePieces(text, quotes string) string {
	var b strings.Builder
	rest := strings.TrimRight(text, " \t\n;")
	for rest != "" {
		q := rest[0]
		if strings.IndexByte(quotes, q) < 0 {
			return text
		}
		end := 1
		for end < len(rest) && rest[end] != q {
			if rest[end] == '\\' && end+1 < len(rest) && rest[end+1] == q {
				end++
			}
			b.WriteByte(rest[end])
			end++
		}
		if end == len(rest) {
			return text
		}
		rest = strings.TrimLeft(rest[end+1:], " \t\n")
	}
	return b.String()
}

// nginxName parses $name or ${name} at the start of text.
func nginxName(text string) (name, rest string, err error) {
	s := text[1:]
	if strings.HasPrefix(s, "{") {
		name, rest, ok := strings.Cut(s[1:], "}")
		if !ok || name == "" {
			return "", "", errors.New("invalid log format: a variable has no closing brace")
		}
		return name, rest, nil
	}
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	if n == 0 {
		return "", "", errors.New("invalid log format: a '$' is not followed by a variable name")
	}
	return s[:n], s[n:], nil
}

func isNameByte(c byte) bool { return c == '_' || isDigit(c) || c|0x20-'a' < 26 }

// nginxVariables maps the variables of ngx_http_core_module that matter to what
// they hold. All other variables are skipped.
var nginxVariables = map[string]element{
	"request":         {kind: fkRequest},
	"request_uri":     {kind: fkTarget},
	"uri":             {kind: fkPath},
	"document_uri":    {kind: fkPath},
	"args":            {kind: fkQuery},
	"query_string":    {kind: fkQuery},
	"is_args":         {kind: fkIsArgs},
	"request_method":  {kind: fkMethod},
	"server_protocol": {kind: fkProto},
	"http_referer":    {kind: fkReferer},
	"scheme":          {kind: fkScheme},
	"server_port":     {kind: fkPort},
	"http_host":       {kind: fkHost, rank: 0},
	"host":            {kind: fkHost, rank: 1},
	"server_name":     {kind: fkHost, rank: 3},
	"time_local":      {kind: fkAttr, attr: attrTime},
	"time_iso8601":    {kind: fkAttr, attr: attrTime},
	"msec":            {kind: fkAttr, attr: attrTime},
	"status":          {kind: fkAttr, attr: attrStatus},
	"body_bytes_sent": {kind: fkAttr, attr: attrBytes},
	"bytes_sent":      {kind: fkAttr, attr: attrBytes},
	"request_time":    {kind: fkAttr, attr: attrDuration},
	"remote_addr":     {kind: fkAttr, attr: attrClient},
	"http_user_agent": {kind: fkAttr, attr: attrAgent},
	"request_id":      {kind: fkAttr, attr: attrRequestID},
}

// apacheElements parses an Apache LogFormat. text is the bare format, with or
// without the backslashes that a configuration file needs, or the directive
// with its nickname.
func apacheElements(text string) ([]element, error) {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "LogFormat "); ok {
		rest = strings.TrimSpace(rest)
		if end := strings.LastIndexByte(rest, '"'); len(rest) > 0 && rest[0] == '"' && end > 0 {
			text = rest[1:end]
		} else {
			text = rest
		}
	}
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\t`, "\t").Replace(text)
	return elementsOf(text, '%', apacheDirective)
}

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
		// [10/Oct/2000:13:55:36 -0700] contains a space, so its end is found by
		// the brackets and not by the space after it.
		return []element{{text: "["}, {kind: fkAttr, attr: attrTime, text: whole}, {text: "]"}}, rest, nil
	}
	e := apacheField(letter, arg)
	e.text = whole
	return []element{e}, rest, nil
}

// apacheFields maps the directives of mod_log_config that matter, with their
// argument in lower case, to what they hold. All other directives are skipped.
var apacheFields = map[string]element{
	"r":                 {kind: fkRequest},
	"U":                 {kind: fkPath},
	"q":                 {kind: fkQuery},
	"m":                 {kind: fkMethod},
	"H":                 {kind: fkProto},
	"V":                 {kind: fkHost, rank: 2},
	"v":                 {kind: fkHost, rank: 3},
	"p":                 {kind: fkPort},
	"{canonical}p":      {kind: fkPort},
	"{local}p":          {kind: fkPort},
	"{referer}i":        {kind: fkReferer},
	"{host}i":           {kind: fkHost, rank: 0},
	"{request_scheme}e": {kind: fkScheme},
	"{request_scheme}x": {kind: fkScheme},
	"{sec}t":            {kind: fkAttr, attr: attrTime},
	"{msec}t":           {kind: fkAttr, attr: attrTime},
	"{usec}t":           {kind: fkAttr, attr: attrTime},
	"s":                 {kind: fkAttr, attr: attrStatus},
	"b":                 {kind: fkAttr, attr: attrBytes},
	"B":                 {kind: fkAttr, attr: attrBytes},
	"O":                 {kind: fkAttr, attr: attrBytes},
	"T":                 {kind: fkAttr, attr: attrDuration},
	"{s}T":              {kind: fkAttr, attr: attrDuration},
	"{ms}T":             {kind: fkAttr, attr: attrDuration, unit: 3},
	"{us}T":             {kind: fkAttr, attr: attrDuration, unit: 6},
	"D":                 {kind: fkAttr, attr: attrDuration, unit: 6},
	"h":                 {kind: fkAttr, attr: attrClient},
	"a":                 {kind: fkAttr, attr: attrClient},
	"{c}a":              {kind: fkAttr, attr: attrClient},
	"{user-agent}i":     {kind: fkAttr, attr: attrAgent},
	"{unique_id}e":      {kind: fkAttr, attr: attrRequestID},
	"{x-request-id}i":   {kind: fkAttr, attr: attrRequestID},
}

// apacheField returns the element for a directive.
func apacheField(letter, arg string) element {
	name := letter
	if arg != "" {
		name = "{" + strings.ToLower(arg) + "}" + letter
	}
	if e, ok := apacheFields[name]; ok {
		return e
	}
	return element{kind: fkSkip}
}

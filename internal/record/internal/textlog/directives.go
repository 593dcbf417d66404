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
		e.use = useSkipped
	}
	e.text = "$" + name
	return []element{e}, rest, nil
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
var nginxVariables = map[string]element{
	"request":         {use: locate.UseRequest},
	"request_uri":     {use: locate.UseTarget},
	"uri":             {use: locate.UsePath},
	"document_uri":    {use: locate.UsePath},
	"args":            {use: locate.UseQuery},
	"query_string":    {use: locate.UseQuery},
	"is_args":         {use: useIsArgs},
	"request_method":  {use: locate.UseMethod},
	"server_protocol": {use: useProtocol},
	"http_referer":    {use: locate.UseReferer},
	"scheme":          {use: locate.UseScheme},
	"server_port":     {use: locate.UsePort},
	"http_host":       {use: locate.UseHost, rank: 0},
	"host":            {use: locate.UseHost, rank: 1},
	"server_name":     {use: locate.UseHost, rank: 3},
	"time_local":      {use: locate.UseTime},
	"time_iso8601":    {use: locate.UseTime},
	"msec":            {use: locate.UseTime},
	"status":          {use: locate.UseStatus},
	"body_bytes_sent": {use: locate.UseBytes},
	"bytes_sent":      {use: locate.UseBytes},
	"request_time":    {use: locate.UseDuration},
	"remote_addr":     {use: locate.UseClient},
	"http_user_agent": {use: locate.UseAgent},
	"request_id":      {use: locate.UseRequestID},
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
		// [10/Oct/2000:13:55:36 -0700] contains a space, so the brackets, not
		// the next space, delimit it.
		return []element{{text: "["}, {use: locate.UseTime, text: whole}, {text: "]"}}, rest, nil
	}
	e := apacheField(letter, arg)
	e.text = whole
	return []element{e}, rest, nil
}

// apacheFields maps the directives of mod_log_config that matter, with their
// argument in lower case, to what they hold. All other directives are skipped.
var apacheFields = map[string]element{
	"r":                 {use: locate.UseRequest},
	"U":                 {use: locate.UsePath},
	"q":                 {use: locate.UseQuery},
	"m":                 {use: locate.UseMethod},
	"H":                 {use: useProtocol},
	"V":                 {use: locate.UseHost, rank: 2},
	"v":                 {use: locate.UseHost, rank: 3},
	"p":                 {use: locate.UsePort},
	"{canonical}p":      {use: locate.UsePort},
	"{local}p":          {use: locate.UsePort},
	"{referer}i":        {use: locate.UseReferer},
	"{host}i":           {use: locate.UseHost, rank: 0},
	"{request_scheme}e": {use: locate.UseScheme},
	"{request_scheme}x": {use: locate.UseScheme},
	"{sec}t":            {use: locate.UseTime},
	"{msec}t":           {use: locate.UseTime},
	"{usec}t":           {use: locate.UseTime},
	"s":                 {use: locate.UseStatus},
	"b":                 {use: locate.UseBytes},
	"B":                 {use: locate.UseBytes},
	"O":                 {use: locate.UseBytes},
	"T":                 {use: locate.UseDuration},
	"{s}T":              {use: locate.UseDuration},
	"{ms}T":             {use: locate.UseDuration, unit: 3},
	"{us}T":             {use: locate.UseDuration, unit: 6},
	"D":                 {use: locate.UseDuration, unit: 6},
	"h":                 {use: locate.UseClient},
	"a":                 {use: locate.UseClient},
	"{c}a":              {use: locate.UseClient},
	"{user-agent}i":     {use: locate.UseAgent},
	"{unique_id}e":      {use: locate.UseRequestID},
	"{x-request-id}i":   {use: locate.UseRequestID},
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
	return element{use: useSkipped}
}

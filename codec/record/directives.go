package record

import (
	"errors"
	"fmt"
	"strings"
)

// nginxElements takes an nginx log_format apart. The text may be the bare
// format, or the directive with its name, its escape= parameter and its quoted
// strings.
func nginxElements(text string) ([]element, encoding, error) {
	text = strings.TrimSpace(text)
	quotes := "'" // bare text may well start and end with a double quote of its own
	if rest, ok := strings.CutPrefix(text, "log_format "); ok {
		quotes = `'"`
		_, rest, _ = strings.Cut(strings.TrimLeft(rest, " \t"), " ") // the format's name
		text = strings.TrimLeft(rest, " \t\n")
	}
	enc := encNginx
	if rest, ok := strings.CutPrefix(text, "escape="); ok {
		how, after, _ := strings.Cut(rest, " ")
		switch how {
		case "default":
		case "json":
			enc = encJSON
		case "none":
			enc = encNone
		default:
			return nil, enc, fmt.Errorf("escape=%s is none of default, json, none", how)
		}
		text = strings.TrimLeft(after, " \t\n")
	}
	text = unquotePieces(text, quotes)
	var out []element
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			out = append(out, element{text: text[:i]})
			text = text[i:]
			continue
		}
		name, rest, err := nginxName(text)
		if err != nil {
			return nil, enc, err
		}
		e := nginxVariable(name)
		e.text = "$" + name
		out = append(out, e)
		text = rest
	}
	return out, enc, nil
}

// unquotePieces joins the strings of a directive, which stand in quotes. Text
// that is not a sequence of them comes back as it is.
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

// nginxName reads $name or ${name} at the start of text.
func nginxName(text string) (name, rest string, err error) {
	s := text[1:]
	if strings.HasPrefix(s, "{") {
		name, rest, ok := strings.Cut(s[1:], "}")
		if !ok || name == "" {
			return "", "", errors.New("a variable of the log format has no closing brace")
		}
		return name, rest, nil
	}
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	if n == 0 {
		return "", "", errors.New("a '$' of the log format starts no variable")
	}
	return s[:n], s[n:], nil
}

func isNameByte(c byte) bool { return c == '_' || isDigit(c) || c|0x20-'a' < 26 }

// nginxVariable says what a variable of ngx_http_core_module holds.
func nginxVariable(name string) element {
	switch name {
	case "request":
		return element{kind: fkRequest}
	case "request_uri":
		return element{kind: fkTarget}
	case "uri", "document_uri":
		return element{kind: fkPath}
	case "args", "query_string":
		return element{kind: fkQuery}
	case "is_args":
		return element{kind: fkIsArgs}
	case "request_method":
		return element{kind: fkMethod}
	case "server_protocol":
		return element{kind: fkProto}
	case "http_referer":
		return element{kind: fkReferer}
	case "scheme":
		return element{kind: fkScheme}
	case "server_port":
		return element{kind: fkPort}
	case "http_host":
		return element{kind: fkHost, rank: 0}
	case "host":
		return element{kind: fkHost, rank: 1}
	case "server_name":
		return element{kind: fkHost, rank: 3}
	}
	return element{kind: fkSkip}
}

// apacheElements takes an Apache LogFormat apart. The text may be the bare
// format, with or without the backslashes that a configuration file needs, or
// the directive with its nickname.
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
	var out []element
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			out = append(out, element{text: text[:i]})
			text = text[i:]
			continue
		}
		elems, rest, err := apacheDirective(text)
		if err != nil {
			return nil, err
		}
		out = append(out, elems...)
		text = rest
	}
	return out, nil
}

// apacheDirective reads one directive at the start of text:
//
//	% [!] [200,304] [<|>] [{argument}] [^] letters
func apacheDirective(text string) (elems []element, rest string, err error) {
	s := strings.TrimLeft(text[1:], "!,0123456789<>")
	arg := ""
	if strings.HasPrefix(s, "{") {
		var ok bool
		if arg, s, ok = strings.Cut(s[1:], "}"); !ok {
			return nil, "", errors.New("a directive of the log format has no closing brace")
		}
	}
	s = strings.TrimLeft(s, "<>")
	n := 1
	if strings.HasPrefix(s, "^") {
		n = 3 // %^FU, %{x}^ti, %{x}^to
	}
	if len(s) < n || n == 1 && s[0] != '%' && s[0]|0x20-'a' >= 26 {
		return nil, "", errors.New("a '%' of the log format starts no directive")
	}
	letter, rest := s[:n], s[n:]
	whole := text[:len(text)-len(rest)]
	switch {
	case letter == "%":
		return []element{{text: "%"}}, rest, nil
	case letter == "t" && arg == "":
		// [10/Oct/2000:13:55:36 -0700]: its brackets are better landmarks than the
		// space behind it.
		return []element{{text: "["}, {kind: fkSkip, text: whole}, {text: "]"}}, rest, nil
	}
	e := apacheField(letter, arg)
	e.text = whole
	return []element{e}, rest, nil
}

// apacheField says what a directive of mod_log_config holds.
func apacheField(letter, arg string) element {
	switch letter {
	case "r":
		return element{kind: fkRequest}
	case "U":
		return element{kind: fkPath}
	case "q":
		return element{kind: fkQuery}
	case "m":
		return element{kind: fkMethod}
	case "H":
		return element{kind: fkProto}
	case "V":
		return element{kind: fkHost, rank: 2}
	case "v":
		return element{kind: fkHost, rank: 3}
	case "p":
		if arg == "" || arg == "canonical" || arg == "local" {
			return element{kind: fkPort}
		}
	case "i":
		switch {
		case strings.EqualFold(arg, "Referer"):
			return element{kind: fkReferer}
		case strings.EqualFold(arg, "Host"):
			return element{kind: fkHost, rank: 0}
		}
	case "e", "x":
		if arg == "REQUEST_SCHEME" {
			return element{kind: fkScheme}
		}
	}
	return element{kind: fkSkip}
}

package record

import "bytes"

// QuoteOf returns the value of Quote for an input of the format c.Format that begins with
// head. It is c.Quote unless that is empty and the format is a table separated by tabs.
// Many programs write such tables without quotes, so it is `"` only if cells of head begin
// with a quote and all of these also end with one on the same line, and "none" if one of
// them does not.
func (c *Config) QuoteOf(head []byte) string {
	f, _ := c.format()
	table, is := f.(tableFormat)
	if !is {
		return c.Quote
	}
	t, err := c.tableSyntax(table.sep)
	if err != nil || !t.byLine {
		return c.Quote
	}
	quoted := false
	for head = head[markLen(head):]; len(head) > 0; {
		n := bytes.IndexByte(head, '\n') + 1
		if n == 0 {
			n = len(head)
		}
		body := trimEnd(head[:n])
		switch head = head[n:]; {
		case !hasOpening(body, &t):
		case t.of(body) == t.bare && (len(head) > 0 || !quoted): // else head may be cut there
			return quoteNone
		default:
			quoted = true
		}
	}
	if quoted {
		return `"`
	}
	return ""
}

// hasOpening reports whether a cell of a line begins with a quote.
func hasOpening(body []byte, t *tableSyntax) bool {
	return len(body) > 0 && body[0] == t.quote || bytes.Contains(body, []byte{t.sep, t.quote})
}

package textlog

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file finds the client in access logs of the family of combined. Usually it is
// the first word, before "- user". Other words can precede it: the header of a log
// collector, a virtual host, or the other addresses of a chain of proxies.

// clientSpan returns the client in a record of an access log. head ends before the
// time, and the fields before the client end at from. The span is empty if there is no
// client.
func clientSpan(head []byte, from int) locate.Span {
	n := bytes.IndexByte(head[from:], ' ')
	if n <= 0 {
		return locate.Span{}
	}
	first := locate.Between(from, from+n)
	if isIdentAbsent(head[first.End:]) && bytes.IndexByte(first.In(head), ',') < 0 {
		return afterNames(head, first)
	}
	return anyClient(head, first)
}

// afterNames returns word without names before an address, such as the level and the
// logger in INFO:werkzeug:192.0.2.1, which Python writes.
func afterNames(head []byte, word locate.Span) locate.Span {
	if bytes.IndexByte(word.In(head), ':') < 0 {
		return word // the most frequent case
	}
	rest := word
	for !isAddress(rest.In(head)) {
		n := bytes.IndexByte(rest.In(head), ':') + 1
		if n == 0 {
			return word
		}
		rest.Start += n
	}
	return rest
}

// isIdentAbsent reports whether rest continues with a "-" for the identity of
// the client.
func isIdentAbsent(rest []byte) bool {
	return len(rest) > 2 && rest[0] == ' ' && rest[1] == '-' && rest[2] == ' '
}

// anyClient is clientSpan for a head whose first word need not be the client.
// The client is the address before "- user", or the first word if that is an
// address, or the second word if that is an address, as after a virtual host.
// Otherwise the client is the first word, if not more than two words follow it.
// In a list of addresses, the client is the first address. If nothing follows
// the "-", it is the user: lighttpd writes the client and the virtual host
// before the user.
func anyClient(head []byte, first locate.Span) locate.Span {
	list, second := locate.Between(first.Start, first.Start), locate.Span{}
	words, lists := 0, 0 // a word counts as a list too
	for pos := first.Start; pos < len(head); words++ {
		word := locate.Between(pos, locate.WordEnd(head, pos))
		if list.End == list.Start || head[list.End-1] != ',' {
			list.Start = word.Start
			lists++
		}
		list.End = word.End
		rest := head[word.End:]
		client := firstOf(head, list)
		isClient := isAddress(client.In(head))
		if isClient && isIdentAbsent(rest) && len(rest) > len(" - ") {
			return client
		}
		if isClient && lists == 2 {
			second = client
		}
		pos = word.End + 1
	}
	switch client := firstOf(head, first); {
	case isAddress(client.In(head)):
		return client
	case second.End > 0 && string(first.In(head)) != "-":
		return second
	case words <= 3:
		return client
	}
	return locate.Span{}
}

// firstOf returns the first element of a list that is separated by commas.
func firstOf(head []byte, list locate.Span) locate.Span {
	if n := bytes.IndexByte(list.In(head), ','); n >= 0 {
		list.End = list.Start + n
	}
	return list
}

// isAddress reports whether s looks like an IP address, which may have a port.
func isAddress(s []byte) bool {
	if len(s) > 0 && s[0] == '[' {
		return locate.IsBracketed(s)
	}
	host, port, found := bytes.Cut(s, []byte(":"))
	if locate.IsBareIPv6(s) {
		return true
	}
	return len(host) > 0 && locate.IPv6Len(host) == len(host) && bytes.Count(host, []byte(".")) == 3 && (!found || locate.AllDigits(port))
}

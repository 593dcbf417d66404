package record

import "bytes"

// This file finds the client in access logs of the family of combined. Usually it is
// the first word, before "- user". Other words can precede it: the header of a log
// collector, a virtual host, or the other addresses of a chain of proxies.

// clientSpan returns the client in a record of an access log. head ends before the
// time, and the fields before the client end at from. The span is empty if there is no
// client.
func clientSpan(head []byte, from int) span {
	n := bytes.IndexByte(head[from:], ' ')
	if n <= 0 {
		return span{}
	}
	first := span{from, from + n}
	if isIdentAbsent(head[first.end:]) && bytes.IndexByte(first.in(head), ',') < 0 {
		return first // nearly always
	}
	return anyClient(head, first)
}

// isIdentAbsent reports whether rest continues with the "-" that stands for the
// identity of the client.
func isIdentAbsent(rest []byte) bool {
	return len(rest) > 2 && rest[0] == ' ' && rest[1] == '-' && rest[2] == ' '
}

// anyClient is clientSpan for a head whose first word need not be the client. The
// client is the address before "- user", or the first word if that is an address, or
// the second one if that is, as after a virtual host. Otherwise it is the first word, if
// not more than two words follow it. Of a list of addresses, it is the first. The "-"
// alone is the user: lighttpd writes the client and the virtual host before it.
func anyClient(head []byte, first span) span {
	list, second := span{first.start, first.start}, span{}
	words, lists := 0, 0 // lists of a single word among them
	for pos := first.start; pos < len(head); words++ {
		word := span{pos, wordEnd(head, pos)}
		if list.end == list.start || head[list.end-1] != ',' {
			list.start = word.start
			lists++
		}
		list.end = word.end
		rest := head[word.end:]
		client := firstOf(head, list)
		isClient := isAddress(client.in(head))
		if isClient && isIdentAbsent(rest) && len(rest) > len(" - ") {
			return client
		}
		if isClient && lists == 2 {
			second = client
		}
		pos = word.end + 1
	}
	switch client := firstOf(head, first); {
	case isAddress(client.in(head)):
		return client
	case second.end > 0 && string(first.in(head)) != "-":
		return second
	case words <= 3:
		return client
	}
	return span{}
}

// firstOf returns the first element of a list that is separated by commas.
func firstOf(head []byte, list span) span {
	if n := bytes.IndexByte(list.in(head), ','); n >= 0 {
		list.end = list.start + n
	}
	return list
}

// isAddress reports whether s looks like an IP address, which may have a port.
func isAddress(s []byte) bool {
	if len(s) > 0 && s[0] == '[' {
		return isBracketed(s)
	}
	host, port, found := bytes.Cut(s, []byte(":"))
	if isBareIPv6(s) {
		return true
	}
	return len(host) > 0 && ipv6Len(host) == len(host) && bytes.Count(host, []byte(".")) == 3 && (!found || allDigits(port))
}

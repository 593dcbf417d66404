// Package psl finds the public suffix of a host by the Public Suffix List (https://publicsuffix.org/list/): the part under
// which others register names, like com, co.uk or github.io. The list is in table.go, as a tree of labels; nothing is read or
// built when the program starts, and a look-up allocates nothing.
package psl

//go:generate go run gen.go

// The two sections of the list: the suffixes of registries ("ICANN"), and those of companies that hand out names below one of
// their own ("private"). A property of a node has one bit for each, in this order.
const (
	registry = 1
	company  = 2
)

// A node is a word. From its lowest bits on:
//
//	bits   what
//	0..1   the suffix that ends the walk here is a rule
//	2..3   so is it with any one label in front: *.suffix
//	4..5   it is an exception from such a rule: !suffix
//	6..7   there are rules further down the tree
//	8..13  length of the label
//	14..31 offset of the label in labels
//	32..47 the parent: its index in nodes and 1, or 0 below the root
const (
	ruleShift      = 0
	wildcardShift  = 2
	exceptionShift = 4
	deeperShift    = 6
	lengthShift    = 8
	offsetShift    = 14
	parentShift    = 32

	lengthMask = 1<<(offsetShift-lengthShift) - 1
	offsetMask = 1<<(parentShift-offsetShift) - 1
)

// The hash function that gen.go made the table with.
const (
	hashStart  = 0xcbf29ce484222325
	hashPrime  = 0x100000001b3
	bucketBits = 12
	bucketMul  = 0x9e3779b97f4a7c15
	slotMul    = 0xd1342543de82ef95
)

// SuffixLen returns the length in bytes of the public suffix of host, which stands at the end of host: that of the longest rule
// that matches, or of the exception that does, without its first label. listed says that there was a rule; if not, the suffix is
// the last label, by the default rule "*". With private, the rules of the private section count too.
//
// host is in lower case and ASCII, with A-labels, and has no root dot. It may be a public suffix itself: then n is len(host). An
// empty label is matched by no rule, not even by a wildcard: n is 0 if host is empty or ends in a dot. That host is no IP
// address is for the caller to know.
//
// The time is that of one pass over the suffix and the label in front of it.
func SuffixLen(host []byte, private bool) (n int, listed bool) {
	sections := uint64(registry)
	if private {
		sections |= company
	}
	hash, id, wildcard := uint64(hashStart), 0, false
	for end := len(host); ; {
		start := end
		for start > 0 && host[start-1] != '.' {
			start--
			hash = (hash ^ uint64(host[start])) * hashPrime
		}
		if start == end {
			return n, listed
		}
		if wildcard || end == len(host) { // the default rule is a wildcard below the root
			n, listed = len(host)-start, wildcard
		}
		var word uint64
		if word, id = find(hash, id, host[start:end]); id == 0 {
			return n, listed
		}
		if word>>exceptionShift&sections != 0 {
			return len(host) - end - 1, true
		}
		if word>>ruleShift&sections != 0 {
			n, listed = len(host)-start, true
		}
		if start == 0 || word>>deeperShift&sections == 0 {
			return n, listed
		}
		wildcard = word>>wildcardShift&sections != 0
		hash = (hash ^ '.') * hashPrime
		end = start - 1
	}
}

// find returns the node of label below the node parent, and its number: its index and 1. It is 0 if there is none. hash is that
// of the label and all behind it.
//
// The table is a perfect hash: gen.go chose for each bucket of keys a displacement that sends each of them to a slot of its own,
// so that there is only one slot to look at. What is found there may be another label, or the same label elsewhere in the tree.
func find(hash uint64, parent int, label []byte) (word uint64, id int) {
	d := uint64(displace[hash*bucketMul>>(64-bucketBits)])
	slot := (hash ^ d) * slotMul >> 32 * uint64(len(nodes)) >> 32
	word = nodes[slot]
	offset := int(word >> offsetShift & offsetMask)
	length := int(word >> lengthShift & lengthMask)
	if int(word>>parentShift) != parent || length != len(label) || labels[offset:offset+length] != string(label) {
		return 0, 0
	}
	return word, int(slot) + 1
}

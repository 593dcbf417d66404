// Package psl finds the public suffix of a host by the Public Suffix List
// (https://publicsuffix.org/list/). A public suffix is a domain under which the
// public can register names, such as com, co.uk or github.io. The list is
// compiled into tables.bin as a tree of labels. The program neither reads nor
// builds anything at startup, and a lookup does not allocate.
package psl

import (
	"bytes"
	"encoding/binary"
)

//go:generate go test -run ^TestTables$ -update .

// The two sections of the list: the suffixes of registries ("ICANN"), and the
// suffixes of companies that let customers register names below their own
// domains ("private"). Each property of a node has one bit for each section, in
// this order.
const (
	registry = 1
	company  = 2
)

// A node is a 64-bit word. From its lowest bits up:
//
//	bits   content
//	0..1   the suffix that ends here is a rule
//	2..3   a rule consists of any one label and the suffix: *.suffix
//	4..5   the suffix is an exception from a wildcard rule: !suffix
//	6..7   there are rules further down the tree
//	8..13  length of the label
//	14..31 offset of the label in labels
//	32..47 index of the parent in nodes plus 1; 0 below the root
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

// The parameters of the hash function that TestTables uses to build the table.
const (
	hashStart  = 0xcbf29ce484222325
	hashPrime  = 0x100000001b3
	bucketBits = 12
	bucketMul  = 0x9e3779b97f4a7c15
	slotMul    = 0xd1342543de82ef95
)

// The parameters of the hash functions of the sieves.
const (
	ruleBits     = 17
	wildcardBits = 14
	lastMul      = 0x9e3779b97f4a7c15
	firstMul     = 0xd1342543de82ef95
)

// SuffixLen returns the length in bytes of the public suffix at the end of
// host: the longest rule that matches or, if an exception matches, that
// exception without its first label. listed reports whether a rule matched; if
// none did, the suffix is the last label, by the default rule "*". If private
// is true, the rules of the private section count too.
//
// host must be in lower case and ASCII, with A-labels and without a trailing
// dot. It may be a public suffix itself: n is then len(host). No rule matches
// an empty label, not even a wildcard: n is 0 if host is empty or ends in a
// dot. The caller must make sure that host is not an IP address.
//
// The time is proportional to the length of the suffix and the label in front.
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

// IsSuffix reports whether SuffixLen(host, true) is the length of host, which must not
// be empty or contain empty labels. For most hosts it looks up only two bits.
func IsSuffix(host []byte) bool {
	if len(host) >= 8 && !mayBeSuffix(host) {
		return false
	}
	n, _ := SuffixLen(host, true)
	return n == len(host)
}

// mayBeSuffix asks the sieves about a host of at least 8 bytes. A public suffix
// is a rule, or any label in front of the rest of a wildcard rule, or a single
// label.
func mayBeSuffix(host []byte) bool {
	dot := bytes.IndexByte(host, '.')
	first, last := uint64(binary.LittleEndian.Uint32(host)), binary.LittleEndian.Uint64(host[len(host)-8:])
	rule, wildcard := ruleHash(first, last, len(host)), wildcardHash(last, len(host)-dot-1)
	return dot < 0 || (ruleSieve[rule/8]>>(rule%8)|wildcardSieve[wildcard/8]>>(wildcard%8))&1 != 0
}

// ruleHash returns the bit of a rule, or a host, with the given first four and last
// eight bytes and length.
func ruleHash(first, last uint64, n int) uint64 {
	return (last*lastMul ^ first*firstMul + uint64(n)) * lastMul >> (64 - ruleBits)
}

// wildcardHash returns the bit of a text after a wildcard. last has the last
// eight bytes up to its end, and n is the length of the text.
func wildcardHash(last uint64, n int) uint64 {
	last >>= max(0, 64-8*n) & 63
	return (last + uint64(n)) * lastMul >> (64 - wildcardBits)
}

// find returns the node of label below the node parent, and its id: its index
// plus 1. It returns id 0 if there is no such node. hash covers the label and
// the rest of the host.
//
// The table is a perfect hash: for each bucket of keys, TestTables chose a
// displacement that sends each key to a different slot, so find examines only
// one slot. That slot may hold another label, or the same label elsewhere in
// the tree.
func find(hash uint64, parent int, label []byte) (word uint64, id int) {
	d := uint64(displace.At(int(hash * bucketMul >> (64 - bucketBits))))
	slot := (hash ^ d) * slotMul >> 32 * uint64(nodes.Len()) >> 32
	word = nodes.At(int(slot))
	offset := int(word >> offsetShift & offsetMask)
	length := int(word >> lengthShift & lengthMask)
	if int(word>>parentShift) != parent || length != len(label) || labels[offset:offset+length] != string(label) {
		return 0, 0
	}
	return word, int(slot) + 1
}

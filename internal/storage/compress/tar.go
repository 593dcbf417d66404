package compress

import (
	"bytes"
	"strconv"
)

// The start of a tar archive is a header of 512 bytes (POSIX.1-2017, pax,
// "ustar Interchange Format"). It holds the name of the first member in 100
// bytes, padded with NUL, and at fixed offsets a checksum and, except in old
// archives, a magic number.
const (
	tarHeader   = 512
	tarName     = 100
	tarSum      = 148
	tarSumLen   = 8
	tarMagic    = 257
	tarMagicSet = "ustar"
)

// IsZip reports whether head is the beginning of a zip archive.
func IsZip(head []byte) bool {
	m, found, _ := find(head)
	return found && m.name == "zip"
}

// IsTar reports whether head, the beginning of a decompressed stream, is the
// header of a tar archive.
func IsTar(head []byte) bool {
	if len(head) < tarHeader || !mayBeTar(head) {
		return false
	}
	return bytes.HasPrefix(head[tarMagic:], []byte(tarMagicSet)) || tarSumFits(head[:tarHeader])
}

// mayBeTar reports whether head could be the beginning of a tar header: a name
// without a line feed, followed only by NUL bytes.
func mayBeTar(head []byte) bool {
	field := head[:min(len(head), tarName)]
	name, rest, _ := bytes.Cut(field, []byte{0})
	return len(name) > 0 && bytes.IndexByte(name, '\n') < 0 && len(bytes.Trim(rest, "\x00")) == 0
}

// tarSumFits reports whether the checksum of a header matches: the octal sum of
// all its bytes, with the bytes of the checksum itself counted as spaces.
func tarSumFits(header []byte) bool {
	text := bytes.Trim(header[tarSum:tarSum+tarSumLen], " \x00")
	want, err := strconv.ParseInt(string(text), 8, 64)
	if err != nil {
		return false
	}
	sum := int64(tarSumLen * ' ')
	for i, c := range header {
		if i < tarSum || i >= tarSum+tarSumLen {
			sum += int64(c)
		}
	}
	return sum == want
}

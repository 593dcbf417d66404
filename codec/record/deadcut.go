package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"
)

// leastCut is the minimum length of the record in a cut dead letter, in bytes
// of its JSON text. A shorter rest is worth less than its space.
const leastCut = 64

// The starts of the member record, which is the last one of a dead letter. No
// JSON string contains such a text, because the quotes in it are escaped.
const (
	deadRecord   = `,"record":"`
	deadRecord64 = `,"record_b64":"`
)

// CutDeadLetter appends a shorter form of a dead letter, a line written by a
// [Worker], to dst. Each cut halves the record, and adds the members truncated,
// length and sha256 about the whole record; the last cut removes the record and
// the message key. If the dead letter cannot be cut further, or is not one,
// CutDeadLetter returns dst unchanged.
func CutDeadLetter(dst, letter []byte) []byte {
	mark, in64 := deadRecord, false
	head, text, found := bytes.Cut(letter, []byte(mark))
	if !found {
		mark, in64 = deadRecord64, true
		head, text, found = bytes.Cut(letter, []byte(mark))
	}
	text, whole := bytes.CutSuffix(text, []byte("\"}\n"))
	if !found || !whole {
		return cutKey(dst, letter)
	}
	short := text[:len(text)/2&^3]
	if !in64 {
		short = text[:jsonPrefix(text, len(text)/2)]
	}
	start := len(dst)
	dst = append(dst, head...)
	if !bytes.Contains(head, []byte(`,"truncated":true,`)) {
		dst = appendWhole(dst, text, in64)
	}
	if len(short) < leastCut {
		letter = append(bytes.Clone(dst[start:]), '}', '\n')
		if least := cutKey(dst[:start], letter); len(least) > start {
			return least
		}
		return append(dst[:start], letter...)
	}
	return append(append(append(dst, mark...), short...), '"', '}', '\n')
}

// appendWhole appends the members that describe the whole record, given as the
// text of its JSON string.
func appendWhole(dst, text []byte, in64 bool) []byte {
	var rec []byte
	if in64 {
		rec, _ = base64.StdEncoding.AppendDecode(nil, text) // written by appendBase64
	} else {
		var s string
		_ = json.Unmarshal(append(append([]byte{'"'}, text...), '"'), &s) // written by appendString
		rec = []byte(s)
	}
	sum := sha256.Sum256(rec)
	dst = appendNumber(append(dst, `,"truncated":true,`...), "length", int64(len(rec)))
	dst = append(dst, `"sha256":"`...)
	return append(hex.AppendEncode(dst, sum[:]), '"')
}

// jsonPrefix returns the length of the longest prefix of text, the inside of a
// JSON string, that has at most n bytes and splits no escape and no character.
func jsonPrefix(text []byte, n int) int {
	end := 0
	for end < n {
		size := 2
		switch {
		case text[end] != '\\':
			_, size = utf8.DecodeRune(text[end:])
		case text[end+1] == 'u':
			size = 6
		}
		if end+size > n {
			break
		}
		end += size
	}
	return end
}

// cutKey appends letter without its message key to dst. If it has no key,
// cutKey returns dst unchanged.
func cutKey(dst, letter []byte) []byte {
	for _, mark := range [...]string{`,"key":"`, `,"key_b64":"`} {
		head, rest, found := bytes.Cut(letter, []byte(mark))
		if !found {
			continue
		}
		i := 0
		for i < len(rest)-1 && rest[i] != '"' {
			if rest[i] == '\\' {
				i++
			}
			i++
		}
		return append(append(dst, head...), rest[i+1:]...)
	}
	return dst
}

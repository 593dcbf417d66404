package compress

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// inUTF16 returns text in UTF-16 with a byte order mark.
func inUTF16(text string, order binary.AppendByteOrder) []byte {
	b := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

// readEncoded reads a file, n bytes at a time, from a source that returns single bytes if n is
// small.
func readEncoded(file []byte, e Encodings, n int) (text string, r *Reader) {
	var src io.Reader = bytes.NewReader(file)
	if n < 10 {
		src = iotest.OneByteReader(src)
	}
	r = NewReader(src, Options{Encodings: e})
	defer r.Close()
	var b strings.Builder
	p := make([]byte, n)
	for {
		k, err := r.Read(p)
		b.Write(p[:k])
		if err == io.EOF {
			return b.String(), r
		}
	}
}

func TestEncodings(t *testing.T) {
	var text strings.Builder
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text.WriteString([]string{"http://h/", "é", "日本", "\U0001f600", "\r\n", "\n", "x"}[rnd.IntN(7)])
	}
	want := text.String()
	lines := strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\n", "\r")
	for _, c := range []struct {
		name, encoding string
		file           []byte
		want           string
	}{
		{"little endian", "UTF-16LE", inUTF16(want, binary.LittleEndian), want},
		{"big endian", "UTF-16BE", inUTF16(want, binary.BigEndian), want},
		{"empty", "UTF-16LE", inUTF16("", binary.LittleEndian), ""},
		{"CR", "CR line ends", []byte(lines), strings.ReplaceAll(lines, "\r", "\n")},
		{"UTF-8", "", []byte(want), want},
		{"one CR", "", []byte("http://h/\r"), "http://h/\r"},
		{"binary", "", []byte("a\r\x00b\r"), "a\r\x00b\r"},
	} {
		for _, n := range []int{4, 7, 4096, 1 << 17} {
			if n < 10 && c.name == "CR" {
				continue // the first read must hold two lines
			}
			got, r := readEncoded(c.file, EncodingsConvert, n)
			if got != c.want || r.Encoding() != c.encoding || r.Verdict().Kind != OK || r.Bytes() != int64(len(got)) {
				t.Errorf("%s, %d bytes at a time: %d bytes of %d, %q, %v", c.name, n, len(got), len(c.want), r.Encoding(), r.Verdict())
			}
		}
		kind, asIs := OK, OK
		if c.encoding != "" {
			kind = UnsupportedEncoding
		}
		if strings.HasPrefix(c.encoding, "UTF") {
			asIs = UnsupportedEncoding
		}
		if got, r := readEncoded(c.file, EncodingsRefuse, 4096); r.Verdict().Kind != kind || kind != OK && got != "" {
			t.Errorf("%s, refused: %q, %v", c.name, got, r.Verdict())
		}
		if got, r := readEncoded(c.file, EncodingsAsIs, 4096); r.Verdict().Kind != asIs || asIs == OK && got != string(c.file) {
			t.Errorf("%s, as it is: %d bytes, %v", c.name, len(got), r.Verdict())
		}
	}
}

// TestUTF16Damage: halves of a pair become U+FFFD, and half a unit at the end is damage.
func TestUTF16Damage(t *testing.T) {
	for file, want := range map[string]string{
		"\xff\xfe\x3d\xd8a\x00":     "\ufffda",
		"\xff\xfe\x00\xdea\x00":     "\ufffda",
		"\xff\xfea\x00\x3d\xd8":     "a\ufffd",
		"\xff\xfe\x3d\xd8\x3d\xd8b": "\ufffd\ufffd",
	} {
		got, r := readEncoded([]byte(file), EncodingsConvert, 64)
		if v := r.Verdict(); got != want || (v.Kind == Truncated) != (len(file)%2 > 0) {
			t.Errorf("%q: %q, %v; want %q", file, got, v, want)
		}
	}
	if _, r := readEncoded([]byte("\xff\xfe\x00\x00a\x00\x00\x00"), EncodingsConvert, 64); r.Verdict().Kind != UnsupportedEncoding {
		t.Errorf("UTF-32: %v", r.Verdict())
	}
}

package compress

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// tarOf returns an archive with one member, in the given format.
func tarOf(t *testing.T, name string, format tar.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	const text = "http://h/\n"
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: format}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTar checks that an archive is rejected with its format, plain and
// compressed, however it is read. Old archives have no magic number.
func TestTar(t *testing.T) {
	old := tarOf(t, "access.log", tar.FormatUSTAR)
	copy(old[tarMagic:], make([]byte, 8))
	sum := 0
	for i, c := range old[:tarHeader] {
		if i >= tarSum && i < tarSum+tarSumLen {
			c = ' '
		}
		sum += int(c)
	}
	copy(old[tarSum:], []byte{byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
	pack, err := NewPack(Gzip, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, archive := range map[string][]byte{
		"ustar": tarOf(t, "access.log", tar.FormatUSTAR), "pax": tarOf(t, strings.Repeat("long/", 60)+"access.log", tar.FormatPAX),
		"gnu": tarOf(t, "a", tar.FormatGNU), "v7": old, "gzip": pack(nil, tarOf(t, "access.log", tar.FormatUSTAR)),
		"a name of 100 bytes": tarOf(t, strings.Repeat("n", 100), tar.FormatUSTAR),
	} {
		for how, src := range map[string]io.Reader{"at once": bytes.NewReader(archive), "byte by byte": iotest.OneByteReader(bytes.NewReader(archive))} {
			r := NewReader(src, Options{})
			text, err := io.ReadAll(r)
			if v := r.Verdict(); err != nil || len(text) > 0 || v.Kind != UnsupportedFormat || !strings.Contains(v.Detail, "tar -xOf") {
				t.Errorf("%s, %s: %d bytes of text, %v, %v", name, how, len(text), v, err)
			}
			r.Close()
		}
	}
}

// TestNoTar checks that texts that look like the beginning of an archive are
// accepted.
func TestNoTar(t *testing.T) {
	for _, text := range []string{
		"a", "a\x00", "a\x00\x00\x00", strings.Repeat("x", 600), "name" + strings.Repeat("\x00", 600),
		"a\n" + strings.Repeat("\x00", 600), "a" + strings.Repeat("\x00", 256) + "ustar", strings.Repeat("http://h/\n", 100),
	} {
		r := NewReader(iotest.HalfReader(strings.NewReader(text)), Options{})
		got, err := io.ReadAll(r)
		if err != nil || string(got) != text || r.Verdict().Kind != OK {
			t.Errorf("%q: %d bytes of %d, %v", text[:min(len(text), 20)], len(got), len(text), r.Verdict())
		}
		r.Close()
	}
}

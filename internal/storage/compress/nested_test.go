package compress

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestNested checks that data which is compressed more than once is rejected with the
// names of its layers, and that text which only begins like such data is not.
func TestNested(t *testing.T) {
	pack := func(f Format, text string) string {
		p, err := NewPack(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		return string(p(nil, []byte(text)))
	}
	gz := func(text string) string { return pack(Gzip, text) }
	const text = "http://h/\n"
	six := text
	for range 6 {
		six = gz(six)
	}
	for in, want := range map[string]string{
		gz(gz(text)):             "gzip within gzip is not supported; decompress the file once first: gzip -dc FILE | urlfold -",
		gz(gz("")):               "gzip within gzip is",
		pack(Zstd, gz(text)):     "gzip within zstd is not supported; decompress the file once first: zstd -dc FILE | urlfold -",
		gz(pack(Zstd, gz(text))): "gzip within zstd within gzip is",
		six:                      "gzip within gzip within gzip within gzip is",
		gz("PAR1\x15\x00\x15"):   "Parquet within gzip is not supported; decompress the file once first: gzip -dc FILE > TABLE",
		gz("Obj\x01\x04"):        "Avro within gzip is",
		gz("PK\x03\x04\x14"):     "zip within gzip is",
		gz(string(tarOf(t, "a", tar.FormatUSTAR))): "tar archives",
		text:                            "",
		gz(text):                        "",
		gz("PAR1,PAR2\n"):               "",
		gz("PAR1"):                      "",
		gz("x\x9c is no zlib\n"):        "",
		gz("\x1f\x8b"):                  "",
		gz("BZh9"):                      "",
		gz("P"):                         "",
		gz(strings.Repeat("x^ ", 1000)): "",
	} {
		for how, src := range map[string]io.Reader{"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(bytes.NewReader([]byte(in)))} {
			r := NewReader(src, Options{})
			got, err := io.ReadAll(r)
			v := r.Verdict()
			switch {
			case err != nil, want == "" && (len(got) == 0 || v.Kind != OK):
				t.Errorf("%.30q, %s: %d bytes of text, %v, %v", in, how, len(got), v, err)
			case want != "" && (len(got) > 0 || v.Kind != UnsupportedFormat || !strings.HasPrefix(v.Detail, want)):
				t.Errorf("%s: %d bytes of text, %v, want %s", how, len(got), v, want)
			}
			r.Close()
		}
	}
}

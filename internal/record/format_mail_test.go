package record

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/quotedprintable"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mailCases has mail and the URLs in it.
var mailCases = []struct{ name, mail, want string }{
	{"no header", "\nhttp://h/a\n", "http://h/a"},
	{"plain", "From: a\nSubject: x\n\nSee http://h/a, <http://h/b>.\r\n", "http://h/a http://h/b"},
	{"header", "From: a\nList-Unsubscribe: <http://h/u?a=b>,\n <mailto:x@h>\n\nx", "http://h/u?a=b"},
	{"quoted-printable", "content-transfer-encoding: Quoted-Printable \n\nhttp://h/?a=3Db=\n&c=3d=\r\nd= \ne =3D=x=zz http://h/=\n", "http://h/?a=b&c=de http://h/"},
	{"quoted-printable, escapes at the ends of a URL", "Content-Transfer-Encoding: quoted-printable\n\n=68ttp://h/=61=20=68ttp://h/=C3=A9\n", "http://h/a http://h/%C3%A9"},
	{"base64, odd lines", "Content-Transfer-Encoding: base64\n\naHR0\ncDovL\r\n2gvYS\n BodH \n Rw\nOi8vaC9i\n\n", "http://h/a http://h/b"},
	{"base64, two blocks", "Content-Transfer-Encoding: base64\n\naHR0cDovL2gvYSA=\naHR0cDovL2gvYg==\n", "http://h/a http://h/b"},
	{"not text", "Content-Type: application/octet-stream\n\nhttp://h/no\n", ""},
	{"html", "Content-Type: TEXT/HTML; charset=\"utf-8\"\n\n<a\n href='http://h/?a&amp;b'>http://h/no</a><svg><title/><image href=http://h/c></svg><img srcset='http://h/d 1x, http://h/e 2x'>", "http://h/?a&b http://h/c http://h/d http://h/e"},
	{"html with a base", "Content-Type: text/html\n\n<base href=http://h/x/><a href=y>", "http://h/x/y"},
	{"latin1", "Content-Type: text/plain; charset=latin1\n\nhttp://h/\xE9 http://h/b\n", "http://h/%C3%A9 http://h/b"},
	{"latin1 in quoted-printable", "Content-Type: text/html; charset=Latin1\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3D\"http://h/=E9?=\n=E9\">", "http://h/%C3%A9?%C3%A9"},
	{"unknown charset", "Content-Type: text/plain; charset=x-none\n\nhttp://h/a\n", "http://h/a"},
	{"flowed with delsp", "Content-Type: text/plain; format=flowed; DelSp=Yes\n\n> http://h/a \n> bc\n>> http://h/d \n> e\n http://h/f \ng \n http://h/h\n-- \nhttp://h/i\n", "http://h/abc http://h/d http://h/fghttp://h/h http://h/i"},
	{"flowed", "Content-Type: text/plain; format=flowed\n\nhttp://h/a \nb\n", "http://h/a"},
	{"flowed in quoted-printable", "Content-Type: text/plain; format=flowed; delsp=yes\nContent-Transfer-Encoding: quoted-printable\n\nhttp://h/a=20\nb=\nc\n", "http://h/abc"},
	{"multipart", "Content-Type: multipart/mixed; boundary=\"a b\"\n\nhttp://h/preamble\n--a b\n\nhttp://h/1\n--a bc\nhttp://h/2\n--a b \nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\naHR0cDovL2gvYSA=\n--a b--\nhttp://h/epilogue\n", "http://h/1 http://h/2"},
	{"folded content type", "Content-Type: multipart/mixed;\r\n\tcharset=x;\r\n  Boundary=----=_x\r\n\r\n------=_x\r\nContent-Type:\r\n text/html\r\n\r\n<a href=http://h/a>\r\n------=_x--\r\n", "http://h/a"},
	{"nested", "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nhttp://h/1\n--b\nContent-Type: text/html\n\n<a href=http://h/2>\n--b--\nhttp://h/no\n--a\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\naHR0cDovL2gvMw==\n--a--\n", "http://h/1 http://h/2 http://h/3"},
	{"nested without its end", "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<a href=http://h/1>\n--a\n\nhttp://h/2\n--b\nhttp://h/3\n", "http://h/1 http://h/2 http://h/3"},
	{"message in a message", "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: message/rfc822\n\nFrom: b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3Dhttp://h/1>\n--a\n\nhttp://h/2\n", "http://h/1 http://h/2"},
	{"digest", "Content-Type: multipart/digest; boundary=a\n\n--a\n\nContent-Type: text/html\n\n<a href=http://h/1>\n--a--\n", "http://h/1"},
	{"mailbox", "From a@h Mon Jan  5 10:00:00 2026\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/html\n\n<a href=http://h/1>\n\nFrom - Mon Jan  5 10:00:00 2026\n\nhttp://h/2\n>From a@h Mon Jan  5 10:00:00 2026\n--a\nhttp://h/3\n", "http://h/1 http://h/2 http://h/3"},
	{"a line that begins with From", "Content-Transfer-Encoding: quoted-printable\n\nx\n\nFrom 10:00 on, see\nhttp://h/=61\nFrom now\n", "http://h/a"},
	{"signatures and patches", "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Transfer-Encoding: quoted-printable\n\nhttp://h/=61\n-- \nhttp://h/=62\n--- a/b\n+http://h/=63\n", "http://h/a http://h/b http://h/c"},
	{"no boundary", "Content-Type: multipart/mixed\n\nhttp://h/no\n", ""},
}

// readDocument reads a document like a source and a worker of the pipeline, size
// more bytes at a time: see readHTML.
func readDocument(t testing.TB, c Config, in string, size int) string {
	t.Helper()
	c.Normalizer = normalizers["equiv"]
	if c.Render == RenderRewrite {
		c.Render = RenderURLs
	}
	out, _ := readHTML(t, c, []byte(in), size)
	return strings.Join(strings.Fields(out), " ")
}

func TestMail(t *testing.T) {
	for _, c := range mailCases {
		for _, size := range []int{1, 13, 1 << 20} {
			if got := readDocument(t, Config{Format: "mail"}, c.mail, size); got != c.want {
				t.Errorf("%s, read %d bytes at a time\n got %s\nwant %s", c.name, size, got, c.want)
			}
			crlf := strings.ReplaceAll(strings.ReplaceAll(c.mail, "\r\n", "\n"), "\n", "\r\n")
			if got := readDocument(t, Config{Format: "mail"}, crlf, size); got != c.want {
				t.Errorf("%s, with CR LF, read %d bytes at a time\n got %s\nwant %s", c.name, size, got, c.want)
			}
		}
	}
}

// TestMailPositions checks the lines and offsets of URLs in encoded text, and that
// the record shown is the header.
func TestMailPositions(t *testing.T) {
	mail := "From: a\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Transfer-Encoding: quoted-printable\n\nx=\ny =68ttp://h/=\na\nhttp://h/b\n--a\nContent-Transfer-Encoding: base64\n\n" +
		base64.StdEncoding.EncodeToString([]byte("x\nhttp://h/c http://h:99999/"))[:20] + "\n" + base64.StdEncoding.EncodeToString([]byte("x\nhttp://h/c http://h:99999/"))[20:] + "\n"
	c := Config{Format: "mail", Render: RenderTSV, Fields: []string{"line", "offset", "url", "record", "error"}, Normalizer: normalizers["equiv"]}
	got, _ := readHTML(t, c, []byte(mail), 7)
	at := func(s string) int { return strings.Index(mail, s) }
	want := fmt.Sprintf("8\t%d\thttp://h/a\t--a\\nContent-Transfer-Encoding: quoted-printable\t\n9\t%d\thttp://h/b\t--a\\nContent-Transfer-Encoding: quoted-printable\t\n", at("=68"), at("\nhttp://h/b")+1)
	want = strings.Replace(want, "9\t", "10\t", 1)
	encoded := at("64\n\n") + 4
	want += fmt.Sprintf("14\t%d\thttp://h/c\t--a\\nContent-Transfer-Encoding: base64\t\n14\t%d\thttp://h:99999/\t--a\\nContent-Transfer-Encoding: base64\tport-invalid\n", encoded+2, encoded+17)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMailPieces checks that long parts are read in pieces, and that no URL is
// invented where one ends.
func TestMailPieces(t *testing.T) {
	var text strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&text, "http://h/%d/abcdefghij\n", i)
	}
	var quoted bytes.Buffer
	w := quotedprintable.NewWriter(&quoted)
	w.Write([]byte(text.String()))
	w.Close()
	var lines strings.Builder
	for rest := base64.StdEncoding.EncodeToString([]byte(text.String())); rest != ""; {
		n := min(76, len(rest))
		lines.WriteString(rest[:n] + "\n")
		rest = rest[n:]
	}
	want := strings.Fields(text.String())
	for encoding, body := range map[string]string{"8bit": text.String(), "quoted-printable": quoted.String(), "base64": lines.String()} {
		mail := "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Transfer-Encoding: " + encoding + "\n\n" + body + "--a\nContent-Type: image/png\n\n" + body + "--a--\n"
		got := strings.Fields(readDocument(t, Config{Format: "mail"}, mail, 128<<10))
		valid := map[string]bool{}
		for _, u := range want {
			valid[u] = true
		}
		for _, u := range got {
			if !valid[u] {
				t.Errorf("%s: %s is not in the text", encoding, u)
			}
		}
		if missing := len(want) - len(got); missing < 0 || missing > 0 && encoding != "base64" || missing > len(body)/(200<<10) {
			t.Errorf("%s: got %d URLs of %d", encoding, len(got), len(want))
		}
	}
}

// TestMailDetect checks which text is detected as mail.
func TestMailDetect(t *testing.T) {
	for head, want := range map[string]bool{
		"From a@h Mon Jan  5 10:00:00 2026\nFrom: a\n\nhttp://h/\n":      true,
		"Return-Path: <a@h>\r\nDate: x\r\nFrom: a\r\n\r\nhttp://h/a\r\n": true,
		"DKIM-Signature: v=1;\n b=x\nSubject: s\nFROM: a\nTo: b\n\nx\n":  true,
		"From: a\nTo: b\n\nSubject: http://h/a\n":                        false,
		"From a to b\nhttp://h/a\n":                                      false,
		"Received: 10 from http://h/a\nReceived: 11 from http://h/b\n\n": false,
	} {
		if g, ok := Detect([]byte(head)); (ok && g.Format == "mail") != want {
			t.Errorf("%q: detected %v %v", head, g, ok)
		}
	}
}

// FuzzMail checks that the output does not depend on how many bytes are read at a
// time, and that reading is safe.
func FuzzMail(f *testing.F) {
	for i, c := range mailCases {
		f.Add([]byte(c.mail), uint16(i))
	}
	if dir := os.Getenv("URLFOLD_CORPORA"); dir != "" {
		f.Add(readFile(f, filepath.Join(dir, "..", "cases", "mail.mbox")), uint16(9))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 8<<10)]
		c := Config{Format: "mail", Render: RenderJSONL, Fields: []string{"url", "norm", "line", "offset", "error"}, Base: "http://h/d", Normalizer: normalizers["equiv"]}
		all, _ := readHTML(t, c, in, 1<<20)
		parts, _ := readHTML(t, c, in, 1+max(int(size), len(in)/64))
		if all != parts {
			t.Fatalf("%q, read %d bytes at a time:\n%s\nall at once:\n%s", in, 1+size, parts, all)
		}
	})
}

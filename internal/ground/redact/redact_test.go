package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func newMasker(t testing.TB, values ...string) *Masker {
	t.Helper()
	p, _, err := Parse(values)
	if err != nil {
		t.Fatal(err)
	}
	return p.NewMasker()
}

func TestAppend(t *testing.T) {
	f := func(value, in, want string) {
		t.Helper()
		if got := string(newMasker(t, value).Append(nil, []byte(in), false)); got != want {
			t.Errorf("%s: %q became %q, want %q", value, in, got, want)
		}
	}
	f("email", "x=joe@a.example&y", "x=***&y")
	f("email", "u=joe%40a.example joe%2540a.example", "u=*** ***")
	f("email", "u%3Djoe%40a.example%26x", "u%3D***%26x")
	f("email", `{"m":"joe\u0040a.example","n":"joe&#64;a&period;example"}`, `{"m":"***","n":"***"}`)
	f("email", "<jürgen.o'brien+x@müller.de>", "<***>")
	f("email", "j\xfcrgen@a.de", "***")
	f("email", "react@18.2.0 u@h @a.example", "react@18.2.0 u@h @a.example")
	f("ipv4", "1.2.3.4:80 256.1.1.1 1.2.3 010.1.1.1", "***:80 *** 1.2.3 ***")
	f("ipv4", "1%2E2%2e3.4", "***")
	f("ipv6", "::1 [2001:db8::1]:80 fe80::1%eth0 ::ffff:1.2.3.4", "*** ***:80 *** ***")
	f("ipv6", "host:2001:db8::1 ip_2001:db8::1 2001%3Adb8%3A%3A1", "host:*** ip_*** ***")
	f("ipv6", "1:2:3:4:5:6:7:8 06:25:00 std::vector Foo::Bar a1:b2:c3:d4:e5:f6", "*** 06:25:00 std::vector Foo::Bar a1:b2:c3:d4:e5:f6")
	f("jwt", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_ eyJx", "Bearer *** eyJx")
	f("/order-\\d+/", "order-1,order%2d22 order-x", "***,*** order-x")
	f("/Joe Doe/", "q=Joe+Doe&r=Joe%20Doe", "q=***&r=***")
	f("/.+/", `a"b`, `***"***`)
	f(`/x|\bab/`, "xab", "******") // ab begins a word only after x is hidden
	f(`/a\*/`, "aa*", "aa*")
}

// TestParse checks the errors of values.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"emial": `did you mean "email"`, "true": `now "passwords"`, "no": `now "none"`, "/(/": "missing closing )", "/a*/": "matches the empty text", "/": "unknown value",
		"/" + strings.Repeat("x", maxSize) + "/": "too long", "/(?:a{1000}){20}/": "invalid", "/a{9}" + strings.Repeat("x", maxRepeated) + "/": "too long",
		strings.Repeat("/x/ ", maxPatterns+1): "at most", "email none": "cannot be combined",
	} {
		if _, _, err := Parse(strings.Fields(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", in, err, want)
		}
	}
	for in, want := range map[string]bool{"": false, "none": false, "passwords": true, "email /x/": true} {
		if _, hides, err := Parse(strings.Fields(in)); err != nil || hides != want {
			t.Errorf("%q: %v, %v", in, hides, err)
		}
	}
}

// FuzzAppend checks that masked text has no value, in plain text or in escapes, and
// stays as it is.
func FuzzAppend(f *testing.F) {
	f.Add("http://u@h.example/%6aoe%40a.example?x=1.2.3.4&y=::1", "a")
	f.Add("ab xab", `x|\bab`)
	f.Add("aaaa*a", "a.")
	f.Fuzz(func(t *testing.T, in, expr string) {
		list := []string{"email", "ipv4", "ipv6", "jwt"}
		if _, _, err := Parse([]string{"/" + expr + "/"}); err == nil {
			list = append(list, "/"+expr+"/")
		}
		m := newMasker(t, list...)
		once := m.Append(nil, []byte(in), false)
		if twice := m.Append(nil, once, false); !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, and then %q", in, once, twice)
		}
		plain := []byte(nil)
		for i, n := 0, 0; i < len(once); i += n {
			plain, n = appendCharacter(plain, once[i:])
		}
		for _, b := range builtin[:2] {
			for _, part := range strings.FieldsFunc(string(plain), func(r rune) bool { return strings.ContainsRune(ends, r) }) {
				if found := regexp.MustCompile(b.expr).FindString(part); found != "" {
					t.Fatalf("%q became %q, with the %s %q", in, once, b.name, found)
				}
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	line := []byte(`192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a/b%20c?id=17&q=joe HTTP/1.1" 200 5123 "https://shop.example/list?page=2" "Mozilla/5.0 (X11; Linux x86_64)"`)
	for _, values := range []string{"email", "ipv4", "ipv6", "jwt", "/order-[0-9]+/", "email ipv4 ipv6 jwt"} {
		b.Run(fmt.Sprint(values), func(b *testing.B) {
			m, out := newMasker(b, strings.Fields(values)...), []byte(nil)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				out = m.Append(out[:0], line, false)
			}
		})
	}
}

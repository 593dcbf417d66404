package record

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// tokens are byte sequences with a meaning in some format. Streams composed of
// them reach cases that mutated text does not.
var tokens = []string{
	`"`, `"`, `\`, `\\`, `\"`, ` `, ` `, "\n", "\r\n", "\t", ",", `] "`, ` [`, `" 200 `, `" - `, ` "`, `" "`, ` HTTP/1.1`, ` HTTP/`, "GET ", "/", "//", "/./", "/..", "a", "A", "%41", "%", "%2e",
	"http://", "HTTP://", "h", ":80", "@", "u:p@", "[", "]", "[::1]", "?", "#", ":", `\x22`, `\x20`, `\u0022`, `\ud800`, `\/`, `{"url":"`, `"}`, `{"request":{"uri":"`, `"}}`, "-", "*", "CONNECT ",
	"1.2.3.4 - - [t] \"", "v:80 h GET ", `{"u":"`, `","r":"`, "\xe9", "\x00", "é", "url,x\n",
	"%u0041", "%u0025", "%u", "%25", "25", "&", "&amp;", "amp;", "%2561", "token=", "://", "http:", "A:b", "|", ";", "99999", `\x09`, "%5C", "file:///", "C|/",
}

func TestTokens(t *testing.T) {
	var jobs []Config
	each(func(c Config) { jobs = append(jobs, allFields(c)) })
	r := rand.New(rand.NewPCG(1, 2))
	n := 20000
	if testing.Short() {
		n = 2000
	}
	for range n {
		some := func(n int) (b []byte) {
			for range 1 + r.IntN(n) {
				b = append(b, tokens[r.IntN(len(tokens))]...)
			}
			return b
		}
		in := some(24)
		if r.IntN(2) == 0 {
			in = fmt.Appendf(nil, "h:80 1.2.3.4 - - [t] \"GET /%s HTTP/1.1\" 200 1 \"%s\" \"%s\"", some(6), some(6), some(6))
		}
		c := jobs[r.IntN(len(jobs))]
		if c.Redact = nil; r.IntN(4) == 0 {
			c.Redact = []string{"passwords"}
		}
		verify(t, c, in)
	}
}

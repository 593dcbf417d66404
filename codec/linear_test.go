package codec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/cputime"
)

// hostilePlaces are the places of a URL that a hostile text fills, at the %.
var hostilePlaces = []string{"%", "%://h/", "http://%", "http://%@h/", "http://h:%/", "http://[%]/", "http://h/%x", "http://h/;%", "http://h/?%", "http://h/?a=%&b", "http://h/#%"}

// hostileFills are texts that a careless rule reads again for each of them.
var hostileFills = []string{
	"a", "A", "a.", ".", "-", "0", "1.", "0x1.", ":", "@", ":@", "/", "../", "a/", "a/../", "%2e%2e/", `\`, "?", "#", "&", ";", "=", "a=b&", "b&a&", "a&", "[a]",
	"%", "%4", "%41", "%2f", "%zz", "%C3", "%25", "25", "%2541", "\t", " ", "\x00", "\xff", "\xc3", "é", "e\u0301", "\u0301", "\u0323\u0301", "\u0301\u0323", "%CC%81%CC%A3",
	"\ufdfa", "\ufdfaa.", "ß", "İ", "\u200d", "\u00ad", "\u3002", "xn--a.", "xn--", "xn--a", "ü.", "א", "אa", "א1", "\u1100", "\u1100\u1161\u11a8", "\u0915\u094d\u200d", "[", "[]", "(", "{", "|", "<", "'", "+",
	"sid=1&", "jsessionid=1;", "utm_source=a&", "/;jsessionid=0123456789abcdef", "(S(abcdefghijklmnopqrstuvwx))/", "http://h/", "www.", "/index.html", "0123456789abcdef", "&amp;", "a[]=1&", "%20", "co.uk.",
}

// TestLinear checks that the time for a long URL grows with its length, for each
// profile and each rule.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: takes half a minute; run without -short")
	}
	subjects := Profiles()
	for r := range Rule(numRules) {
		for _, s := range []Standard{RFC3986, WHATWG} {
			subjects = append(subjects, Profile{Name: s.String() + " " + r.String(), Standard: s, Rules: RulesOf(r), Key: LevelPage})
		}
	}
	for i, p := range subjects {
		p.MaxLen = MaxLen
		n, err := New(p)
		if err != nil {
			continue // the rule belongs to the other standard
		}
		var r Result
		var dst, key []byte
		for j, fill := range hostileFills {
			for k, place := range hostilePlaces {
				if i >= len(Profiles()) && (i+j+k)%4 > 0 {
					continue // rules share their loops
				}
				if cputime.Grows(t, 1<<14, func(size int) {
					front, back, _ := strings.Cut(place, "%")
					src := append(append([]byte(front), bytes.Repeat([]byte(fill), size/len(fill))...), back...)
					if dst, err = n.Append(dst[:0], src, &r); err == nil {
						key = r.AppendKey(key[:0], p.Key)
					}
				}) {
					t.Errorf("%s, %q: the time for long URLs grows more than their length", p.Name, strings.Replace(place, "%", fill, 1))
				}
			}
		}
	}
}

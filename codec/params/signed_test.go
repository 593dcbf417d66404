package params

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSigned(t *testing.T) {
	f := func(query string, want bool) {
		t.Helper()
		q := []byte(query)
		if got := Signed(q); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
	f("", false)
	f("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=1&X-Amz-Signature=f00", true)
	f("x-amz-signature=f00", true)
	f("X%2DAmz%2DSignature=f00", true) // names are form-decoded
	f("amp;X-Amz-Signature=f00", true)
	f("X-Amz-Algorithm=AWS4-HMAC-SHA256", false)
	f("X-Goog-Signature=1", true)
	f("x-oss-signature=1", true)
	f("X-Tos-Signature=1", true)
	f("AWSAccessKeyId=a&Signature=b&Expires=1", true)
	f("expires=1&signature=b", true)
	f("Signature=b", false)
	f("Expires=1", false)
	f("Policy=a&Signature=b&Key-Pair-Id=c", true)
	f("sv=2022&se=2026&sr=b&sig=x", true)
	f("sv=2022&si=policy&sig=x", true)
	f("sig=x", false)
	f("se=x&si=y", false)
	f("q-sign-algorithm=sha1&q-signature=x", true)
	f("hdnea=exp=1~hmac=2", true)
	f("hdnts=x", true)
	f("auth_key=1-0-0-x", true)
	f("token=a&expires=1", true)
	f("md5=a&expires=1", true)
	f("token=a&md5=b", false)
	f("oauth_signature=a", true)
	f("a_name_that_is_much_longer_than_any_that_this_package_knows_by_heart=1", false)
	f("a%5fname%5fthat%5fis%5fmuch%5flonger%5fthan%5fany%5fthat%5fthis%5fpackage%5fknows%5fby%5fheart%5f=1", false)
}

// TestSignedNames compares Signed with slowSigned on the known names in all
// their spellings, and on names that are nearly known.
func TestSignedNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	spell := func(name string) string {
		var b strings.Builder
		b.WriteString([]string{"", "", "", "?", "amp;", "AMP;", "?amp;", "%3F", "+", "x"}[rng.IntN(10)])
		for i := range len(name) {
			switch c := name[i]; rng.IntN(12) {
			case 0:
				fmt.Fprintf(&b, "%%%02X", c)
			case 1:
				b.WriteByte(strings.ToUpper(name)[i])
			default:
				b.WriteByte(c)
			}
		}
		return b.String() + []string{"", "=", "=1", "=%26", "x=1", "="}[rng.IntN(6)]
	}
	signed := 0
	for range 20_000 {
		var fields []string
		names := map[string]bool{}
		for range 1 + rng.IntN(4) {
			field := spell(knownNames[rng.IntN(len(knownNames))])
			fields = append(fields, field)
			raw, _, _ := strings.Cut(field, "=")
			names[strings.ToLower(slowBare(string(AppendName(nil, []byte(raw)))))] = true
		}
		query, want := strings.Join(fields, "&"), slowSigned(names)
		if got := Signed([]byte(query)); got != want {
			t.Fatalf("%q: got %v, want %v", query, got, want)
		}
		if want {
			signed++
		}
	}
	if signed < 2000 {
		t.Errorf("only %d signed queries", signed)
	}
}

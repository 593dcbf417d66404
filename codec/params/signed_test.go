package params

import "testing"

func TestSigned(t *testing.T) {
	f := func(query string, want bool) {
		t.Helper()
		q := []byte(query)
		if got := Signed(AppendPairs(nil, q), q); got != want {
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

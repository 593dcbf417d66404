package textlog

import (
	"testing"
)

// TestTextChecks checks what is a landmark and what is not.
func TestTextChecks(t *testing.T) {
	for _, test := range []struct {
		name    string
		check   func([]byte) bool
		yes, no []string
	}{
		{"isKind", isKind, []string{"http", "h2", "grpcs", "wss"}, []string{"", "HTTP", "2.0", "a-b", "abcdefghijklmnopq"}},
		{"isOperation", isOperation, []string{"REST.GET.OBJECT", "SOAP.CreateBucket", "S3.EXPIRE.OBJECT"}, []string{"", "-", "GET", "a.b", "A.", ".GET"}},
		{"isNumber", isNumber, []string{"0", "12", "-"}, []string{"", "-1", "1.5", "a"}},
		{"isSeconds", isSeconds, []string{"0.086", "12", "-1"}, []string{"", "-", "-2", "1s"}},
		{"isISOTime", isISOTime, []string{"2016-04-15T20:17:00.310Z", "2016-04-15T20:17:00"}, []string{"", "2.0", "2016-04-15 20:17:00", "15/Apr/2016:20:17:00"}},
		{"isCLFTime", isCLFTime, []string{"06/Feb/2009:12:14:14.655", "06/Feb/2009:12:14:14 +0000"}, []string{"", "14389", "2016-04-15T20:17:00.310Z"}},
		{"isEpoch", isEpoch, []string{"1066036250.603", "999999999.000", "106603625066.603", "1066036250660.603"}, []string{"", "1066036x50.603", "10660362x06603.603", "106603625x66.603", "1066036250", "1066036250.6", "1066036250.60a", "12345678.000", "10660362500603", "106603x250.603", "x066036250.603", "1066036250x603", "1066036250/603", "1066036250,603", "1066036250-603"}},
		{"isCode", isCode, []string{"200", "0", "000", "99", "-", "-1", "-2"}, []string{"", "2000", "-2000", "2x0", "--", "-1-"}},
		{"isResult", isResult, []string{"TCP_MISS/200", "NONE/000", "TCP_TUNNEL/-", "TCP_MISS/20"}, []string{"", "TCP_MISS/2x0", "TCP_MISS/20x", "tCP_MISS/200", "/200", "tcp/200", "TCP_MISS", "TCP_MISS/OK", "TCP_MISS/2000"}},
		{"isPeer", isPeer, []string{"HIER_DIRECT/192.0.2.1", "NONE/-", "DIRECT/www.example.com"}, []string{"", "text/html", "A/B", "NONE/", "NONE", "http://x"}},
		{"isTimers", isTimers, []string{"10/0/30/69/109", "-1/-1/-1/-1/6001", "0/1/2/3/+4"}, []string{"", "0/0/5007", "1/2/3/4/5/6", "a/0/0/0/0"}},
		{"isCapturedHost", isCapturedHost, []string{"www.example.com", "h.example:8443", "xn--a.xn--b"}, []string{"", "-", "localhost", "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "Mozilla/5.0 (X11)", "a.b c", "u@h.example", "en-US", "1.0", "h.example:x"}},
	} {
		for _, s := range test.yes {
			if !test.check([]byte(s)) {
				t.Errorf("%s(%q) = false", test.name, s)
			}
		}
		for _, s := range test.no {
			if test.check([]byte(s)) {
				t.Errorf("%s(%q) = true", test.name, s)
			}
		}
	}
}

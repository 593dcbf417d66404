package percent

import (
	"errors"
	"testing"
)

func TestAppendDecode(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got := AppendDecode([]byte("dst"), []byte(src)); string(got) != "dst"+want {
			t.Errorf("%q: got %q, want %q", src, got, "dst"+want)
		}
	}
	f("", "")
	f("plain+text", "plain+text")
	f("%41%4a%4A%2f", "AJJ/")
	f("%2541", "%41") // RFC 3986 §2.4: once
	f("%%41%4", "%A%4")
	f("%zz%4%31%", "%zz%41%")
	f("%u0041", "%u0041")
	f("%E4%B8%AD%ff%00", "\xe4\xb8\xad\xff\x00")
}

func TestAppendDecodeForm(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got := AppendDecodeForm([]byte("dst"), []byte(src)); string(got) != "dst"+want {
			t.Errorf("%q: got %q, want %q", src, got, "dst"+want)
		}
	}
	// URL Standard §5.1: '+' first, then escapes, so that %2B stays a plus sign.
	f("", "")
	f("1+%2B+1", "1 + 1")
	f("+a++%20+", " a    ")
	f("%+41%2+b", "% 41%2 b")
}

func TestCheck(t *testing.T) {
	f := func(src string, at int, kind Kind) {
		t.Helper()
		want := MalformedError{Offset: at, Kind: kind}
		for name, err := range map[string]error{"Check": Check([]byte(src)), "AppendDecodeChecked": decodeError(t, src)} {
			var e *MalformedError
			if !errors.As(err, &e) || *e != want {
				t.Errorf("%s(%q) = %v, want %v", name, src, err, &want)
			}
		}
	}
	f("%", 0, kindTruncated)
	f("a%20%4", 4, kindTruncated)
	f("%41%zz%", 3, kindNonHex)
	f("x%u00e9", 1, kindPercentU)
	for _, src := range []string{"", "abc", "%41", "a%2fb%FF"} {
		if err := Check([]byte(src)); err != nil {
			t.Errorf("Check(%q) = %v", src, err)
		}
	}
	if got := (&MalformedError{Offset: 4, Kind: kindNonHex}).Error(); got != "malformed percent-encoding at offset 4: non-hex" {
		t.Errorf("got error text %q", got)
	}
}

// decodeError returns the error for src after checking that dst is returned
// unchanged.
func decodeError(t *testing.T, src string) error {
	t.Helper()
	got, err := appendDecodeChecked([]byte("dst"), []byte(src))
	if err != nil && string(got) != "dst" {
		t.Errorf("%q: dst was returned as %q", src, got)
	}
	return err
}

// appendDecodeChecked calls AppendDecode if Check accepts src. Otherwise it
// returns dst and the error.
func appendDecodeChecked(dst, src []byte) ([]byte, error) {
	if err := Check(src); err != nil {
		return dst, err
	}
	return AppendDecode(dst, src), nil
}

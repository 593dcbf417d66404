package codec

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestKeyForm(t *testing.T) {
	k := Key{0x0123456789abcdef, 0xfedcba9876543210}
	raw, _ := hex.DecodeString("0123456789abcdeffedcba9876543210")
	for f, want := range map[KeyForm]string{
		KeyHex:    "0123456789abcdeffedcba9876543210",
		KeyBase32: "AERUKZ4JVPG677W4XKMHMVBSCA", // RFC 4648 §6, by Python's base64.b32encode
		KeyRaw:    string(raw),
	} {
		got := f.Append([]byte("x"), k)
		if string(got) != "x"+want {
			t.Errorf("%v: %q, want %q", f, got[1:], want)
		}
		if back, err := f.Parse(got[1:]); back != k || err != nil {
			t.Errorf("%v: %q reads as %v, %v", f, got[1:], back, err)
		}
		for _, bad := range []string{"", want[1:], want + "A"} {
			var e *KeyError
			if _, err := f.Parse([]byte(bad)); !errors.As(err, &e) || e.Form != f {
				t.Errorf("%v: %q: %v", f, bad, err)
			}
		}
		var named KeyForm
		if err := named.UnmarshalText([]byte(f.String())); named != f || err != nil {
			t.Errorf("%v: is not found by its name", f)
		}
	}
	if err := new(KeyForm).UnmarshalText([]byte("base64")); err == nil {
		t.Error("base64 is accepted as a key form")
	}
	if got, err := KeyBase32.Parse([]byte("aerukz4jvpg677w4xkmhmvbsca")); got != k || err != nil {
		t.Errorf("in lower case: %v, %v", got, err)
	}
}

// TestKeyBase32Canonical checks that Parse rejects every text that Append does
// not write, except for the case of its letters (RFC 4648 §3.5).
func TestKeyBase32Canonical(t *testing.T) {
	text := []byte(strings.Repeat("A", 26))
	for c := range 256 {
		text[25] = byte(c)
		k, err := KeyBase32.Parse(text)
		padded := append(bytes.ToUpper(text), "======"...)
		b, oracle := base32.StdEncoding.DecodeString(string(padded))
		canonical := oracle == nil && base32.StdEncoding.EncodeToString(b) == string(padded)
		if (err == nil) != canonical {
			t.Errorf("%q: %v, %v", text, k, err)
		}
	}
}

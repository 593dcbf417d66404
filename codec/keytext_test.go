package codec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestKeyJSON checks that a key is its hex digits in JSON, as a value and as the
// name of a member, and that each key can be read back, the zero Key too.
func TestKeyJSON(t *testing.T) {
	k := codec.KeyFromUint64s(0x870f35c64e2a1b09, 0xfedcba9876543210)
	for _, in := range []map[codec.Key]codec.Key{{k: k}, {{}: {}}} {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out map[codec.Key]codec.Key
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		for name, value := range in {
			if want := `{"` + name.String() + `":"` + value.String() + `"}`; string(text) != want {
				t.Errorf("%s, want %s", text, want)
			}
			if got, ok := out[name]; !ok || got != value {
				t.Errorf("%s is read as %v", text, out)
			}
		}
	}
	var e *codec.KeyError
	if err := json.Unmarshal([]byte(`"870f"`), &k); !errors.As(err, &e) || k.IsZero() {
		t.Errorf("a short key: error %v, key %v", err, k)
	}
}

// TestKeyBytes checks the ways into and out of a Key.
func TestKeyBytes(t *testing.T) {
	b := [16]byte([]byte("0123456789abcdef"))
	k := codec.KeyFrom(b)
	if k.Bytes() != b || codec.KeyFromUint64s(k.Uint64s()) != k {
		t.Errorf("%v is not what it was made from", k)
	}
	if got, err := codec.ParseKey(strings.ToUpper(k.String())); got != k || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = codec.ParseKey("0123456789abcdef0123456789abcdef") }); got != 0 {
		t.Errorf("ParseKey allocates %v times", got)
	}
}

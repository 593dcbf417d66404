package codec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/zeebo/xxh3"
)

// TestKeyPage compares the figures of docs/reference/keys.md with the code:
// seeds, the hashes of its example, its examples of each level, and
// versions.
func TestKeyPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "reference", "keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(line string) {
		t.Helper()
		if !bytes.Contains(data, []byte("\n"+line+"\n")) {
			t.Errorf("docs/reference/keys.md lacks the line %q", line)
		}
	}
	for _, std := range []Standard{RFC3986, WHATWG} {
		for _, lv := range keyedLevels {
			id := KeyFunction(std, lv)
			f(fmt.Sprintf("| `%s` | `%016x` |", id, xxh3.HashString(id)))
		}
	}
	in := keyVectorInputs()[1]
	v := (&keyMaker{t: t}).vector(&in, "rfc3986-scheme")
	if in.std != RFC3986 || in.group != "example" {
		t.Fatalf("the example is %+v", in)
	}
	for _, text := range []string{in.url, v.K0.Text, v.K1.Text, v.K2.Text, v.K3.Text, v.Surface.Text} {
		f("    " + text)
	}
	key, err := ParseKey([]byte(v.K2.XXH3))
	if err != nil {
		t.Fatal(err)
	}
	f("| `xxh3-128` | `" + v.K2.XXH3 + "` |")
	f("| `xxh3-128`, in base32 | `" + string(KeyBase32.Append(nil, key)) + "` |")
	f("| `sha256-128` | `" + v.K2.SHA256 + "` |")
	f("| `hmac-sha256` with the secret `" + keyVectorSecret + "` | `" + v.K2.HMAC + "` |")
	for _, version := range []string{params.DefaultVersion, SiteListVersion(), idna.UnicodeVersion, SpecDate} {
		if !bytes.Contains(data, []byte("| "+version+" |")) {
			t.Errorf("docs/reference/keys.md does not name the version %s", version)
		}
	}
}

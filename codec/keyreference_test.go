package codec

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// This file runs testdata/vectors/reference.py, which computes keys in Python
// from what docs/reference/keys.md says.

var (
	referenceURLs = flag.Int("reference.urls", 4000, "random URLs that TestReference compares")
	referenceSeed = flag.Uint64("reference.seed", 1, "seed of the random URLs of TestReference")
)

// TestReference compares the keys with those of reference.py, for the vectors and
// for random URLs.
func TestReference(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import ada_url, xxhash").Run() != nil {
		t.Skip("skipped: the keys in Python; install two packages: python3 -m pip install -r testdata/vectors/requirements.txt")
	}
	script := filepath.Join("..", "testdata", "vectors", "reference.py")
	f := func(name string, args ...string) {
		t.Helper()
		out, err := exec.Command(python, append([]string{script}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		t.Logf("%s: %s", name, out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:])
	}
	f("vectors")
	var rows []byte
	maker, random := keyMaker{t: t}, newRandomKeys(*referenceSeed)
	for range *referenceURLs {
		in := random.input()
		v := maker.vector(&in, in.profiles()[0])
		rows = v.appendRow(rows)
	}
	path := filepath.Join(t.TempDir(), "random.jsonl")
	if err := os.WriteFile(path, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	f("random URLs", path)
}

// randomKeys makes random inputs out of those of the vectors.
type randomKeys struct {
	*rand.Rand
	seeds []keyInput
	bases []string
}

func newRandomKeys(seed uint64) *randomKeys {
	k := &randomKeys{Rand: rand.New(rand.NewPCG(seed, 0)), seeds: keyVectorInputs()}
	for _, in := range k.seeds {
		if in.group == "relative" && in.base != "" && !slices.Contains(k.bases, in.base) {
			k.bases = append(k.bases, in.base)
		}
	}
	return k
}

// randomPieces are inserted into URLs.
var randomPieces = strings.Split("% %% %2 %2e %2E %41 %25 %00 %27 %7E %c3%a9 %C3 é \xc3 \xff / // /. /.. /./ ../ ? # & = ; @ : [ ] \\ ' \" | ^ ` { } < > + * ! . .. - _ ~ $ , ( ) "+
	"0 09 0x7f 255 :80 :443 :0080 www. WWW. index.html default.aspx .aspx ;jsessionid=1 ;sid=0123456789abcdef /(S(abcdefghijklmnopqrstuvwx)) phpsessid=1 &sid=0123456789abcdef &cfid=1 &cftoken=2 "+
	"&utm_source=x gclid amp; %3F &sig=1 &se=2 &expires=1 &token=2 b=2&a=1 file: http: https: http:// x: //h mailto: :~: #/a #!a .com .co.uk .github.io \t \n e%CC%81", " ")

// hostsOfADA matches what ada-url reads otherwise than the URL Standard, or may:
// right-to-left text, joiners, and labels in Punycode beside other characters
// (testdata/vectors/tools/generate.py lists them).
var hostsOfADA = regexp.MustCompile(`[\x{0590}-\x{08FF}\x{200C}\x{200D}]|(?i:%(D[6-9A-F]|E0%A[0-3]|E2%80%8[CD])|xn--)`)

// input returns the next input.
func (k *randomKeys) input() keyInput {
	for {
		in := k.seeds[k.IntN(len(k.seeds))]
		url := []byte(in.url)
		if k.IntN(4) == 0 { // the front of one and the end of another
			tail := k.seeds[k.IntN(len(k.seeds))].url
			url = append(url[:k.IntN(len(url)+1)], tail[k.IntN(len(tail)+1):]...)
		}
		for range k.IntN(5) {
			url = k.change(url)
		}
		in.url, in.group = string(url), "random"
		switch k.IntN(6) {
		case 0: // one that can be parsed: with another, keys are unspecified
			in.base = k.bases[k.IntN(len(k.bases))]
		default:
			in.base = ""
		}
		if !hostsOfADA.MatchString(in.url) {
			return in
		}
	}
}

// change changes one thing of a URL.
func (k *randomKeys) change(url []byte) []byte {
	at := k.IntN(len(url) + 1)
	switch k.IntN(6) {
	case 0:
		if at < len(url) {
			return slices.Delete(url, at, min(at+1+k.IntN(4), len(url)))
		}
	case 1:
		if at < len(url) && isAlpha(url[at]) {
			url[at] ^= 0x20
		}
		return url
	case 2:
		if at < len(url) {
			return slices.Replace(url, at, at+1, appendEscaped(nil, url[at:at+1], url[at])...)
		}
	}
	return slices.Insert(url, at, []byte(randomPieces[k.IntN(len(randomPieces))])...)
}

package codec

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// matchText returns the bytes of a string in which each character is a byte.
func matchText(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}

// matchResult returns what a profile makes of src, or "-" if it rejects src.
func matchResult(n *Normalizer, r *Result, src []byte) string {
	norm, err := n.Append(nil, src, r)
	switch {
	case err != nil:
		return "-"
	case len(norm) == 0:
		return "''"
	}
	return hex.EncodeToString(norm)
}

// TestMatchVectors compares the results of the profiles with those that the
// programs gave: see testdata/match/peers.py.
func TestMatchVectors(t *testing.T) {
	for _, m := range matches {
		if !isPython(m.name) {
			continue // its package has its own vectors
		}
		t.Run(m.name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "match", m.name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			n := matchNormalizer(t, m.name)
			var r Result
			rows := 0
			for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); rows++ {
				var row struct {
					In, Out string
					Error   bool
				}
				if err := dec.Decode(&row); err != nil {
					t.Fatal(err)
				}
				norm, err := n.Append(nil, matchText(row.In), &r)
				if (err != nil) != row.Error || !bytes.Equal(norm, matchText(row.Out)) {
					t.Errorf("%q becomes %q, error %v; want %q, error %v", row.In, norm, err, row.Out, row.Error)
				}
			}
			if rows < 100 {
				t.Errorf("%d vectors, want at least 100", rows)
			}
		})
	}
}

func matchNormalizer(t *testing.T, name string) *Normalizer {
	t.Helper()
	p, err := Lookup(name)
	if err != nil {
		t.Fatalf("no profile %s", name)
	}
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMatchPeers compares the profiles with the Python programs themselves, on
// mutated vectors and on URLs of the corpora: 40,000 inputs, or all of them if
// URLFOLD_PEERS_ALL is set. It needs the Python of
// testdata/match/requirements.txt, in the environment variable URLFOLD_PEERS.
func TestMatchPeers(t *testing.T) {
	python := os.Getenv("URLFOLD_PEERS")
	if python == "" {
		t.Skip("skipped: the Python programs that profiles match; set URLFOLD_PEERS to a Python 3.11 with the packages of codec/testdata/match/requirements.txt")
	}
	inputs := matchInputs(t)
	if os.Getenv("URLFOLD_PEERS_ALL") == "" {
		inputs = sample(inputs, 40000)
	}
	for _, m := range matches {
		if !isPython(m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			var in bytes.Buffer
			for _, src := range inputs {
				in.WriteString(hex.EncodeToString(src) + "\n")
			}
			cmd := exec.Command(python, filepath.Join("testdata", "match", "peers.py"), m.name)
			cmd.Stdin, cmd.Stderr = &in, os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			n := matchNormalizer(t, m.name)
			var r Result
			differ := 0
			for i, want := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
				got := matchResult(n, &r, inputs[i])
				if got == want {
					continue
				}
				if differ++; differ <= 20 {
					t.Errorf("%q becomes %s, want %s", inputs[i], unhex(got), unhex(want))
				}
			}
			t.Logf("%d inputs, %d differences", len(inputs), differ)
		})
	}
}

// sample returns at most n of the inputs, at equal distances.
func sample(inputs [][]byte, n int) [][]byte {
	step := (len(inputs) + n - 1) / n
	out := inputs[:0:0]
	for i := 0; i < len(inputs); i += step {
		out = append(out, inputs[i])
	}
	return out
}

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		return s
	}
	return string(b)
}

// isPython reports whether peers.py can run the program of a profile.
func isPython(name string) bool {
	return name == "w3lib" || strings.HasPrefix(name, "urlcanon-") || name == "surt-ia" || name == "ssurt"
}

// matchInputs returns the vectors, mutations of them, and the URLs of the
// corpora, if there are any.
func matchInputs(t *testing.T) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "match", "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	var inputs [][]byte
	for _, s := range texts {
		inputs = append(inputs, matchText(s))
	}
	seeds := inputs
	rnd := rand.New(rand.NewPCG(7, 16))
	for range 20000 {
		inputs = append(inputs, mutated(rnd, seeds))
	}
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		return inputs
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		inputs = append(inputs, corpusURLs(t, path)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return inputs
}

// mutated returns a seed with a few bytes changed, or the start of one and the
// end of another.
func mutated(rnd *rand.Rand, seeds [][]byte) []byte {
	src := bytes.Clone(seeds[rnd.IntN(len(seeds))])
	if rnd.IntN(3) == 0 {
		other := seeds[rnd.IntN(len(seeds))]
		src = append(src[:rnd.IntN(len(src)+1)], other[rnd.IntN(len(other)+1):]...)
	}
	pieces := []string{"%", "/", "//", "\\", "?", "#", "&", "=", ";", ":", "@", "[", "]", ".", "..", "/../", "%2e", "%25", "%2f", "\xc3\xbc", "\xff", "\t", " ", "+", "0x7f", "www2.", "a", "A", "1", "xn--", ",", "%00", "|", "_"}
	for range rnd.IntN(4) {
		at := rnd.IntN(len(src) + 1)
		end := min(len(src), at+rnd.IntN(2))
		src = append(append(append([]byte(nil), src[:at]...), pieces[rnd.IntN(len(pieces))]...), src[end:]...)
	}
	return src
}

// corpusURLs returns the lines of a list, and the texts in a JSON file that look
// like URLs. It returns nothing for other files.
func corpusURLs(t *testing.T, path string) (urls [][]byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := filepath.Ext(path) == ".txt" && strings.Contains(path, "urls"+string(filepath.Separator))
	quoted := strings.HasPrefix(filepath.Ext(path), ".json")
	if !lines && !quoted {
		return nil
	}
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		if lines && len(scan.Bytes()) > 0 {
			urls = append(urls, bytes.Clone(scan.Bytes()))
		}
		for rest := scan.Text(); quoted; {
			_, after, ok := strings.Cut(rest, `"`)
			end := strings.IndexByte(after, '"')
			if !ok || end < 0 {
				break
			}
			if text := after[:end]; strings.Contains(text, ":") || strings.Contains(text, "/") {
				var plain string
				if json.Unmarshal([]byte(`"`+text+`"`), &plain) == nil {
					urls = append(urls, []byte(plain))
				}
			}
			rest = after[end+1:]
		}
	}
	return urls
}

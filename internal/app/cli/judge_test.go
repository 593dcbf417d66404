//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestCorporaVerdicts checks that check with and without --integrity and a rewrite agree on the verdict and the
// exit code of each file of the corpora.
func TestCorporaVerdicts(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: real files; set URLFOLD_CORPORA to the folder of the corpora")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
			checkVerdicts(t, path)
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
}

// TestDamagedVerdicts does the same with damaged files. URLFOLD_DAMAGED is their number.
func TestDamagedVerdicts(t *testing.T) {
	count, _ := strconv.Atoi(cmp.Or(os.Getenv("URLFOLD_DAMAGED"), "90"))
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(35, 6))
	samples := damageSamples(t)
	kinds := map[string]int{}
	for i := range count {
		s := samples[i%len(samples)]
		b := damaged(rng, s.text)
		path := filepath.Join(dir, fmt.Sprintf("%d%s", i, s.ext))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		kinds[checkVerdicts(t, path)]++
		_ = os.Remove(path)
	}
	t.Log(kinds)
	if kinds["ok"] > count*3/4 || len(kinds) < 4 {
		t.Errorf("the damage is too small to tell anything: %v", kinds)
	}
}

// TestDamageBeforeDetection checks that damage to a short file is reported, whatever format
// the readable part seems to have. A changed byte that changes no text is no damage.
func TestDamageBeforeDetection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(35, 1))
	for name, text := range shortLogs() {
		for _, p := range packers() {
			whole := p.pack(t, text)
			path := filepath.Join(dir, name+"."+p.ext)
			run := func(b []byte) (exit int, out string) {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return runCommand(t, "--quiet", path)
			}
			wantExit, want := run(whole)
			for i := range 20 {
				at := (len(whole)*i + rng.IntN(len(whole))) / 20
				flipped := bytes.Clone(whole)
				flipped[at] ^= 1 << rng.IntN(8)
				if exit, out := run(flipped); exit != command.ExitFailOn && (exit != wantExit || out != want) {
					t.Errorf("%s, byte %d flipped: exit code %d: %s", path, at, exit, out)
				}
				if exit, out := run(whole[:max(1, at)]); exit != command.ExitFailOn {
					t.Errorf("%s, cut at byte %d: exit code %d: %s", path, at, exit, out)
				}
			}
		}
	}
}

// shortLogs returns logs that lose their format if they are cut, and one that needs
// --url-field.
func shortLogs() map[string]string {
	logs := map[string]string{
		"caddy": "caddy  | {\"level\":\"info\",\"msg\":\"started\",\"origins\":[\"http://a.example\"]}\n",
		"w3c":   "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n",
		"table": "id,uri_path,note\n", "combined": "",
	}
	for i := range 40 {
		n := i * i * 7919
		logs["caddy"] += fmt.Sprintf("caddy  | {\"level\":\"info\",\"logger\":\"http.log.access\",\"request\":{\"method\":\"GET\",\"host\":\"h.example\",\"uri\":\"/%%7e%d\"},\"status\":200,\"size\":%d}\n", n, i)
		logs["w3c"] += fmt.Sprintf("2026-11-02 06:25:%02d GET /%%7e%d b=%d 200\n", i, n, i)
		logs["table"] += fmt.Sprintf("%d,/a%d,\"a \"\"note\"\"\"\n", i, n)
		logs["combined"] += fmt.Sprintf("192.0.2.%d - - [02/Nov/2026:06:25:%02d +0100] \"GET /%%7e%d HTTP/1.1\" 200 %d \"-\" \"agent\"\n", i, i, n, i)
	}
	return logs
}

// A damageSample is a file to damage.
type damageSample struct {
	ext  string
	text []byte
}

// damageSamples returns a file of each compression and of formats whose framing finds damage.
func damageSamples(t *testing.T) (list []damageSample) {
	t.Helper()
	var log, csv, archive bytes.Buffer
	csv.WriteString("id,url,note\n")
	for i := range 400 {
		fmt.Fprintf(&log, "192.0.2.%d - - [02/Nov/2026:06:25:00 +0100] \"GET /%%7ea?b=%d HTTP/1.1\" 200 %d\n", i%250, i*7919, i)
		fmt.Fprintf(&csv, "%d,http://h.example/%%7e%d,\"a \"\"note\"\", %d\"\n", i, i*7919, i)
		body := fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\npage %d", i)
		fmt.Fprintf(&archive, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/%%7e%d\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, len(body), body)
	}
	texts := []damageSample{{".log", log.Bytes()}, {".csv", csv.Bytes()}, {".warc", archive.Bytes()}}
	list = append(list, texts...)
	for _, f := range []struct {
		ext    string
		format compress.Format
	}{{".gz", compress.Gzip}, {".zst", compress.Zstd}} {
		pack, err := compress.NewPack(f.format, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range texts {
			half := bytes.LastIndexByte(s.text[:len(s.text)/2], '\n') + 1
			list = append(list, damageSample{s.ext + f.ext, pack(pack(nil, s.text[:half]), s.text[half:])})
		}
	}
	return list
}

// damaged returns a copy of b with a flipped bit, lost, doubled or zeroed bytes, a cut, a
// destroyed head or a tail.
func damaged(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	at := rng.IntN(len(b))
	end := min(len(b), at+[]int{1, 4, 100, 5000}[rng.IntN(4)])
	switch rng.IntN(7) {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		return b[:at]
	case 2:
		return append(b[:at:at], b[end:]...)
	case 3:
		return append(b[:end:end], b[at:]...)
	case 4:
		clear(b[at:end])
	case 5:
		for i := range min(len(b), 8) {
			b[i] = byte(rng.Uint32())
		}
	default:
		return append(b, bytes.Repeat([]byte{byte(rng.IntN(2))}, 12)...)
	}
	return b
}

// checkVerdicts checks that all commands have the same verdict on a file, which it returns,
// and end with the same exit code.
func checkVerdicts(t *testing.T, path string) string {
	t.Helper()
	exit, out := runCommand(t, "check", "--integrity", path)
	verified, _, _ := strings.Cut(strings.TrimPrefix(out, path+": "), " ")
	verified = strings.TrimSuffix(verified, ",")
	verifyExit := exit

	exit, out = runCommand(t, "check", "--to", "jsonl", path)
	var r diagnosis
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%s: %v: %s", path, err, out)
	}
	diagnosed := kindOf(&r)
	if diagnosed == "ok" && r.trailingNote() {
		diagnosed = compress.TrailingGarbage.String()
	}
	if r.Empty && verified == compress.TrailingGarbage.String() {
		diagnosed = verified // an empty file has no notes
	}
	unknown := r.Why != "" && !strings.HasPrefix(r.Why, "unsupported-")
	if diagnosed != verified || exit != verifyExit && !unknown {
		t.Errorf("%s: --integrity: %s, exit code %d; check: %s, exit code %d\n%s", path, verified, verifyExit, diagnosed, exit, out)
	}
	if unknown {
		return verified
	}
	report := filepath.Join(t.TempDir(), "report")
	args := []string{"--quiet", "--summary", report, "--force", "-o", filepath.Join(filepath.Dir(report), "out") + tableExt(&r)}
	if r.Command == "" {
		args = append(args, path)
	}
	for i, part := range strings.Split(r.Command, "'") { // in quotes if i is odd
		words := []string{part}
		if i%2 == 0 {
			words = strings.Fields(part)
		}
		for _, word := range words {
			if word != "urlfold" && word != "--output" && !strings.HasPrefix(word, "FILE.") {
				args = append(args, word)
			}
		}
	}
	exit, out = runCommand(t, args...)
	text, err := os.ReadFile(report)
	var read struct{ Files []reportFile }
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Files) != 1 || read.Files[0].Verdict.Kind != verified || exit != verifyExit {
		t.Errorf("%s: --integrity: %s, exit code %d; %v: exit code %d, %v, %v\n%s", path, verified, verifyExit, args, exit, err, read.Files, out)
	}
	return verified
}

// kindOf returns the kind of the verdict in a diagnosis.
func kindOf(r *diagnosis) string {
	text := r.Damage
	if strings.HasPrefix(r.Why, "unsupported-") {
		text = r.Why
	}
	kind, _, _ := strings.Cut(text, " ")
	return cmp.Or(kind, "ok")
}

// trailingNote reports whether a note says that padding follows the data.
func (r *diagnosis) trailingNote() bool {
	return strings.Contains(strings.Join(r.Notes, "\n"), "the file continues after its compressed data")
}

// tableExt returns the extension that the output needs if the file is a table.
func tableExt(r *diagnosis) string {
	for _, ext := range []string{parquetExt, avroExt} {
		if strings.HasSuffix(r.Command, "FILE"+ext) {
			return ext
		}
	}
	return ""
}

// runCommand runs a command in this process. It returns its exit code and what it has
// written to stdout.
func runCommand(t *testing.T, args ...string) (exit int, stdout string) {
	t.Helper()
	var out, stderr bytes.Buffer
	exit = RunEmbedded(t.Context(), testCatalog(t), args, strings.NewReader(""), &out, &stderr)
	if out.Len() == 0 {
		return exit, stderr.String()
	}
	return exit, out.String()
}

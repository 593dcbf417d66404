package cli

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestStrangeFolder runs commands on a folder of 300 files, 30 of which are no logs or broken
// ones, and compares what they say about these with a table. To accept a change, run it with
// -update.
func TestStrangeFolder(t *testing.T) {
	dir := t.TempDir()
	strange := strangeFolder(t, filepath.Join(dir, "logs"))
	var got strings.Builder
	for _, line := range []string{
		"check --integrity logs", "check logs", "-r urls -o refused.txt logs", "-r urls -o urls.txt --skip-unknown logs",
		"--output-dir clean --skip-unknown logs", "--dry-run --output-dir plan --skip-unknown logs",
		"--output-dir clean --resume --skip-unknown --fail-on none logs", "top --skip-unknown -o top.tsv logs", "count --skip-unknown -o count.tsv logs",
		"check --integrity logs/gone.log", "check logs/gone.log", "-r urls logs/gone.log", "-r urls logs/notes.txt", "-r urls logs/old.zip", "-r urls logs/cut.log.gz",
	} {
		cmd, stderr := program(t, strings.Fields(line)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		fmt.Fprintf(&got, "urlfold %s: exit code %d\n", line, code(t, err))
		got.WriteString(aboutStrange(string(out)+stderr.String(), strange))
	}
	const table = "testdata/folder.want"
	if *update {
		if err := os.WriteFile(table, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v: got\n%swant\n%s", err, &got, want)
	}
	if list, err := filepath.Glob(filepath.Join(dir, "clean", "day*.log")); err != nil || len(list) != 270 {
		t.Errorf("%d outputs of intact logs, %v", len(list), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "plan")); err == nil {
		t.Error("the dry run wrote something")
	}
}

// aboutStrange returns the first line about each strange file, with the line after it if
// that is all of the first, the number of records, and the last line about several files.
func aboutStrange(text string, strange []string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		bare := strings.TrimPrefix(strings.TrimSpace(line), "urlfold: ")
		name, rest, _ := strings.Cut(strings.TrimPrefix(bare, "logs/"), ":")
		for _, s := range strange {
			if name == s && rest == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") { // check writes the verdict into the next line
				rest = strings.Join(strings.Fields(lines[i+1]), " ")
			}
			if name == s {
				fmt.Fprintf(&b, "  %-14s %.90s\n", name, strings.TrimSpace(rest))
			}
		}
		if strings.HasPrefix(line, "urlfold: ") && name == bare || strings.HasPrefix(bare, "would write") && strings.Contains(bare, "day001") || strings.HasPrefix(bare, "finished before") || strings.HasPrefix(bare, "records ") && !strings.Contains(bare, "recognized") {
			head, _, _ := strings.Cut(strings.Join(strings.Fields(bare), " "), " of text")
			fmt.Fprintf(&b, "  > %s\n", strings.Join(strings.Fields(head), " "))
		}
	}
	return b.String()
}

// strangeFolder makes the folder, and returns the names of the strange files.
func strangeFolder(t *testing.T, dir string) (names []string) {
	t.Helper()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := bytes.Repeat([]byte("192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] \"GET /%7ea HTTP/1.1\" 200 5\n"), 20)
	for i := range 270 {
		write(fmt.Sprintf("day%03d.log", i), log)
	}
	gzip, err := compress.NewPack(compress.Gzip, 0)
	if err != nil {
		t.Fatal(err)
	}
	zstd, err := compress.NewPack(compress.Zstd, 0)
	if err != nil {
		t.Fatal(err)
	}
	var tape bytes.Buffer
	w := tar.NewWriter(&tape)
	if err := w.WriteHeader(&tar.Header{Name: "a.log", Mode: 0o600, Size: int64(len(log))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(log); err != nil {
		t.Fatal(err)
	}
	core := append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00>\x00"), make([]byte, 8000)...)
	note := []byte("Remember to buy\nmilk and bread.\n")
	packed, noted := gzip(nil, log), gzip(nil, note)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 1
	for _, f := range []struct {
		name string
		text []byte
	}{
		{"core.1", core}, {"core.2", core[:4096]}, {"core.gz", gzip(nil, core)},
		{"notes.txt", note}, {"README.md", []byte("# Logs\n\nOne for each day.\n")}, {"todo", []byte("x\n")}, {"notes.gz", noted},
		{"old.tar", tape.Bytes()}, {"old.tar.gz", gzip(nil, tape.Bytes())}, {"old.zip", []byte("PK\x03\x04rest")}, {"old.7z", []byte("7z\xbc\xaf\x27\x1crest")},
		{"empty.log", nil}, {"empty.gz", nil}, {"empty", nil},
		{"text.gz", log}, {"gzip.log", packed}, {"zstd.txt", zstd(nil, log)}, {"note.zst", note},
		{"cut.log.gz", packed[:len(packed)-9]}, {"head.log.gz", append([]byte("\x00\x01\x02\x03"), packed[4:]...)}, {"crc.log.gz", flipped},
		{"padded.log.gz", append(bytes.Clone(packed), make([]byte, 512)...)}, {"notes-cut.gz", noted[:len(noted)-9]},
		{"utf16.log", []byte("\xff\xfeG\x00E\x00T\x00\n\x00")}, {"image.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00")}, {"zeros.log", make([]byte, 4096)},
	} {
		write(f.name, f.text)
		names = append(names, f.name)
	}
	for name, to := range map[string]string{"gone.log": "nowhere", "gone.gz": "day999.log.gz", "loop": "loop", "unreadable.log": "/proc/self/mem"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

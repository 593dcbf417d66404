//go:build unix

package cli

import (
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withPackage returns the Python interpreter, or skips the test if it lacks a
// package.
func withPackage(t *testing.T, name string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import "+name).Run() != nil {
		t.Skipf("skipped: reading our output in Python; install the package: python3 -m pip install %s", name)
	}
	return python
}

// listRecords prints the type and the URL of each record of an archive.
const listRecords = `
import sys
from warcio.archiveiterator import ArchiveIterator
with open(sys.argv[1], 'rb') as f:
    records = ArchiveIterator(f)
    for r in records:
        r.raw_stream.read()
        print(r.rec_type, r.rec_headers.get_header('WARC-Target-URI') or r.rec_headers.get_header('uri'))
    sys.exit(records.err_count)
`

// TestWarcio checks that warcio reads the archives that urlfold writes, plain
// and compressed, with a member for each record, and that it finds the URLs
// that urlfold finds.
func TestWarcio(t *testing.T) {
	python := withPackage(t, "warcio")
	files, err := filepath.Glob("../../../internal/record/testdata/*/*.*arc")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) == "v2.arc" {
				t.Skip("skipped: warcio does not read version 2 of the format")
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in"), string(text))
			urls := runIn(t, dir, "-r", "urls", "in")
			for _, out := range []string{"out", "out.gz"} {
				runIn(t, dir, "-o", out, "in")
				list, err := exec.Command(python, "-c", listRecords, filepath.Join(dir, out)).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", out, err, list)
				}
				var got []string
				for line := range strings.Lines(string(list)) {
					if kind, url, _ := strings.Cut(strings.TrimSpace(line), " "); kind != "warcinfo" && kind != "arc_header" {
						url, _, _ = strings.Cut(url, " ") // if the type has a space, warcio adds the address
						got = append(got, url+"\n")
					}
				}
				if strings.Join(got, "") != urls {
					t.Errorf("%s: warcio finds\n%q\nurlfold\n%q", out, got, urls)
				}
			}
		})
	}
}

// runIn runs urlfold in dir and returns what it writes.
func runIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd, stderr := program(t, append([]string{"--quiet"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr)
	}
	return string(out)
}

// TestARCMembers checks that each record of an ARC file has a gzip member, also
// where more than one line end follows a record.
func TestARCMembers(t *testing.T) {
	text, err := os.ReadFile("../../../internal/record/testdata/arc/ia-1.0.arc")
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Replace(string(text), "\n\nHTTP:", "\n\n\r\n\nHTTP:", 1)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "in.arc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	zw := gzip.NewWriter(f)
	if _, err := zw.Write([]byte(in)); err != nil || zw.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "in.arc.gz", "-o", "out.arc.gz")
	members := gzipMembers(t, filepath.Join(dir, "out.arc.gz"))
	if len(members) != 8 || !strings.HasSuffix(members[0], "\n\n\r\n\n") {
		t.Errorf("%d members: %q", len(members), members)
	}
	if want := runIn(t, dir, "in.arc.gz"); strings.Join(members, "") != want {
		t.Errorf("the members hold\n%q, want\n%q", members, want)
	}
}

//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// archive returns WARC records whose URIs are as they come in, and in normal form. One
// of them is longer than 64 KiB and passes through unread.
func archive() (in, normal []string) {
	record := func(uri string, block []byte) string {
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", uri, len(block), block)
	}
	for i := range 60 {
		block := bytes.Repeat([]byte{byte(i), '\r', '\n', '\r', '\n', 'W'}, 100*i)
		if i == 20 {
			block = bytes.Repeat([]byte("long\r\n"), 50_000)
			in = append(in, record("HTTP://Example.com/long", block))
			normal = append(normal, in[i])
			continue
		}
		in = append(in, record(fmt.Sprint("HTTP://Example.com/%7e", i), block))
		normal = append(normal, record(fmt.Sprint("http://example.com/~", i), block))
	}
	return in, normal
}

// gzipMembers returns what the members of a gzip file hold.
func gzipMembers(t *testing.T, name string) (members []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	src := bytes.NewReader(data)
	zr := new(gzip.Reader)
	for src.Len() > 0 {
		if err := zr.Reset(src); err != nil {
			t.Fatal(err)
		}
		zr.Multistream(false)
		text, err := io.ReadAll(zr)
		if err != nil {
			t.Fatalf("%s, member %d: %v", name, len(members), err)
		}
		members = append(members, string(text))
	}
	return members
}

// TestWARCMembers: an archive that is written compressed has a member for each record,
// also for one that travels in pieces.
func TestWARCMembers(t *testing.T) {
	in, want := archive()
	dir := t.TempDir()
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	if _, err := io.WriteString(zw, strings.Join(in, "")); err != nil || zw.Close() != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "in.warc.gz"), packed.String())
	f := func(out string, args ...string) {
		t.Helper()
		cmd, stderr := program(t, append(args, "--max-record", "64KiB", "in.warc.gz")...)
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr)
		}
		got := gzipMembers(t, filepath.Join(dir, out))
		if len(got) != len(want) {
			t.Fatalf("%v: %d members for %d records", args, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v: member %d is %.200q, want %.200q", args, i, got[i], want[i])
			}
		}
	}
	f("out.warc.gz", "-o", "out.warc.gz")
	f("one.warc.gz", "-o", "one.warc.gz", "--workers", "1")
	f("dir/in.warc.gz", "--output-dir", "dir")

	// Without an order the pieces of a record would come apart.
	cmd, stderr := program(t, "--order", "none", "-o", "no.warc", "in.warc.gz")
	if cmd.Dir = dir; code(t, cmd.Run()) != command.ExitUsage || !strings.Contains(stderr.String(), "--order") {
		t.Errorf("--order: %s", stderr)
	}
}

// TestWARCRun: a daemon writes each record as a separate member, and so each
// piece of a long record. An archive that ends within a record is damaged.
func TestWARCRun(t *testing.T) {
	in, want := archive()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.warc"), strings.Join(in, ""))
	write(t, filepath.Join(dir, "c.yaml"), `version: 1
data_dir: state
sources:
  - file: {from: warc, name: in, include: ["in.warc"], mode: batch}
codec: {profile: equiv, max_record: 64KiB}
sinks:
  - file: {name: out, path: out.warc.gz}

`)
	cmd, stderr := program(t, "run", "-c", "c.yaml")
	cmd.Dir = dir
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	got := gzipMembers(t, filepath.Join(dir, "out.warc.gz"))
	if strings.Join(got, "") != strings.Join(want, "") || len(got) < len(want) || got[19] != want[19] || got[len(got)-1] != want[len(want)-1] {
		t.Errorf("%d members for %d records, with other text or elsewhere", len(got), len(want))
	}

	write(t, filepath.Join(dir, "cut.warc"), strings.Join(in[:3], "")+in[3][:200])
	cmd, stderr = program(t, "cut.warc", "-o", "cut.out", "--fail-on", "damage")
	cmd.Dir = dir
	if exit := code(t, cmd.Run()); exit != command.ExitFailOn || !strings.Contains(stderr.String(), fmt.Sprintf("begins at byte %d of the text", len(strings.Join(in[:3], "")))) {
		t.Errorf("exit code %d\n%s", exit, stderr)
	}
}

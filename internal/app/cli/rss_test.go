//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
)

// A meteredInput is the standard input of a process, whose peak memory it reads from time
// to time.
type meteredInput struct {
	r       io.Reader
	cmd     *exec.Cmd
	n, next int64
	peak    int64 // in bytes
}

func (m *meteredInput) Read(p []byte) (n int, err error) {
	n, err = m.r.Read(p)
	if m.n += int64(n); m.n < m.next && err == nil {
		return n, nil
	}
	m.next += 2 << 20
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
		kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		peak, _ := strconv.ParseInt(kib, 10, 64)
		m.peak = max(m.peak, peak<<10)
	}
	return n, err
}

// TestResidentMemory pipes 64 MiB without the end of a record into each format, and
// then many records. The limit is --max-record, because one worker keeps no more of
// its input than that and a few batches, and 64 MiB for the program itself and its
// batches, which need 44 to 54 MiB. A program that keeps its input needs 64 MiB more.
// Pieces of mail have up to 512 KiB, so each batch has as much.
func TestResidentMemory(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("skipped: pipes 6 GiB through the program, and needs the peak memory of Linux; run on Linux without -short")
	}
	const size, maxRecord = 64 << 20, 1 << 20
	limit := func(format string) int64 {
		if format == "mail" {
			return maxRecord + 112<<20
		}
		return maxRecord + 64<<20
	}
	run := func(name, head, shape string, args ...string) {
		t.Helper()
		cmd, stderr := program(t, append(args, "-j", "1", "--max-record", "1MiB", "--progress", "never")...)
		in := &meteredInput{
			r:   io.MultiReader(strings.NewReader(head), io.LimitReader(repeater(strings.Repeat(shape, maxRecord/len(shape))), size)),
			cmd: cmd,
		}
		cmd.Stdin = in
		if got := code(t, cmd.Run()); got != command.ExitDone && got != command.ExitFailOn {
			t.Errorf("%s, %.10q…: exit code %d: %s", name, shape, got, stderr)
		}
		if in.peak == 0 || in.peak > limit(name) {
			t.Errorf("%s, %.10q…: it took %s", name, shape, terminal.FormatSize(in.peak))
		}
	}
	field := map[string]string{"jsonl": "url", "json": "url", "logfmt": "url", "journal-export": "URL", "msgpack": "url", "protobuf": "1", "avro": "url"}
	heads := map[string]string{
		"csv": "url,x\n", "csv-semicolon": "url;x\n", "csv-pipe": "url|x\n", "tsv": "url\tx\n",
		"w3c": "#Fields: date time cs-uri-stem\n", "zeek": "#separator \\x09\n#fields\thost\turi\n", "cdx": " CDX N b a m s k r M S V g\n",
		"avro": "Obj\x01\x02\x16avro.schema\x8c\x01" + `{"type":"record","name":"r","fields":[{"name":"url","type":"string"}]}` + "\x00" + strings.Repeat("s", 16) + "\x02\x80\x80\x80\x40", // a block of 64 MiB
	}
	for _, format := range record.Formats() {
		args := []string{"-f", format, "-r", "urls"}
		switch {
		case field[format] != "":
			args = append(args, "--url-field", field[format])
		case strings.HasPrefix(heads[format], "url"):
			args = append(args, "--url-field", "url")
		}
		shapes := []string{`"`, "{"}
		if slices.Contains([]string{"msgpack", "protobuf", "avro"}, format) { // where each of these bytes is a record
			shapes = []string{"\x81", "\xdb\xff", "\xff\xff\xff\x07"}
		}
		for _, shape := range shapes {
			run(format, heads[format], shape, args...)
		}
	}
	line := "http://h/%7e/" + strings.Repeat("x", 100) + "\n"
	run("lines", "", line, "-f", "lines")
	run("lines", "", line, "-f", "lines", "-r", "jsonl", "--fields", "url,norm,key")
	run("jsonl", "", `{"url":"`+line[:len(line)-1]+"\"}\n", "-f", "jsonl", "--url-field", "url")
}

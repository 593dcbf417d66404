package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// twoFormats is a log of nginx and a stream of JSON, read into one file. {dir} is a
// folder, and {server} the URL of the server.
const (
	logSource    = "  - file: {from: combined, base: \"https://log.example/\", include: [\"{dir}/*.log\"], mode: batch, rotate_wait: 0s}\n"
	streamSource = "  - jetstream: {from: jsonl, url_field: request.url, map: {status: response.code}, servers: [\"{server}\"], stream: IN, durable: \"{durable}\"}\n"
	twoFormats   = "version: 1\ndata_dir: \"{data}\"\nadmin: {listen: \"\"}\nwhere: status < 500\ncodec: {to: {jsonl: {fields: [norm, status, agent]}}}\non_error: {rejected: drop}\n" +
		"sinks:\n  - file: {path: \"{out}\"}\nsources:\n"
)

// TestTwoFormats: two sources with different formats write into one sink what each of
// them writes alone. The condition reads a field that each source has in its own way.
func TestTwoFormats(t *testing.T) {
	srv, dir := natstest.Start(t, nil), t.TempDir()
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "IN", Subjects: []string{"in"}}); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, "192.0.2.1 - - [02/Nov/2026:05:00:00 +0100] \"GET /%%7e%d HTTP/1.1\" %d 1 \"-\" \"curl\"\n", i, 200+i%4*100)
		text := fmt.Sprintf(`{"request":{"url":"HTTP://JSON.example:80/%%7e%d"},"response":{"code":%d}}`, i, 200+i%4*100)
		if _, err := js.Publish(t.Context(), "in", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "access.log"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name, sources string) []string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out.jsonl")
		text := strings.NewReplacer("{dir}", dir, "{server}", srv.URL(), "{durable}", name, "{data}", t.TempDir(), "{out}", out).Replace(twoFormats + sources)
		f, err := loadText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := testCatalog(t).New(f, Options{UntilEOF: true, Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return linesOf(t, out)
	}
	ofLog, ofStream, both := run("a", logSource), run("b", streamSource), run("c", logSource+streamSource)
	if want := slices.Sorted(slices.Values(slices.Concat(ofLog, ofStream))); len(ofLog) != 225 || len(ofStream) != 225 || !slices.Equal(both, want) {
		t.Errorf("%d lines of the log, %d of the stream, %d of both, of which these differ: %q", len(ofLog), len(ofStream), len(both), both[:min(3, len(both))])
	}
	for _, want := range []string{`{"norm":"https://log.example/~0","status":200,"agent":"curl"}`, `{"norm":"http://json.example/~1","status":300}`} {
		if !slices.Contains(both, want) {
			t.Errorf("no %s among %q", want, both[:min(3, len(both))])
		}
	}
}

// linesOf returns the sorted lines of a file.
func linesOf(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n"))
}

// TestFormatsRefused: what cannot work with several formats is an error at its line. The
// name of the folder, which a path includes, is no pattern.
func TestFormatsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `[a]*`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	const table = "  - file: {from: csv, url_field: url, include: [a.csv]}\n"
	const lines = "  - stdin: {from: lines}\n"
	const log = "  - file: {from: combined, include: [\"a/*.log\"]}\n"
	const avro = "  - kafka: {from: avro, url_field: u, brokers: [\"h:1\"], topics: [t], group: g}\n"
	const pack = "  - kafka: {from: msgpack, url_field: u, brokers: [\"h:1\"], topics: [u], group: g}\n"
	const drop = "on_error: {rejected: drop}\n"
	const out, messages = "sinks:\n  - stdout: {}\n", "sinks:\n  - nats: {servers: [\"nats://h:1\"], subject: s}\n"
	for _, c := range []struct{ text, want string }{
		{log + lines + out, ""},
		{table + drop + out, ""},
		{strings.Replace(table, "a.csv", "'*.csv'", 1) + drop + out, "c.yaml:2:18: from: copies"},
		{table + lines + drop + out, "c.yaml:3:19: from: records of this format and records of the source file-1 cannot be copied into one output, as in the sink stdout-sink-1: set codec.to"},
		{table + lines + "codec: {to: jsonl}\n" + drop + out, ""},
		{strings.Replace(table, "a.csv", "a.csv, b.csv", 1) + drop + out, "c.yaml:2:18: from: copies of these records must be below the header of their file, but the sink stdout-sink-1 mixes or divides files"},
		{strings.Replace(table, "a.csv", "a.csv, b.csv", 1) + "codec: {to: jsonl}\n" + drop + out, ""},
		{table + drop + "sinks:\n  - file: {path: \"{source.relpath}.{seq}\", rotate: {records: 9}}\n", "c.yaml:2:18: from: copies"},
		{table + drop + "sinks:\n  - file: {path: \"{time:%d}.csv\"}\n", "c.yaml:2:18: from: copies"},
		{log + drop + "sinks:\n  - file: {path: \"{time:%d}.log\"}\n", ""},
		{table + lines + drop + messages, ""},
		{table + lines + drop + "sinks:\n  - file: {path: \"{source.name}.txt\"}\n", ""},
		{avro + pack + "codec: {registry: {url: \"http://h\"}}\n" + messages, ""},
		{log + lines + "where: status == 200\n" + out, ""},
		{table + lines + "codec: {to: jsonl}\nwhere: request_id == \"a\"\n" + drop + out, ""}, // the table may have a column request_id
		{lines + "  - file: {from: clf, include: [a]}\nwhere: request_id == \"a\"\n" + out, "c.yaml:4:8: where: column 1: records of the format lines, and of the format clf never have the field request_id"},
		{log + lines + "codec: {registry: {url: \"http://h\"}}\n" + out, "the schema registry applies only to the format avro"},
		{avro + lines + out, "c.yaml: codec.registry: missing"},
		{lines + "  - file: {from: liness, include: [a]}\n" + out, "c.yaml:3:18: from: unknown format"},
	} {
		_, err := loadText(t, "sources:\n"+c.text)
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") > 0) {
			t.Errorf("%s%v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestShapeRefused: where records of another shape could reach an output, the
// configuration is an error until the policy keeps them out.
func TestShapeRefused(t *testing.T) {
	const jsonl, log = "sources:\n  - stdin: {from: jsonl, url_field: u}\n", "sources:\n  - stdin: {from: combined}\n"
	const dead, out = "dead_letter:\n  file: {path: dead.jsonl}\n", "sinks:\n  - stdout: {}\n"
	for _, c := range []struct{ text, want string }{
		{jsonl, "c.yaml:2:19: from: the output could hold text that is not jsonl: set on_error.unparsed and on_error.oversize to dead-letter (with a dead_letter section) or drop"},
		{jsonl + "on_error: {unparsed: pass-through}\n", "c.yaml:3:22: unparsed: the output could"},
		{jsonl + "on_error: {unparsed: drop, oversize: truncate}\n", "c.yaml:3:38: oversize: the output could hold text that is not jsonl: set on_error.oversize to"},
		{jsonl + "codec: {to: {extend: {n: norm}}}\non_error: {unparsed: drop}\n", "set on_error.oversize to"},
		{jsonl + "codec: {to: jsonl}\non_error: {unparsed: drop, oversize: stop}\n", "c.yaml:3:13: to: the output could hold objects with only an error instead of the fields: set on_error.rejected to"},
		{log + "codec: {to: jsonl}\n" + dead + "on_error: {rejected: pass-through}\n", "c.yaml:6:22: rejected: the output could hold objects with only an error instead of the fields: set on_error.unparsed and on_error.rejected to"},
		{jsonl + "on_error: {unparsed: drop, oversize: stop}\n", ""},
		{jsonl + "on_error: {rejected: drop}\n", ""},
		{jsonl + dead, ""},
		{jsonl + dead + "on_error: {unparsed: drop, rejected: pass-through}\n", ""}, // a rejected record is copied, and it is JSON
		{jsonl + "codec: {to: csv}\n", ""},                                          // a rejected record becomes a row with an error, or no row
		{log, ""},
		{log + "codec: {to: {jsonl: {fields: [norm]}}}\n" + dead, ""},
	} {
		_, err := loadText(t, c.text+out)
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") > 0) {
			t.Errorf("%s%v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestReloadFormat: a reload that changes the format of a source reads the next records
// as the new format says.
func TestReloadFormat(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(in, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	load := func(field string) (*config.File, error) {
		return loadText(t, fmt.Sprintf("data_dir: %q\nadmin: {listen: \"\"}\nsources:\n  - file: {from: jsonl, url_field: %s, include: [%q], poll_interval: 10ms}\ncodec: {to: urls}\nsinks:\n  - file: {path: %q, sync_interval: 10ms}\n",
			filepath.Join(dir, "data"), field, in, out))
	}
	f, err := load("a")
	if err != nil {
		t.Fatal(err)
	}
	d, err := testCatalog(t).New(f, Options{Load: func() (*config.File, error) { return load("b") }, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	has := func(line string) func() bool {
		return func() bool {
			data, _ := os.ReadFile(out)
			return strings.Contains(string(data), line)
		}
	}
	const record = `{"a":"http://a.example/%d","b":"http://b.example/%[1]d"}` + "\n"
	write(fmt.Sprintf(record, 1))
	until(t, "the first format", has("http://a.example/1\n"))
	d.Reload()
	until(t, "the reload", func() bool { p := d.current(); return p != nil && p.file.Sources[0].Format.URLField == "b" })
	write(fmt.Sprintf(record, 2))
	until(t, "the second format", has("http://b.example/2\n"))
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, out); !slices.Equal(got, []string{"http://a.example/1", "http://b.example/2"}) {
		t.Errorf("%q", got)
	}
}
